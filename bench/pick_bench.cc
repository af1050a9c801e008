// The selectors alone, as a directory calls them, and what building them costs: where to look when a row of engine_bench
// has changed. Read the ratios between rows of one run.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

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

struct Bed {
  std::unique_ptr<MemberList> members;
  std::shared_ptr<const Selector> selector;
};
Bed bed;

constexpr const char* kPolicies[] = {"random", "roundrobin", "leastactive", "consistenthash"};

// Before and after all threads of a row.
template <int kPolicy>
void SetUp(const benchmark::State& state) {
  bed.members = MakeMembers(state.range(0));
  bed.selector = *PolicyNamed(kPolicies[kPolicy])->Build(bed.members->Input("get"), nullptr);
}
void TearDown(const benchmark::State&) { bed = {}; }

void Select(benchmark::State& state) {
  Random random(Mix64(static_cast<std::uint64_t>(state.thread_index())));
  PickContext context{random, static_cast<std::uint32_t>(state.thread_index())};
  Invocation invocation;
  for (auto _ : state) {
    // What a caller that hashes itself passes; other policies do not look at it.
    invocation.hash_key = static_cast<std::uint32_t>(random.Next());
    benchmark::DoNotOptimize(bed.selector->Select(invocation, context));
  }
}

void Build(benchmark::State& state, const std::string& policy, bool anew) {
  const auto members = MakeMembers(state.range(0));
  const auto balance = PolicyNamed(policy);
  const SelectorInput input = members->Input("get");
  std::shared_ptr<const Selector> before = *balance->Build(input, nullptr);
  for (auto _ : state) before = *balance->Build(input, anew ? nullptr : before.get());
}

template <int kPolicy>
void Register() {
  const std::string policy = kPolicies[kPolicy];
  for (const int threads : {1, 2}) {
    benchmark::RegisterBenchmark(("select/" + policy).c_str(), Select)
        ->RangeMultiplier(10)->Range(kSmall, kLarge)->Setup(SetUp<kPolicy>)->Teardown(TearDown)->Threads(threads);
  }
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
  Register<0>();
  Register<1>();
  Register<2>();
  Register<3>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
