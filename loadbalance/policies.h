#ifndef FAIRLEAD_LOADBALANCE_POLICIES_H_
#define FAIRLEAD_LOADBALANCE_POLICIES_H_

#include <memory>
#include <vector>

#include "fairlead/loadbalance/load_balance.h"

namespace fairlead {

// The policies that come with the library: random, roundrobin, leastactive, consistenthash.
std::vector<std::shared_ptr<const LoadBalance>> DefaultLoadBalances();

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_POLICIES_H_
