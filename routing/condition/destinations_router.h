#ifndef FAIRLEAD_ROUTING_CONDITION_DESTINATIONS_ROUTER_H_
#define FAIRLEAD_ROUTING_CONDITION_DESTINATIONS_ROUTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/condition/condition_router.h"
#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/router.h"

namespace fairlead {

// A condition rule with several destinations, of which a call draws one by weight: `from` of Dubbo's 3.1 documents with
// its `to`. A plain value.
struct DestinationsRule {
  struct Destination {
    Conditions match;           // empty: every provider
    std::uint32_t weight = 100;
  };
  std::string from_text;  // as given, for Explain
  Conditions from;        // empty: every call
  std::vector<Destination> to;
  Compat compat = Compat::kStrict;
};

// Routes by such a rule. Destinations that select nobody are left out of the draw; when none is left, force leaves
// nobody and the rule is taken back otherwise. A rule without destinations leaves nobody either way.
//
// The shares are those of the weights, under kStrict as Dubbo draws (weighted_draw.h).
//
// Compile is linear in providers and destinations, as ConditionRouter's is in providers.
class DestinationsRouter final : public Router {
 public:
  DestinationsRouter(DestinationsRule rule, ConditionOptions options);
  ~DestinationsRouter() override;

  std::string_view name() const override;
  int order() const override;
  Reads reads() const override;
  std::shared_ptr<const RouteTable> Compile(const RouteInput& input, const RouteTable* previous) const override;

 private:
  struct Program;
  class Table;
  const std::shared_ptr<const Program> program_;  // shared with the tables, which may outlive the router
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_CONDITION_DESTINATIONS_ROUTER_H_
