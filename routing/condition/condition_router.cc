#include "fairlead/routing/condition/condition_router.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/condition/condition_matcher.h"
#include "fairlead/routing/mask.h"
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
    const Conditions& then = *program_->rule.then;
    const UrlParts& consumer = input.consumer.parts();
    const bool same_rule =
        previous != nullptr && previous->program_ == program_ && previous->providers_ != nullptr;
    const bool same_matcher =
        same_rule && previous->providers_->references() == ProviderMatcher::References(then, consumer);
    providers_ = same_matcher
                     ? previous->providers_
                     : std::make_shared<const ProviderMatcher>(then, consumer, program_->rule.compat);
    mask_ = BuildMask(input, same_matcher ? &previous->mask_ : nullptr, [this](const Provider& provider) {
      return providers_->Matches(provider.original.parts());
    });
  }

  std::uint32_t cases() const override { return call_ != nullptr ? 2 : 1; }

  RouteCase Classify(const RouteCall& call) const override {
    return call_ != nullptr && call_->MatchesCall(call) ? kApplies : kPasses;
  }

  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const override {
    if (which == kPasses || in.empty()) return out.KeepAll();
    if (!program_->rule.then) return out.Block("it allows no provider");
    if (out.KeepIfAny(mask_)) return;
    if (!program_->options.force) {
      out.Note("no provider satisfies it, so all stay");
      return out.KeepAll();
    }
    out.Block(absl::StrCat("force=true and none of ", in.count(),
                           in.count() == 1 ? " provider" : " providers", " satisfies it"));
  }

  std::string Describe(RouteCase which) const override {
    const char* what = !program_->options.enabled ? " is disabled"
                       : call_ == nullptr         ? " does not apply to this consumer"
                       : which == kPasses         ? " does not apply to this call"
                       : program_->options.force  ? " applies, force=true"
                                                  : " applies, force=false";
    return absl::StrCat("\"", Redacted(program_->rule.text), "\"", what);
  }

 private:
  const std::shared_ptr<const Program> program_;
  const CallMatcher* const call_;                     // nullptr: what the rule says of the consumer's url does not hold
  std::shared_ptr<const ProviderMatcher> providers_;  // nullptr when the mask is not needed
  InvokerSet mask_;
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
