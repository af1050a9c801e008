#ifndef FAIRLEAD_LOADBALANCE_LEAST_ACTIVE_H_
#define FAIRLEAD_LOADBALANCE_LEAST_ACTIVE_H_

#include <memory>

#include "fairlead/loadbalance/load_balance.h"

namespace fairlead {

// Fewest leases out, by this consumer, wins; equals are drawn by weight, all alike when their sum is 0.
//
// Up to `leastactive.exact` members (a consumer parameter, 16 by default) the minimum is exact, found by a scan; above
// it two members are drawn by weight and the one with fewer leases wins, which takes constant time.
std::shared_ptr<const LoadBalance> MakeLeastActiveLoadBalance();

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_LEAST_ACTIVE_H_
