// Engine = slow twin: plans, masks and caches of a directory against rules decided provider by provider.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fed_directory.h"
#include "fairlead/tests/support/plain_rules.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;

constexpr std::array<const char*, 4> kMethods = {"", "find", "findAll", "save"};

class Scenario {
 public:
  explicit Scenario(std::uint64_t seed) : random_(Mix64(seed)) {}

  void Consumer() {
    consumer_text = "consumer://10.0.0.9/com.acme.Orders?application=shop";
    consumer = {{"application", "shop"}, {"host", "10.0.0.9"}, {"side", "consumer"}};
    if (Chance(60)) Parameter("region", Region(), consumer_text, consumer);
    if (Chance(30)) Parameter("level", Number(5), consumer_text, consumer);
  }
  void Providers() {
    for (std::uint64_t i = 0, n = random_.Below(8); i < n; ++i) {
      std::string text = "10.0.0." + std::to_string(i) + "?pid=1";
      PlainUrl plain{{"protocol", "dubbo"}, {"host", "10.0.0." + std::to_string(i)}, {"port", "20880"},
                     {"address", "10.0.0." + std::to_string(i) + ":20880"}, {"application", "orders"}};
      if (Chance(75)) Parameter("region", Region(), text, plain);
      if (Chance(50)) Parameter("level", Number(12), text, plain);
      if (Chance(30)) Parameter("weight", Number(9), text, plain);
      if (Chance(30)) Parameter("loadbalance", Chance(50) ? "leastactive" : "consistenthash", text, plain);
      if (Chance(20)) Parameter("find.loadbalance", "roundrobin", text, plain);
      if (Chance(20)) Parameter("save.weight", Number(4), text, plain);
      provider_texts.push_back(std::move(text));
      providers.push_back(std::move(plain));
    }
  }
  void Rules() {
    for (std::uint64_t n = random_.Below(5); n > 0; --n) rules.push_back(Rule());
    // What the registry lists, and the order in which it decides.
    listed_rules = rules;
    std::stable_sort(rules.begin(), rules.end(),
                     [](const PlainRule& a, const PlainRule& b) { return a.priority < b.priority; });
  }

  struct Call {
    std::size_t method;
    std::vector<std::string> texts;
    std::vector<Argument> arguments;
    std::vector<Attachment> attachments;
  };
  // The texts of a call live in static arrays.
  Call AnyCall() {
    static constexpr std::array<std::string_view, 6> kTexts = {"a", "hz", "1", "4", "", "null"};
    Call call{random_.Below(kMethods.size()), {}, {}, {}};
    for (std::uint64_t n = random_.Below(4); n > 0; --n) {
      const std::string_view text = kTexts[random_.Below(kTexts.size())];
      call.arguments.push_back({text, Chance(10), !Chance(10)});
    }
    static constexpr std::array<std::string_view, 3> kNames = {"user", "env", "other"};
    for (std::uint64_t n = Chance(40) ? 0 : random_.Below(4); n > 0; --n) {
      call.attachments.push_back({kNames[random_.Below(kNames.size())], kTexts[random_.Below(kTexts.size())]});
    }
    return call;
  }

  bool Chance(int percent) { return random_.Below(100) < static_cast<std::uint64_t>(percent); }
  std::uint64_t Below(std::uint64_t n) { return random_.Below(n); }

  std::string consumer_text;
  PlainUrl consumer;
  std::vector<std::string> provider_texts;
  std::vector<PlainUrl> providers;
  std::vector<PlainRule> rules, listed_rules;

 private:
  static void Parameter(const std::string& key, const std::string& value, std::string& text, PlainUrl& plain) {
    text += "&" + key + "=" + value;
    plain[key] = value;
  }
  std::string Number(std::uint64_t n) { return std::to_string(random_.Below(n)); }
  std::string Region() {
    static constexpr std::array<const char*, 4> kRegions = {"hz", "sh", "hangz", ""};
    return kRegions[random_.Below(kRegions.size())];
  }
  template <std::size_t N>
  PlainRule::Side Keys(const std::array<const char*, N>& names, bool then) {
    static constexpr std::array<const char*, 16> kPatterns = {"hz", "sh", "h*", "*z", "*", "h*z", "a", "1",
                                                              "4", "1~5", "~3", "null", "find", "find*", "10.0.0.2", "10.0.0.*"};
    std::set<std::string> chosen;
    for (std::uint64_t n = 1 + random_.Below(2); n > 0; --n) chosen.insert(names[random_.Below(N)]);
    PlainRule::Side side;
    for (const std::string& name : chosen) {
      PlainRule::Key key{name, {}, {}};
      do {
        auto& list = Chance(65) ? key.matches : key.mismatches;
        list.push_back(then && Chance(12) ? (Chance(70) ? "$region" : "$nosuch") : kPatterns[random_.Below(kPatterns.size())]);
      } while (Chance(35));
      side.push_back(std::move(key));
    }
    return side;
  }
  PlainRule Rule() {
    static constexpr std::array<const char*, 12> kWhen = {
        "method", "method", "region", "application", "host", "nosuch", "arguments[0]", "arguments[1]", "arguments[3]",
        "attachments[user]", "attachments[env]", "level"};
    static constexpr std::array<const char*, 9> kThen = {"region", "region", "level", "host", "address", "port", "nosuch",
                                                         "method", "arguments[0]"};
    PlainRule rule;
    if (Chance(75)) rule.when = Keys(kWhen, false);
    if (Chance(92)) rule.then = Keys(kThen, true);
    rule.force = Chance(40);
    rule.priority = static_cast<int>(random_.Below(3));
    return rule;
  }

  Random random_;
};

std::string Describe(const Scenario::Call& call) {
  std::string text = "call of \"" + std::string(kMethods[call.method]) + "\" (";
  for (const Argument& one : call.arguments) {
    text += one.null ? "null, " : one.given ? '"' + std::string(one.text) + "\", " : "not given, ";
  }
  for (const Attachment& one : call.attachments) text += std::string(one.key) + "=" + std::string(one.value) + " ";
  return text + ")";
}

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
    for (const char* method : kMethods) directory.handle->Method(method);
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
    ASSERT_EQ(directory.snapshot().chain.size(), scenario.rules.size()) << "no rule was refused";
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
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, Describe(call));
        const std::string method = kMethods[call.method];
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
