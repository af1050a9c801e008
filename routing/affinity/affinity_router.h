#ifndef FAIRLEAD_ROUTING_AFFINITY_AFFINITY_ROUTER_H_
#define FAIRLEAD_ROUTING_AFFINITY_AFFINITY_ROUTER_H_

#include <memory>
#include <string>
#include <string_view>

#include "fairlead/routing/router.h"
#include "fairlead/routing/router_order.h"

namespace fairlead {

// Keep to providers like oneself, as long as they are enough. A plain value.
struct AffinityRule {
  std::string key;  // what consumer and provider have in common: a parameter, or host, port ... (UrlKey)
  int ratio = 0;    // percent of the providers that must be like that, 0 to 100; equal is enough
  bool enabled = true;
  int order = router_order::kAffinityService;
  std::string name = "affinity";
};

// Routes by such a rule. A consumer without the key, and nobody like it, leave all providers; the latter also with ratio
// 0, where Dubbo leaves nobody. As in a condition rule `key = $key`, a `*` in the consumer's value is a wildcard. Of
// providers it reads Provider::original.
class AffinityRouter final : public Router {
 public:
  explicit AffinityRouter(AffinityRule rule);
  ~AffinityRouter() override;

  std::string_view name() const override;
  int order() const override;
  Reads reads() const override { return Reads::kConsumer; }
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable* previous) const override;

 private:
  class Table;
  const std::shared_ptr<const AffinityRule> rule_;  // shared with the tables, which may outlive the router
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_AFFINITY_AFFINITY_ROUTER_H_
