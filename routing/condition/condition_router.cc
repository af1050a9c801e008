#include "fairlead/routing/condition/condition_router.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/condition/condition_matcher.h"
#include "fairlead/routing/condition/selected_providers.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/redact.h"

namespace fairlead {

struct ConditionRouter::Program {
  Program(ConditionRule given, ConditionOptions chosen)
      : rule(std::move(given)), options(std::move(chosen)), call(rule.when, rule.compat) {}

  const ConditionRule rule;
  const ConditionOptions options;
  const CallMatcher call;
};

class ConditionRouter::Table final : public RouteTable {
 public:
  static constexpr RouteCase kPasses = 0, kApplies = 1;

  Table(std::shared_ptr<const Program> program, const RouteInput& input, const Table* previous)
      : program_(std::move(program)),
        call_(program_->options.enabled && program_->call.MatchesConsumer(input.consumer.parts()) ? &program_->call
                                                                                                   : nullptr) {
    if (call_ == nullptr || !program_->rule.then) return;
    const bool same_rule = previous != nullptr && previous->program_ == program_;
    selected_ = internal::SelectedProviders::Of(*program_->rule.then, program_->rule.compat, input,
                                                same_rule ? &previous->selected_ : nullptr);
  }

  std::uint32_t cases() const override { return call_ != nullptr ? 2 : 1; }

  RouteCase Classify(const RouteCall& call) const override {
    return call_ != nullptr && call_->MatchesCall(call) ? kApplies : kPasses;
  }

  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const override {
    if (which == kPasses || in.empty()) return out.KeepAll();
    if (!program_->rule.then) return out.Block("it allows no provider");
    if (out.KeepIfAny(selected_.mask)) return;
    if (!program_->options.force) {
      out.Note("no provider satisfies it, so all stay");
      return out.KeepAll();
    }
    out.Block([&] {
      return absl::StrCat("force=true and none of ", in.count(), in.count() == 1 ? " provider" : " providers",
                          " satisfies it");
    });
  }

  std::string Describe(RouteCase which) const override {
    return absl::StrCat("\"", Redacted(program_->rule.text), "\"",
                        internal::EffectOfRule(program_->options.enabled, call_ != nullptr, which == kApplies,
                                               program_->options.force));
  }

 private:
  const std::shared_ptr<const Program> program_;
  const CallMatcher* const call_;                     // nullptr: what the rule says of the consumer's url does not hold
  internal::SelectedProviders selected_;
};

ConditionRouter::ConditionRouter(ConditionRule rule, ConditionOptions options)
    : program_(std::make_shared<const Program>(std::move(rule), std::move(options))) {}

ConditionRouter::~ConditionRouter() = default;

std::string_view ConditionRouter::name() const { return program_->options.name; }

int ConditionRouter::order() const { return program_->options.order; }

Reads ConditionRouter::reads() const {
  return program_->options.enabled ? program_->call.reads() : Reads::kConsumer;
}

std::shared_ptr<const RouteTable> ConditionRouter::Compile(const RouteInput& input,
                                                           const RouteTable* previous) const {
  return std::make_shared<const Table>(program_, input, static_cast<const Table*>(previous));
}

namespace {

class ConditionRouterFactory final : public RouterFactory {
 public:
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url& url, Compat compat) override {
    ConditionOptions options;
    options.force = url.BoolParam(names::kForce, options.force);
    options.enabled = url.BoolParam(names::kEnabled, options.enabled);
    options.order = router_order::UrlRule(url.IntParam(names::kPriority, 0));
    ConditionRule rule{std::string(url.Param(names::kRule)), {}, Conditions(), compat};
    if (options.enabled) {
      FAIRLEAD_ASSIGN_OR_RETURN(const std::string text, PercentDecode(rule.text));
      FAIRLEAD_ASSIGN_OR_RETURN(rule, ParseConditionRule(text, compat));
    }
    return std::make_shared<const ConditionRouter>(std::move(rule), std::move(options));
  }
};

}  // namespace

std::shared_ptr<RouterFactory> MakeConditionRouterFactory() {
  return std::make_shared<ConditionRouterFactory>();
}

}  // namespace fairlead
