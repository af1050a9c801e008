#ifndef FAIRLEAD_LOADBALANCE_ROUND_ROBIN_H_
#define FAIRLEAD_LOADBALANCE_ROUND_ROBIN_H_

#include <memory>

#include "fairlead/loadbalance/load_balance.h"

namespace fairlead {

// Smooth weighted round robin, in Dubbo's order, for each method on its own.
//
// The order is worked out ahead while its loop has at most 4096 steps (or all weights are equal); beyond that members
// take turns in a low-discrepancy order, see SpreadOrder. Each thread has a cursor of its own: the first thread
// starts at the first step, others at a random one. `roundrobin.scope=global`, a consumer parameter, makes all threads
// share one cursor, which costs a shared write a pick. Constant time.
std::shared_ptr<const LoadBalance> MakeRoundRobinLoadBalance();

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_ROUND_ROBIN_H_
