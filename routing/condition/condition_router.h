#ifndef FAIRLEAD_ROUTING_CONDITION_CONDITION_ROUTER_H_
#define FAIRLEAD_ROUTING_CONDITION_CONDITION_ROUTER_H_

#include <memory>

#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/router.h"

namespace fairlead {

// A condition rule in the chain: calls that *when* matches go to the providers that *then* matches. None matches:
// with `force` nobody, else everybody, as if the rule were not there. A rule that blocks leaves nobody either way.
//
// Two cases: 0 = *when* does not hold, 1 = it holds. *when* keys that read the consumer's url are decided when the
// table is compiled, the method once per method, arguments and attachments at the call. *then* is a mask over the
// providers' original parameters, computed for changed providers only.
class ConditionRouter final : public Router {
 public:
  struct Flags {
    bool force = false;
    bool enabled = true;  // false: passes everything
    int priority = 0;
  };
  ConditionRouter(ConditionRule rule, Flags flags);

  std::string_view name() const override { return "condition"; }
  int order() const override { return flags_.priority; }
  Reads reads() const override { return reads_; }
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable* previous) const override;

  const ConditionRule& rule() const { return *rule_; }

 private:
  class Table;
  const std::shared_ptr<const ConditionRule> rule_;  // tables share it
  const Flags flags_;
  Reads reads_ = Reads::kConsumer;
};

// For rule urls: `rule` (percent-encoded once more inside the url), `force` (false), `enabled` (true), `priority` (0);
// `runtime` is accepted and never changes a decision. A disabled rule is not parsed.
std::shared_ptr<RouterFactory> MakeConditionRouterFactory(Compat compat = Compat::kStrict);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_CONDITION_CONDITION_ROUTER_H_
