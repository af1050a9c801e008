#include "fairlead/routing/condition/destinations_router.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/condition/condition_matcher.h"
#include "fairlead/routing/mask.h"
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
    const UrlParts& consumer = input.consumer.parts();
    const bool same_rule = previous != nullptr && previous->program_ == program_ && previous->call_ != nullptr;
    for (std::size_t i = 0; i < program_->rule.to.size(); ++i) {
      const Conditions& match = program_->rule.to[i].match;
      const Target* before = same_rule ? &previous->targets_[i] : nullptr;
      Target target;
      if (match.empty()) {
        target.everybody = true;
      } else {
        const bool same_matcher =
            before != nullptr && before->providers->references() == ProviderMatcher::References(match, consumer);
        target.providers = same_matcher ? before->providers
                                        : std::make_shared<const ProviderMatcher>(match, consumer, program_->rule.compat);
        target.mask = BuildMask(input, same_matcher ? &before->mask : nullptr, [&](const Provider& provider) {
          return target.providers->Matches(provider.original.parts());
        });
      }
      targets_.push_back(std::move(target));
    }
  }

  std::uint32_t cases() const override { return call_ != nullptr ? 2 : 1; }

  RouteCase Classify(const RouteCall& call) const override {
    return call_ != nullptr && call_->MatchesCall(call) ? kApplies : kPasses;
  }

  void Route(RouteCase which, const InvokerSet& in, Outcomes& out) const override {
    if (which == kPasses || in.empty()) return out.KeepAll();
    if (targets_.empty()) return out.Block("it has no destination");
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Target& target = targets_[i];
      const std::uint32_t weight = program_->rule.to[i].weight;
      if (target.everybody) {
        out.Add(weight, in);
      } else if (in.Intersects(target.mask)) {
        out.Add(weight, target.mask);
      }
    }
    if (out.count() > 0) return;
    if (!program_->options.force) {
      out.Note("no provider is in a destination, so all stay");
      return out.KeepAll();
    }
    out.Block(absl::StrCat("force=true and none of ", in.count(), in.count() == 1 ? " provider" : " providers",
                           " is in a destination"));
  }

  std::string Describe(RouteCase which) const override {
    const char* what = !program_->options.enabled ? " is disabled"
                       : call_ == nullptr         ? " does not apply to this consumer"
                       : which == kPasses         ? " does not apply to this call"
                       : program_->options.force  ? " applies, force=true"
                                                  : " applies, force=false";
    return absl::StrCat("from \"", Redacted(program_->rule.from_text), "\" to ", program_->rule.to.size(),
                        program_->rule.to.size() == 1 ? " destination" : " destinations", what);
  }

 private:
  struct Target {
    bool everybody = false;
    std::shared_ptr<const ProviderMatcher> providers;  // nullptr: everybody
    InvokerSet mask;
  };

  const std::shared_ptr<const Program> program_;
  const CallMatcher* const call_;  // nullptr: what the rule says of the consumer's url does not hold
  std::vector<Target> targets_;    // by destination
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
