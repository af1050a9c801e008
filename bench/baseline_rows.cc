// How others pick, against our pick of the same policy.
#include <string>

#include "fairlead/bench/baselines.h"
#include "fairlead/bench/picks.h"
#include "fairlead/bench/suite.h"

namespace fairlead::bench {
namespace {

void AddBaseline(Suite& suite, const std::string& baseline, const std::string& policy, int n, int threads) {
  suite.Add("baseline/" + baseline, n, [=](Report& report, const Effort& effort) {
    const Call call{policy == "consistenthash", 0};
    const Body pick = PickBody(WarmBed({n, policy}, call), call);
    Row row = Compared("baseline/" + baseline, n, "pick/" + policy);
    if (threads > 1) row.spread_limit = 0.25;
    report.Add(Measure(row, {MakeBaseline(baseline, n), threads}, {pick, threads}, effort));
  });
}

}  // namespace

void AddBaselineRows(Suite& suite, bool) {
  for (const char* policy : {"random", "roundrobin", "leastactive", "consistenthash"}) {
    for (const int n : {10, 100, 1000, 10'000}) AddBaseline(suite, std::string("dubbo_") + policy, policy, n, 1);
  }
  const int two = std::min(UsableCpus(), 2);
  for (const char* other : {"atomic_shared_ptr", "prefix_sums", "mutex_list"}) {
    for (const int n : {10, 1000, 10'000}) AddBaseline(suite, other, "random", n, 1);
    if (two > 1) AddBaseline(suite, other, "random", 1000, two);
  }
}

}  // namespace fairlead::bench
