// One pick of each policy, alone: `select` is the selector as a directory calls it, `floor` the same draw inlined over a
// bare array, `scan` what Dubbo does at each call. Read the ratios between rows of one run: select against floor, the
// largest list against the smallest, two threads against one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fairlead/loadbalance/alias_table.h"
#include "fairlead/loadbalance/hash_ring.h"
#include "fairlead/tests/support/member_list.h"

namespace fairlead {
namespace {

constexpr int kSmall = 10, kLarge = 100000;

// Weights 50 ... 150 in steps of 25: five classes, a loop longer than the cap from 200 providers on.
std::unique_ptr<MemberList> MakeMembers(std::int64_t n) {
  std::vector<std::int32_t> weights;
  for (std::int64_t i = 0; i < n; ++i) weights.push_back(static_cast<std::int32_t>(50 + i % 5 * 25));
  return std::make_unique<MemberList>(weights);
}

struct Turns {
  std::atomic<std::int64_t> current{0};
};

struct Bed {
  std::unique_ptr<MemberList> members;
  std::shared_ptr<const Selector> selector;
  std::vector<Slot> slots;
  std::vector<const InvokerState*> states;
  std::vector<std::int32_t> weights;
  AliasTable alias;
  HashRing ring;
  std::unordered_map<std::string, Turns> turns;  // by identity text
};
Bed bed;

constexpr const char* kPolicies[] = {"random", "roundrobin", "leastactive", "consistenthash"};

// Before and after all threads of a row.
template <int kPolicy>
void SetUp(const benchmark::State& state) {
  const std::string policy = kPolicies[kPolicy];
  bed.members = MakeMembers(state.range(0));
  const SelectorInput input = bed.members->Input("get");
  bed.selector = *PolicyNamed(policy)->Build(input, nullptr);
  bed.slots.clear();
  bed.states.clear();
  bed.weights.clear();
  std::vector<std::string_view> addresses;
  for (const Member& member : input.by_rank) {
    bed.slots.push_back(member.slot);
    bed.states.push_back(member.state);
    bed.weights.push_back(member.weight);
    addresses.push_back(member.provider->address);
  }
  bed.alias = AliasTable(bed.slots, bed.weights);
  if (policy == "consistenthash") bed.ring = HashRing(addresses, 160);
  for (const Member& member : input.by_rank) bed.turns[member.provider->effective.parts().ToIdentityString()];
}
void TearDown(const benchmark::State&) { bed = {}; }

Random ThreadRandom(const benchmark::State& state) { return Random(Mix64(static_cast<std::uint64_t>(state.thread_index()))); }

void Select(benchmark::State& state) {
  Random random = ThreadRandom(state);
  PickContext context{random, static_cast<std::uint32_t>(state.thread_index())};
  Invocation invocation;
  for (auto _ : state) {
    // What a caller that hashes itself passes; other policies do not look at it.
    invocation.hash_key = static_cast<std::uint32_t>(random.Next());
    benchmark::DoNotOptimize(bed.selector->Select(invocation, context));
  }
}

void RandomFloor(benchmark::State& state) {
  Random random = ThreadRandom(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(random.Next());
    benchmark::DoNotOptimize(bed.alias.Pick(random.Next()));
  }
}

void RoundRobinFloor(benchmark::State& state) {
  Random random = ThreadRandom(state);
  const std::size_t n = bed.slots.size();
  std::size_t at = random.Below(n);
  for (auto _ : state) {
    benchmark::DoNotOptimize(random.Next());
    benchmark::DoNotOptimize(bed.slots[at]);
    at = at + 1 == n ? 0 : at + 1;
  }
}

void LeastActiveFloor(benchmark::State& state) {
  Random random = ThreadRandom(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(random.Next());
    Slot best;
    if (bed.slots.size() <= 16) {
      best = 0;
      std::uint64_t total = 0;
      std::uint32_t least = ~0u;
      for (std::size_t i = 0; i < bed.slots.size(); ++i) {
        const std::uint32_t active = bed.states[i]->active();
        if (active > least) continue;
        const auto weight = static_cast<std::uint64_t>(bed.weights[i]);
        total = active < least ? weight : total + weight;
        least = active;
        if (total == weight || random.Below(total) < weight) best = bed.slots[i];
      }
    } else {
      const Slot a = bed.alias.Pick(random.Next()), b = bed.alias.Pick(random.Next());
      best = bed.states[b]->active() < bed.states[a]->active() ? b : a;
    }
    benchmark::DoNotOptimize(best);
  }
}

void ConsistentHashFloor(benchmark::State& state) {
  Random random = ThreadRandom(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(bed.slots[bed.ring.Owner(static_cast<std::uint32_t>(random.Next()))]);
  }
}

// The four scans are Dubbo's per-call work as it stands in its sources: weights are read from the urls each time.
std::int32_t WeightNow(const Member& member) {
  return EffectiveWeight(member.provider->effective, "get", MemberList::kNowMs);
}

void RandomScan(benchmark::State& state) {
  Random random = ThreadRandom(state);
  const auto& members = bed.members->members();
  for (auto _ : state) {
    std::vector<std::int64_t> below(members.size());
    std::int64_t total = 0;
    for (std::size_t i = 0; i < members.size(); ++i) below[i] = total += WeightNow(members[i]);
    const auto draw = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(total)));
    benchmark::DoNotOptimize(std::upper_bound(below.begin(), below.end(), draw) - below.begin());
  }
}

void LeastActiveScan(benchmark::State& state) {
  Random random = ThreadRandom(state);
  const auto& members = bed.members->members();
  for (auto _ : state) {
    std::vector<std::size_t> equals;
    std::uint32_t least = ~0u;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::uint32_t active = members[i].state->active();
      const std::int32_t weight = WeightNow(members[i]);
      if (active < least) {
        least = active;
        equals.clear();
        total = 0;
      }
      if (active == least) {
        equals.push_back(i);
        total += weight;
      }
    }
    auto left = static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(total)));
    std::size_t at = 0;
    while ((left -= members[equals[at]].weight) >= 0) ++at;
    benchmark::DoNotOptimize(equals[at]);
  }
}

void RoundRobinScan(benchmark::State& state) {
  const auto& members = bed.members->members();
  std::vector<std::string> identities;
  for (const Member& member : members) identities.push_back(member.provider->effective.parts().ToIdentityString());
  for (auto _ : state) {
    std::int64_t most = -1, total = 0;
    Turns* picked = nullptr;
    for (std::size_t i = 0; i < members.size(); ++i) {
      Turns& at = bed.turns.find(identities[i])->second;
      const std::int32_t weight = WeightNow(members[i]);
      const std::int64_t current = at.current.fetch_add(weight) + weight;
      total += weight;
      if (picked == nullptr || current > most) {
        most = current;
        picked = &at;
      }
    }
    picked->current.fetch_sub(total);
    benchmark::DoNotOptimize(picked);
  }
}

// Dubbo hashes the list at each call, to see whether its tree is still the right one.
void ConsistentHashScan(benchmark::State& state) {
  Random random = ThreadRandom(state);
  std::map<std::uint32_t, std::uint32_t> tree;
  for (const HashRing::Point& point : bed.ring.points()) tree[point.value] = point.member;
  const auto& members = bed.members->members();
  for (auto _ : state) {
    std::uint64_t hash = 1;
    for (const Member& member : members) hash = hash * 31 + reinterpret_cast<std::uintptr_t>(member.provider);
    benchmark::DoNotOptimize(hash);
    const auto at = tree.lower_bound(static_cast<std::uint32_t>(random.Next()));
    benchmark::DoNotOptimize(at == tree.end() ? tree.begin()->second : at->second);
  }
}

// MD5 of a key, as a call without `hash_key` pays it.
void KeyOfArgument(benchmark::State& state) {
  const std::string_view key[] = {"user-1234567"};
  for (auto _ : state) benchmark::DoNotOptimize(RingPosition(key));
}

void Build(benchmark::State& state, const std::string& policy, bool anew) {
  const auto members = MakeMembers(state.range(0));
  const auto balance = PolicyNamed(policy);
  const SelectorInput input = members->Input("get");
  std::shared_ptr<const Selector> before = *balance->Build(input, nullptr);
  for (auto _ : state) before = *balance->Build(input, anew ? nullptr : before.get());
}

using Body = void (*)(benchmark::State&);

template <int kPolicy>
void Register(Body floor, Body scan) {
  const std::string policy = kPolicies[kPolicy];
  const auto add = [&](const std::string& kind, Body body, int largest) {
    for (const int threads : {1, 2}) {
      benchmark::RegisterBenchmark((kind + "/" + policy).c_str(), body)
          ->RangeMultiplier(10)->Range(kSmall, largest)->Setup(SetUp<kPolicy>)->Teardown(TearDown)->Threads(threads);
    }
  };
  add("select", Select, kLarge);
  add("floor", floor, kLarge);
  add("scan", scan, kLarge / 10);
  for (const bool anew : {true, false}) {
    benchmark::RegisterBenchmark(((anew ? "build/" : "rebuild/") + policy).c_str(),
                                 [policy, anew](benchmark::State& state) { Build(state, policy, anew); })
        ->RangeMultiplier(10)->Range(kSmall, kLarge)->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace
}  // namespace fairlead

int main(int argc, char** argv) {
  using namespace fairlead;
  Register<0>(RandomFloor, RandomScan);
  Register<1>(RoundRobinFloor, RoundRobinScan);
  Register<2>(LeastActiveFloor, LeastActiveScan);
  Register<3>(ConsistentHashFloor, ConsistentHashScan);
  benchmark::RegisterBenchmark("key_of_argument", KeyOfArgument);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
