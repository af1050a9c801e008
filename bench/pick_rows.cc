// WithSelected and Select for each policy, against its floor.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/bench/draws.h"
#include "fairlead/bench/picks.h"
#include "fairlead/bench/suite.h"

namespace fairlead::bench {
namespace {

// The floors of a policy over n providers, and its picks.
struct Floors {
  Body pick, touching, lease;
};
Floors FloorsOf(const std::string& policy, int n) {
  auto list = std::make_shared<BareList>(n);
  const auto all = [&](auto start) {
    return Floors{FloorOf(list, start), TouchingFloorOf(list, start), LeaseFloorOf(list, start)};
  };
  if (policy == "leastactive") {
    return all([draw = std::make_shared<LessOfTwoDraw>(*list)](int thread) { return draw->Start(thread); });
  }
  const auto draw = std::make_shared<TableDraw>(policy, *list);
  if (policy == "consistenthash") return all([draw](int thread) { return draw->StartHashed(thread); });
  return all([draw](int thread) { return draw->Start(thread); });
}

Call CallOf(const std::string& policy) { return {policy == "consistenthash", 0}; }

void AddPick(Suite& suite, const std::string& policy, int n) {
  suite.Add("pick/" + policy, n, [policy, n](Report& report, const Effort& effort) {
    const auto bed = WarmBed({n, policy}, CallOf(policy));
    const Body pick = PickBody(bed, CallOf(policy));
    if (policy == "leastactive" && n <= 16) {
      // Looks at all, by a loop that the policy keeps to itself.
      report.Add(Measure(Compared("pick/" + policy, n, ""), {pick}, {}, effort));
      return;
    }
    const Floors floors = FloorsOf(policy, n);
    Target target;
    if (policy == "consistenthash") {
      target = DifferenceAtMost(3);
    } else if (n <= 1000 && policy != "leastactive") {
      target = DifferenceAtMost(2);
    }
    report.Add(Measure(Compared("pick/" + policy, n, kFloor, target), {pick}, {floors.pick}, effort));
    if (n >= 10'000 && policy != "leastactive") {
      report.Add(Measure(Compared("pick/" + policy, n, "floor + record"), {pick}, {floors.touching}, effort));
    }
  });
}

// What the rows of the smallest and the largest list say together.
void AddGrowth(Suite& suite, const std::string& policy) {
  suite.Add("pick/" + policy + "/growth", 100'000, [policy](Report& report, const Effort&) {
    const Row* small = report.Find("pick/" + policy, 10);
    const Row* large = report.Find("pick/" + policy, 100'000);
    if (small == nullptr || large == nullptr) return;
    Row row = Compared("pick/" + policy + "/growth", 100'000, "n=10", DifferenceAtMost(2));
    row.value = large->difference();
    row.base = small->difference();
    row.quartiles = std::max(large->quartiles, large->base_quartiles);
    row.base_quartiles = std::max(small->quartiles, small->base_quartiles);
    row.runs = large->runs;
    row.note = "pick - floor";
    // A difference of two close figures; their own spread has been judged.
    row.spread_limit = small->steady() && large->steady() ? 1e9 : 0;
    report.Add(row);
  });
}

void AddLease(Suite& suite, const std::string& policy, int n, int threads) {
  suite.Add("lease/" + policy, n, [policy, n, threads](Report& report, const Effort& effort) {
    const auto bed = WarmBed({n, policy}, CallOf(policy));
    const Body lease = LeaseBody(bed, CallOf(policy));
    const Body floor = FloorsOf(policy, n).lease;
    Target alone;
    if (policy == "consistenthash") {
      alone = DifferenceAtMost(3);
    } else if (n <= 1000) {
      alone = DifferenceAtMost(2);
    }
    report.Add(Measure(Compared("lease/" + policy, n, kFloor, alone), {lease}, {floor}, effort));
    if (threads == 1) return;
    const Target together = n < 10'000 ? RatioAtMost(1.2) : Target();
    Row row = Compared("lease/" + policy, n, kFloor, together);
    // Who gets the line first is the machine's throw of dice at each run.
    row.spread_limit = 0.25;
    report.Add(Measure(row, {lease, threads}, {floor, threads}, effort));
    Row scaling = Compared("lease/" + policy + "/threads", n, "1 thread", n >= 10'000 ? RatioAtMost(1.15) : Target());
    scaling.spread_limit = 0.25;
    report.Add(Measure(scaling, {lease, threads}, {lease, 1}, effort));
  });
}

void AddThreads(Suite& suite, const std::string& policy, int n, int threads) {
  suite.Add("pick/" + policy + "/threads", n, [policy, n, threads](Report& report, const Effort& effort) {
    const Body pick = PickBody(WarmBed({n, policy}, CallOf(policy)), CallOf(policy));
    Row row = Compared("pick/" + policy + "/threads", n, "1 thread");
    row.spread_limit = 0.25;
    report.Add(Measure(row, {pick, threads}, {pick, 1}, effort));
  });
}

void AddLeastActive(Suite& suite, int n) {
  suite.Add("leastactive", n, [n](Report& report, const Effort& effort) {
    const auto least = WarmBed({n, "leastactive"});
    const auto random = WarmBed({n, "random"});
    report.Add(Measure(Compared("leastactive", n, "random + lease", n > 16 ? RatioAtMost(2.5) : Target()),
                       {LeaseBody(least)}, {LeaseBody(random)}, effort));
  });
}

}  // namespace

void AddPickRows(Suite& suite, bool quick) {
  suite.Add("read_section", 0, [](Report& report, const Effort& effort) {
    const Body section = Repeat([](int) {
      return [] {
        const ReadSection open;
        Keep(&open);
      };
    });
    report.Add(Measure(Compared("read_section", 0, ""), {section}, {}, effort));
  });
  for (const char* policy : {"random", "roundrobin"}) {
    for (const int n : {10, 100, 1000, 10'000, 100'000}) AddPick(suite, policy, n);
    AddGrowth(suite, policy);
    AddThreads(suite, policy, 10'000, 2);
  }
  std::vector<int> ring_sizes = {10, 100, 1000, 10'000};
  if (!quick) ring_sizes.push_back(100'000);
  for (const int n : ring_sizes) AddPick(suite, "consistenthash", n);
  suite.Add("key_of_argument", 0, [](Report& report, const Effort& effort) {
    const Body md5 = Repeat([](int) {
      return [key = std::array<std::string_view, 1>{"user-1234567"}] { Keep(RingPosition(key)); };
    });
    Row row = Compared("key_of_argument", 0, "");
    row.note = "MD5 of a textual key";
    report.Add(Measure(row, {md5}, {}, effort));
  });
  const int cpus = UsableCpus();
  for (const char* policy : {"random", "roundrobin"}) {
    for (const int n : {10, 1000, 10'000}) {
      AddLease(suite, policy, n, std::min(cpus, 2));
      if (cpus > 2 && !quick) AddThreads(suite, policy, n, cpus);
    }
  }
  AddLease(suite, "consistenthash", 1000, 1);
  for (const int n : {10, 16, 17, 1000, 100'000}) AddLeastActive(suite, n);
  for (const int n : {10, 100, 1000, 10'000}) AddPick(suite, "leastactive", n);
}

}  // namespace fairlead::bench
