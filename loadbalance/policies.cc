#include "fairlead/loadbalance/policies.h"

#include "fairlead/loadbalance/consistent_hash.h"
#include "fairlead/loadbalance/least_active.h"
#include "fairlead/loadbalance/random.h"
#include "fairlead/loadbalance/round_robin.h"

namespace fairlead {

std::vector<std::shared_ptr<const LoadBalance>> DefaultLoadBalances() {
  return {MakeRandomLoadBalance(), MakeRoundRobinLoadBalance(), MakeLeastActiveLoadBalance(),
          MakeConsistentHashLoadBalance()};
}

}  // namespace fairlead
