#include "fairlead/routing/condition/destinations_router.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/condition/condition_matcher.h"
#include "fairlead/routing/condition/selected_providers.h"
#include "fairlead/routing/weighted_draw.h"
#include "fairlead/url/redact.h"

namespace fairlead {

struct DestinationsRouter::Program {
  Program(DestinationsRule given, ConditionOptions chosen)
      : rule(std::move(given)), options(std::move(chosen)), call(rule.from, rule.compat) {}

  const DestinationsRule rule;
  const ConditionOptions options;
  const CallMatcher call;
};

class DestinationsRouter::Table final : public RouteTable {
 public:
  static constexpr RouteCase kPasses = 0, kApplies = 1;

  Table(std::shared_ptr<const Program> program, const RouteInput& input, const Table* previous)
      : program_(std::move(program)),
        call_(program_->options.enabled && program_->call.MatchesConsumer(input.consumer.parts()) ? &program_->call
                                                                                                   : nullptr) {
    if (call_ == nullptr) return;
    const bool same_rule = previous != nullptr && previous->program_ == program_ && previous->call_ != nullptr;
    for (std::size_t i = 0; i < program_->rule.to.size(); ++i) {
      const Conditions& match = program_->rule.to[i].match;
      targets_.push_back(match.empty() ? internal::SelectedProviders()
                                       : internal::SelectedProviders::Of(match, program_->rule.compat, input,
                                                                         same_rule ? &previous->targets_[i] : nullptr));
    }
  }

  std::uint32_t cases() const override { return call_ != nullptr ? 2 : 1; }

  RouteCase Classify(const RouteCall& call) const override {
    return call_ != nullptr && call_->MatchesCall(call) ? kApplies : kPasses;
  }

  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const override {
    if (which == kPasses || in.empty()) return out.KeepAll();
    if (targets_.empty()) return out.Block("it has no destination");
    const auto has_anybody = [&](const internal::SelectedProviders& target) {
      return target.matcher == nullptr || in.Intersects(target.mask);
    };
    std::size_t last = targets_.size();
    while (last > 0 && !has_anybody(targets_[last - 1])) --last;
    for (std::size_t i = 0; i < last; ++i) {
      const internal::SelectedProviders& target = targets_[i];
      if (!has_anybody(target)) continue;
      const std::uint32_t weight =
          internal::WeightInDraw(program_->rule.to[i].weight, out.count() == 0, i + 1 == last, program_->rule.compat);
      if (weight > 0) out.Add(weight, target.matcher == nullptr ? in : target.mask);
    }
    if (out.count() > 0) return;
    if (!program_->options.force) {
      out.Note("no provider is in a destination, so all stay");
      return out.KeepAll();
    }
    out.Block([&] {
      return absl::StrCat("force=true and none of ", in.count(), in.count() == 1 ? " provider" : " providers",
                          " is in a destination");
    });
  }

  std::string Describe(RouteCase which) const override {
    return absl::StrCat("from \"", Redacted(program_->rule.from_text), "\" to ", program_->rule.to.size(),
                        program_->rule.to.size() == 1 ? " destination" : " destinations",
                        internal::EffectOfRule(program_->options.enabled, call_ != nullptr, which == kApplies,
                                               program_->options.force));
  }

 private:
  const std::shared_ptr<const Program> program_;
  const CallMatcher* const call_;  // nullptr: what the rule says of the consumer's url does not hold
  std::vector<internal::SelectedProviders> targets_;  // by destination; without a matcher: everybody
};

DestinationsRouter::DestinationsRouter(DestinationsRule rule, ConditionOptions options)
    : program_(std::make_shared<const Program>(std::move(rule), std::move(options))) {}

DestinationsRouter::~DestinationsRouter() = default;

std::string_view DestinationsRouter::name() const { return program_->options.name; }

int DestinationsRouter::order() const { return program_->options.order; }

Reads DestinationsRouter::reads() const {
  return program_->options.enabled ? program_->call.reads() : Reads::kConsumer;
}

std::shared_ptr<const RouteTable> DestinationsRouter::Compile(const RouteInput& input,
                                                              const RouteTable* previous) const {
  return std::make_shared<const Table>(program_, input, static_cast<const Table*>(previous));
}

}  // namespace fairlead
