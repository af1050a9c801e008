#ifndef FAIRLEAD_LOADBALANCE_ROUND_ROBIN_H_
#define FAIRLEAD_LOADBALANCE_ROUND_ROBIN_H_

#include <memory>

#include "fairlead/loadbalance/load_balance.h"

namespace fairlead {

// Smooth weighted round robin, in Dubbo's order, for each method on its own.
//
// The order is worked out ahead while its loop has at most `roundrobin.cap` steps (4096; a consumer parameter, up to
// 65536) or all weights are equal; beyond that members take turns in a low-discrepancy order, see SpreadOrder.
//
// Each thread has a cursor of its own, which begins at a random step, so that neither threads nor consumers that start
// together call in step. When the list changes, the place of the thread that picked first is taken over with the
// credits of all members; that thread sees Dubbo's order go on exactly, the others begin at a random step again.
// `roundrobin.scope=global`, a consumer parameter, makes all threads share one cursor that begins at the first step,
// which costs a shared write a pick. Constant time.
std::shared_ptr<const LoadBalance> MakeRoundRobinLoadBalance();

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_ROUND_ROBIN_H_
