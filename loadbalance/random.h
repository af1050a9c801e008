#ifndef FAIRLEAD_LOADBALANCE_RANDOM_H_
#define FAIRLEAD_LOADBALANCE_RANDOM_H_

#include <memory>

#include "fairlead/loadbalance/load_balance.h"

namespace fairlead {

// Weighted random: each call draws a member with probability weight / sum, all alike when the sum is 0.
//
// An alias table: one draw of constant time, whatever the number of members. compat=strict follows Dubbo in treating
// all members alike when the first has neither a `weight` nor a `timestamp`.
std::shared_ptr<const LoadBalance> MakeRandomLoadBalance();

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_RANDOM_H_
