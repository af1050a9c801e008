#ifndef FAIRLEAD_ROUTING_CONDITION_CONDITION_ROUTER_H_
#define FAIRLEAD_ROUTING_CONDITION_CONDITION_ROUTER_H_

#include <memory>
#include <string>
#include <string_view>

#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/router.h"
#include "fairlead/routing/router_order.h"

namespace fairlead {

// How a condition rule is applied. The initialisers are the defaults of the url form.
struct ConditionOptions {
  // The rule matches the call but no provider: true leaves nobody, false takes the rule back for this call. A
  // blacklist (`=> false`) leaves nobody either way.
  bool force = false;
  bool enabled = true;  // false: every call passes
  int order = router_order::UrlRule(0);
  std::string name = "condition";
};

// Routes by one condition rule. Whatever `runtime` a rule states, the decision is the same: what the rule
// reads decides whether it is asked once per method or at each call.
//
// Compile is linear in the providers the first time and when the consumer's value of a `$key` changed, else
// in the changed ones plus a copy of one bit per provider. Of the providers it reads Provider::original only.
class ConditionRouter final : public Router {
 public:
  ConditionRouter(ConditionRule rule, ConditionOptions options);
  ~ConditionRouter() override;

  std::string_view name() const override;
  int order() const override;
  Reads reads() const override;
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input,
                                            const RouteTable* previous) const override;

 private:
  struct Program;
  class Table;
  const std::shared_ptr<const Program> program_;  // shared with the tables, which may outlive the router
};

// Makes condition routers from rule urls: `route://`, `condition://` and `router=condition`. Reads the
// parameters `rule` (percent-encoded once more than the url), `force` (false), `enabled` (true) and
// `priority` (0); `runtime` is accepted and changes nothing. The text of a disabled rule is not looked at. A
// rule that is absent, blank or malformed is kInvalidArgument.
std::shared_ptr<RouterFactory> MakeConditionRouterFactory();

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_CONDITION_CONDITION_ROUTER_H_
