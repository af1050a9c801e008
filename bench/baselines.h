#ifndef FAIRLEAD_BENCH_BASELINES_H_
#define FAIRLEAD_BENCH_BASELINES_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/bench/ab.h"

namespace fairlead::bench {

// How others pick, over n providers with the weights of a Bed. By name:
//   dubbo_random, dubbo_roundrobin, dubbo_leastactive, dubbo_consistenthash
//                  what Dubbo does at each call, from its sources: every policy passes over the whole list and reads
//                  the weights from the urls
//   atomic_shared_ptr   a snapshot in a std::atomic<std::shared_ptr>, and an alias table
//   prefix_sums         the same snapshot in a read section; cumulative weights, binary search
//   mutex_list          a list and its alias table behind one std::mutex
Body MakeBaseline(const std::string& name, int n);

}  // namespace fairlead::bench

#endif  // FAIRLEAD_BENCH_BASELINES_H_
