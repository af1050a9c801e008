// Engine = slow twin: plans, masks and caches of a directory against rules decided provider by provider.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fed_directory.h"
#include "fairlead/tests/support/plain_rules.h"
#include "fairlead/tests/support/plain_scenario.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;

std::string Parameter(const PlainUrl& url, const std::string& method, const std::string& key, const std::string& otherwise) {
  for (const std::string& name : {method + "." + key, key}) {
    const auto at = url.find(name);
    if (at != url.end()) return at->second;
  }
  return otherwise;
}

// What is left of one call, by the leaf of its plan.
void ExpectLeaf(const internal::Leaf& leaf, const FedDirectory& directory, const Scenario& scenario,
                const std::vector<std::size_t>& expected, const std::string& method) {
  ASSERT_EQ(leaf.by_rank.size(), expected.size());
  if (expected.empty()) {
    ASSERT_TRUE(absl::IsUnavailable(leaf.error));
    return;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const PlainUrl& provider = scenario.providers[expected[i]];
    ASSERT_EQ(directory.ProviderIn(leaf.by_rank[i]).address(), provider.at("address"));
    ASSERT_EQ(std::to_string(leaf.weight(i)), Parameter(provider, method, "weight", "100"));
  }
  ASSERT_EQ(leaf.policy, Parameter(scenario.providers[expected.front()], method, "loadbalance", "random"));
}

class EngineTwinTest : public ::testing::TestWithParam<int> {};

// A quarter of a million calls for each parameter.
TEST_P(EngineTwinTest, EveryDecisionIsTheTwins) {
  constexpr int kCalls = 60;
  const int scenarios = Effort(4200);
  std::map<std::string, int> seen;
  DirectoryWorld world;
  for (int i = 0; i < scenarios; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam()) * 1'000'000 + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    Scenario scenario(seed);
    scenario.Consumer();
    scenario.Providers();
    scenario.Rules();
    FedDirectory directory(world, scenario.consumer_text);
    for (const char* method : Scenario::kMethods) directory.handle->Method(method);
    Feed feed;
    for (const std::string& text : scenario.provider_texts) feed.providers.push_back(world.ProviderAt(text));
    std::string rules;
    for (const PlainRule& rule : scenario.listed_rules) {
      const std::string priority = std::to_string(rule.priority);
      feed.rules.push_back(
          world.RuleUrl(rule.Text(), std::string("force=") + (rule.force ? "true" : "false") + "&priority=" + priority));
      rules += "\n  " + rule.Text() + (rule.force ? " (force, " : " (") + priority + ")";
    }
    std::string texts;
    for (const std::string& text : scenario.provider_texts) texts += "\n  " + text;
    SCOPED_TRACE("consumer " + scenario.consumer_text + rules + texts);
    directory.Tell(feed);
    const auto& chain = directory.snapshot().chain;
    const auto rules_in_force = std::count_if(chain.begin(), chain.end(), [](const auto& link) { return !link.wishes; });
    ASSERT_EQ(static_cast<std::size_t>(rules_in_force), scenario.rules.size()) << "no rule was refused";
    std::vector<std::size_t> live;
    for (std::size_t p = 0; p < scenario.providers.size(); ++p) {
      const bool down = scenario.Chance(12);
      if (down) {
        directory.Down(directory.snapshot().table->by_rank[p]);
      } else {
        live.push_back(p);
      }
    }
    world.executor_.Advance(milliseconds(15));

    std::vector<Scenario::Call> calls;
    for (int c = 0; c < kCalls; ++c) calls.push_back(scenario.AnyCall());
    // First without a plan where the rules look at the call, then with one.
    for (const bool planned : {false, true}) {
      for (const Scenario::Call& call : calls) {
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, call.Describe());
        const std::string method = Scenario::kMethods[call.method];
        const Invocation invocation{static_cast<MethodId>(call.method), call.arguments, call.attachments, {}};
        const auto expected =
            RouteByPlainRules(scenario.rules, scenario.consumer, scenario.providers, live, {method, invocation});
        const absl::StatusOr<Lease> lease = directory.handle->Select(invocation);
        ASSERT_EQ(lease.ok(), !expected.empty()) << lease.status();
        if (lease.ok()) {
          const std::string chosen = lease->As<FakeProtocol::FakeInvoker>().address();
          ASSERT_TRUE(std::any_of(expected.begin(), expected.end(),
                                  [&](std::size_t p) { return scenario.providers[p].at("address") == chosen; }))
              << chosen;
        }
        if (!planned) {
          const std::vector<Url> list = directory.handle->List(invocation);
          ASSERT_EQ(list.size(), expected.size());
          for (std::size_t p = 0; p < list.size(); ++p) {
            ASSERT_EQ(list[p].Address(), scenario.providers[expected[p]].at("address"));
          }
          continue;
        }
        if (!directory.snapshot().status.ok()) continue;
        const internal::Plan* plan = directory.PlanOf(invocation);
        ++seen[plan == nullptr ? "walked" : directory.snapshot().runtime.empty() ? "class plan" : "plan of its cases"];
        ++seen[expected.empty() ? "nobody" : expected.size() == live.size() ? "all" : "some"];
        if (plan == nullptr) continue;
        ASSERT_EQ(plan->branches.size(), 1u);
        ExpectLeaf(*plan->branches.front().leaf, directory, scenario, expected, method);
        if (HasFatalFailure()) return;
      }
      world.executor_.Advance(milliseconds(25));
    }
  }
  // The generator reaches everything.
  const int some = scenarios * kCalls / 100;
  for (const char* what : {"class plan", "plan of its cases", "nobody", "all", "some"}) EXPECT_GT(seen[what], some) << what;
  EXPECT_LT(seen["walked"], scenarios * kCalls / 20) << "plans are built for what is called";
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineTwinTest, ::testing::Range(0, 4));

// Property 25: arguments[i] below, at and above the count, null, not given; each operator.
TEST(EngineArgumentsTest, Property25EveryIndexAndOperator) {
  DirectoryWorld world;
  const Argument arguments[] = {{"a"}, {"", true}, {"", false, false}, {""}};
  struct Expectation {
    const char* condition;
    bool holds[6];  // for arguments[0] "a", [1] null, [2] not given, [3] empty, [4] at the count, [9] far above
  };
  const Expectation expectations[] = {
      {"=a", {true, false, false, false, false, false}},
      {"!=a", {false, true, true, true, true, true}},
      {"=*", {true, true, true, true, true, true}},
      {"!=*", {false, false, false, false, false, false}},
      {"=null", {false, true, false, false, false, false}},
      {"!=null", {true, false, true, true, true, true}},
      {"=~3", {true, true, true, true, true, true}},  // what is not all digits reads as 0
  };
  const char* indices[] = {"0", "1", "2", "3", "4", "9"};
  for (const Expectation& one : expectations) {
    for (std::size_t i = 0; i < 6; ++i) {
      const std::string rule = "arguments[" + std::string(indices[i]) + "]" + one.condition + " => host=10.0.0.2";
      SCOPED_TRACE(rule);
      FedDirectory directory(world);
      directory.Tell({{world.ProviderAt("10.0.0.1"), world.ProviderAt("10.0.0.2")}, {world.RuleUrl(rule)}, {}});
      for (int planned = 0; planned < 2; ++planned) {
        EXPECT_EQ(directory.handle->List({.arguments = arguments}).size(), one.holds[i] ? 1u : 2u);
        (void)directory.handle->Select({.arguments = arguments});
        world.executor_.Advance(milliseconds(25));
      }
      const internal::Plan* plan = directory.PlanOf({.arguments = arguments});
      ASSERT_NE(plan, nullptr);
      EXPECT_EQ(plan->branches.front().leaf->by_rank.size(), one.holds[i] ? 1u : 2u);
    }
  }
}

}  // namespace
}  // namespace fairlead
