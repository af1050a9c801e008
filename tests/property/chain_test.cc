// Plans = the walk of each call (1), over chains of every kind of router while providers go up and down (4): documents of
// conditions in both forms, of tags and of affinity, for the service, for applications of providers and of the consumer,
// and rule urls.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fed_directory.h"
#include "fairlead/tests/support/plain_chain.h"
#include "fairlead/tests/support/plain_scenario.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using internal::RuleKind;
using internal::RuleScope;
using Places = std::vector<std::size_t>;

constexpr const char* kApplications[] = {"orders", "other"};

// A scenario whose rules are documents too.
class ChainScenario : public Scenario {
 public:
  struct Document {
    RuleScope scope;
    RuleKind kind;
    std::string owner, text;
  };

  explicit ChainScenario(std::uint64_t seed) : Scenario(seed) {
    Consumer();
    if (Chance(20)) Add("dubbo.tag", TagName(), consumer_text, consumer);
    if (Chance(15)) Add("dubbo.force.tag", "true", consumer_text, consumer);
    Providers();
    for (std::size_t i = 0; i < providers.size(); ++i) {
      if (Chance(40)) Add("application", kApplications[1], provider_texts[i], providers[i]);
      if (Chance(15)) Add("dubbo.tag", TagName(), provider_texts[i], providers[i]);
    }
    Tags();
    if (Chance(30)) Affinity(RuleScope::kService, "com.acme.Orders::");
    for (const char* application : kApplications) {
      if (Chance(25)) Affinity(RuleScope::kProviderApplication, application);
    }
    if (Chance(55)) Conditions(RuleScope::kService, "com.acme.Orders::");
    for (const char* application : kApplications) {
      if (Chance(30)) Conditions(RuleScope::kProviderApplication, application);
    }
    if (Chance(30)) Conditions(RuleScope::kConsumerApplication, "shop");
    if (Chance(30)) Rules();
    for (const PlainRule& rule : rules) steps.push_back({"", rule});
  }

  Call TaggedCall() {
    static constexpr std::array<std::string_view, 4> kTags = {"a", "a|b", "gray", ""};
    Call call = AnyCall();
    if (Chance(35)) call.attachments.push_back({"dubbo.tag", kTags[Below(kTags.size())]});
    if (Chance(20)) call.attachments.push_back({"dubbo.force.tag", Chance(60) ? "true" : "false"});
    return call;
  }

  std::vector<PlainStep> steps;  // in the order of the chain
  std::vector<Document> documents;

 private:
  static void Add(const std::string& key, const std::string& value, std::string& text, PlainUrl& plain) {
    text += "&" + key + "=" + value;
    plain[key] = value;
  }
  std::string TagName() {
    static constexpr std::array<const char*, 3> kNames = {"a", "a|b", "gray"};
    return kNames[Below(kNames.size())];
  }
  static std::string Force(bool force) { return std::string("force: ") + (force ? "true\n" : "false\n"); }
  static const std::string& ApplicationOf(RuleScope scope, const std::string& owner) {
    static const std::string kAll;
    return scope == RuleScope::kProviderApplication ? owner : kAll;
  }

  void Tags() {
    PlainTags tags;
    for (const char* application : kApplications) {
      if (!Chance(25)) continue;
      SlowTags& rule = tags.rules[application];
      rule.has_rule = true;
      rule.force = Chance(50);
      std::string text = "configVersion: v3.0\n" + Force(rule.force) + "tags:\n";
      for (std::uint64_t n = 1 + Below(3); n > 0; --n) {
        SlowTags::Tag tag{TagName(), {}, Chance(50) ? "hz" : "sh"};
        if (Chance(70)) {
          for (std::uint64_t m = 1 + Below(3); m > 0; --m) tag.addresses.insert("10.0.0." + std::to_string(Below(8)) + (Chance(50) ? ":20880" : ""));
        }
        text += "- name: '" + tag.name + "'\n";
        if (tag.addresses.empty()) {
          text += "  match: [{key: region, value: {exact: " + tag.region + "}}]\n";
        } else {
          text += "  addresses: [";
          for (const std::string& one : tag.addresses) text += "'" + one + "', ";
          text += "]\n";
        }
        rule.tags.push_back(std::move(tag));
      }
      documents.push_back({RuleScope::kProviderApplication, RuleKind::kTags, application, std::move(text)});
    }
    steps.push_back({"", std::move(tags)});
  }

  void Affinity(RuleScope scope, const std::string& owner) {
    static constexpr std::array<int, 5> kRatios = {0, 20, 50, 67, 100};
    const PlainAffinity rule{Chance(80) ? "region" : "level", kRatios[Below(kRatios.size())]};
    documents.push_back({scope, RuleKind::kAffinity, owner,
                         "configVersion: v3.1\naffinityAware: {key: " + rule.key + ", ratio: " + std::to_string(rule.ratio) + "}\n"});
    steps.push_back({ApplicationOf(scope, owner), rule});
  }

  void Conditions(RuleScope scope, const std::string& owner) {
    const bool force = Chance(40);
    std::string text = Force(force) + "conditions:\n";
    if (Chance(50)) {
      for (std::uint64_t n = 1 + Below(2); n > 0; --n) {
        PlainRule rule = Rule();
        rule.force = force;
        text += "- '" + rule.Text() + "'\n";
        steps.push_back({ApplicationOf(scope, owner), std::move(rule)});
      }
      if (Chance(50)) text = "configVersion: v3.0\n" + text;
    } else {
      text = "configVersion: v3.1\n" + text;
      for (std::uint64_t n = 1 + Below(2); n > 0; --n) {
        PlainDestinations rule;
        rule.force = force;
        if (Chance(50)) rule.from = WhenSide();
        text += "- from: {match: '" + (rule.from ? PlainRule::Text(*rule.from) : "") + "'}\n  to:\n";
        for (std::uint64_t m = 1 + Below(3); m > 0; --m) {
          PlainDestinations::To to{{}, static_cast<std::uint32_t>(1 + Below(100))};
          if (Chance(85)) to.match = ThenSide();
          text += "  - {match: '" + (to.match ? PlainRule::Text(*to.match) : "") + "', weight: " + std::to_string(to.weight) + "}\n";
          rule.to.push_back(std::move(to));
        }
        steps.push_back({ApplicationOf(scope, owner), std::move(rule)});
      }
    }
    documents.push_back({scope, RuleKind::kConditions, owner, std::move(text)});
  }
};

::testing::AssertionResult WithinFiveSigma(double count, double draws, double share) {
  const double due = draws * share;
  // Of a rare one the normal distribution says little.
  if (std::abs(count - due) <= 5 * std::sqrt(due * std::max(0.0, 1 - share)) + 5) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << count << " of " << draws << ", due " << due;
}

class Comparison {
 public:
  Comparison(ChainScenario& scenario, DirectoryWorld& world) : scenario_(scenario), directory_(world, scenario.consumer_text) {
    for (const char* method : Scenario::kMethods) directory_.handle->Method(method);
    for (const auto& [scope, kind, owner, text] : scenario.documents) directory_.Document(scope, kind, owner, text);
    Feed feed;
    for (const std::string& text : scenario.provider_texts) feed.providers.push_back(world.ProviderAt(text));
    for (const PlainRule& rule : scenario.listed_rules) {
      feed.rules.push_back(world.RuleUrl(rule.Text(), std::string("force=") + (rule.force ? "true" : "false") +
                                                          "&priority=" + std::to_string(rule.priority)));
    }
    directory_.Tell(feed);
    up_.assign(scenario.providers.size(), true);
    planned_up_ = up_;
  }

  void FlipSome() {
    for (std::size_t i = 0; i < up_.size(); ++i) {
      if (!scenario_.Chance(20)) continue;
      up_[i] = !up_[i];
      const Slot slot = directory_.snapshot().table->by_rank[i];
      up_[i] ? directory_.Up(slot) : directory_.Down(slot);
    }
  }
  void Replanned() { planned_up_ = up_; }

  // Tables that do not know yet who went down: nobody who is down is picked while another one is up where the call ends.
  void ExpectNobodyDown(const Scenario::Call& call) {
    const PlainEnds ends = Ends(call, planned_up_);
    const bool some_end_is_down = std::any_of(ends.begin(), ends.end(), [&](const auto& end) {
      return std::none_of(end.first.begin(), end.first.end(), [&](std::size_t one) { return up_[one]; });
    });
    const absl::StatusOr<Lease> lease = directory_.handle->Select(InvocationOf(call));
    if (some_end_is_down || !lease.ok()) return;
    ASSERT_TRUE(up_[PlaceOf(lease->As<FakeProtocol::FakeInvoker>().address())]);
  }

  void ExpectEnds(const Scenario::Call& call, bool planned, std::map<std::string, int>& seen) {
    const PlainEnds ends = Ends(call, up_);
    const Invocation invocation = InvocationOf(call);
    const bool live = directory_.snapshot().status.ok();
    const internal::Plan* plan = planned && live ? directory_.PlanOf(invocation) : nullptr;
    if (plan != nullptr) ExpectPlan(*plan, ends);
    if (::testing::Test::HasFatalFailure()) return;
    const bool wish = directory_.snapshot().minds_wishes && HasWish(invocation);
    ++seen[!live ? "all down" : plan != nullptr ? "plan" : wish ? "wish" : planned ? "no plan" : "first call"];
    ++seen[ends.size() > 1 ? plan != nullptr ? "plan that draws" : "walk that draws" : "one end"];
    ++seen[ends.begin()->first.empty() ? "nobody" : "somebody"];

    const int draws = ends.size() > 1 ? 300 : 1;
    std::map<Places, double> sets;
    std::vector<double> picks(up_.size());
    for (int i = 0; i < draws; ++i) {
      // A list is drawn as the next pick would be, which is what moves the generator.
      if (plan == nullptr) {
        Places listed;
        for (const Url& url : directory_.handle->List(invocation)) listed.push_back(PlaceOf(url.Address()));
        ASSERT_TRUE(ends.contains(listed)) << Text(listed) << " is no end";
        ++sets[listed];
      }
      const absl::StatusOr<Lease> lease = directory_.handle->Select(invocation);
      if (lease.ok()) ++picks[PlaceOf(lease->As<FakeProtocol::FakeInvoker>().address())];
    }
    double picked = 0;
    for (const double one : picks) picked += one;
    double some = 0;
    for (const auto& [set, share] : ends) {
      some += set.empty() ? 0 : share;
      if (plan == nullptr) {
        ASSERT_TRUE(WithinFiveSigma(sets[set], draws, share)) << Text(set);
      }
    }
    ASSERT_TRUE(WithinFiveSigma(picked, draws, some)) << "picks that found somebody";
    for (std::size_t i = 0; i < picks.size(); ++i) {
      if (picks[i] > 0) {
        ASSERT_TRUE(std::any_of(ends.begin(), ends.end(), [&](const auto& end) { return std::count(end.first.begin(), end.first.end(), i) > 0; })) << i;
      }
    }
    ExpectShares(call, ends, picks, draws, seen);
  }

 private:
  static std::string Text(const Places& places) {
    std::string text = "{";
    for (const std::size_t one : places) text += std::to_string(one) + " ";
    return text + "}";
  }
  Invocation InvocationOf(const Scenario::Call& call) const {
    return {static_cast<MethodId>(call.method), call.arguments, call.attachments, {}};
  }
  std::size_t PlaceOf(const std::string& address) const {
    for (std::size_t i = 0; i < scenario_.providers.size(); ++i) {
      if (scenario_.providers[i].at("address") == address) return i;
    }
    return up_.size();
  }
  PlainEnds Ends(const Scenario::Call& call, const std::vector<bool>& up) const {
    Places live;
    for (std::size_t i = 0; i < up.size(); ++i) {
      if (up[i]) live.push_back(i);
    }
    const Invocation invocation = InvocationOf(call);
    return EndsOf(scenario_.steps, scenario_.consumer, scenario_.providers, live, {Scenario::kMethods[call.method], invocation});
  }

  // The plan's leaves and their shares, exactly.
  void ExpectPlan(const internal::Plan& plan, const PlainEnds& ends) const {
    ASSERT_EQ(plan.branches.size(), ends.size());
    double below = 0;
    for (const internal::Plan::Branch& branch : plan.branches) {
      Places set;
      for (const Slot member : branch.leaf->by_rank) set.push_back(PlaceOf(directory_.ProviderIn(member).address()));
      const auto end = ends.find(set);
      ASSERT_TRUE(end != ends.end()) << Text(set) << " is no end";
      const double share = static_cast<double>(branch.below) / 18446744073709551615.0 - below;
      below += share;
      ASSERT_NEAR(share, end->second, 1e-9) << Text(set);
    }
  }

  std::string Parameter(std::size_t provider, const std::string& method, const std::string& key, const std::string& otherwise) const {
    for (const std::string& name : {method + "." + key, key}) {
      const auto at = scenario_.providers[provider].find(name);
      if (at != scenario_.providers[provider].end()) return at->second;
    }
    return otherwise;
  }
  // How often each provider was picked, where all ends draw by weight.
  void ExpectShares(const Scenario::Call& call, const PlainEnds& ends, const std::vector<double>& picks, int draws,
                    std::map<std::string, int>& seen) const {
    if (draws == 1) return;
    const std::string method = Scenario::kMethods[call.method];
    std::vector<double> due(picks.size());
    for (const auto& [set, share] : ends) {
      if (set.empty()) continue;
      if (Parameter(set.front(), method, "loadbalance", "random") != "random") return;
      // As in Java, no weight counts when the first has none.
      const bool alike = Parameter(set.front(), method, "weight", "").empty();
      const auto weight = [&](std::size_t one) { return alike ? 1.0 : std::stod(Parameter(one, method, "weight", "100")); };
      double total = 0;
      for (const std::size_t one : set) total += weight(one);
      for (const std::size_t one : set) due[one] += share * (total == 0 ? 1.0 / static_cast<double>(set.size()) : weight(one) / total);
    }
    ++seen["shares of picks"];
    for (std::size_t i = 0; i < picks.size(); ++i) ASSERT_TRUE(WithinFiveSigma(picks[i], draws, due[i])) << "provider " << i;
  }

  ChainScenario& scenario_;
  FedDirectory directory_;
  std::vector<bool> up_, planned_up_;  // `planned_up_`: when the tables were built
};

class ChainTest : public ::testing::TestWithParam<int> {};

TEST_P(ChainTest, Property1And4PlansAreTheWalkOfEachCall) {
  constexpr int kPlenty = 700;
  const int scenarios = Effort(kPlenty);
  DirectoryWorld world;
  std::map<std::string, int> seen;
  for (int i = 0; i < scenarios; ++i) {
    const auto seed = static_cast<std::uint64_t>(GetParam()) * 1'000'000 + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ChainScenario scenario(seed);
    std::string input = scenario.consumer_text;
    for (const std::string& text : scenario.provider_texts) input += "\n  " + text;
    for (const PlainRule& rule : scenario.rules) input += "\n  " + rule.Text() + (rule.force ? " (force)" : "");
    for (const auto& document : scenario.documents) input += "\n" + internal::RuleKey{document.scope, document.kind, document.owner}.name() + "\n" + document.text;
    SCOPED_TRACE(input);
    Comparison comparison(scenario, world);
    std::vector<Scenario::Call> calls;
    for (int c = 0; c < 10; ++c) calls.push_back(scenario.TaggedCall());
    for (int round = 0; round < 3; ++round) {
      for (const bool planned : {false, true}) {
        for (const Scenario::Call& call : calls) {
          const ::testing::ScopedTrace trace(__FILE__, __LINE__, call.Describe() + ", round " + std::to_string(round));
          comparison.ExpectEnds(call, planned, seen);
          if (HasFatalFailure()) return;
        }
        world.executor_.Advance(milliseconds(25));
      }
      comparison.FlipSome();
      for (const Scenario::Call& call : calls) {
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, call.Describe() + ", round " + std::to_string(round));
        comparison.ExpectNobodyDown(call);
        if (HasFatalFailure()) return;
      }
      world.executor_.Advance(milliseconds(25));
      comparison.Replanned();
    }
  }
  if (scenarios < kPlenty) return;  // a few need not meet everything
  for (const char* what : {"plan", "first call", "plan that draws", "walk that draws", "nobody", "somebody", "shares of picks"}) {
    EXPECT_GT(seen[what], scenarios / 20) << what;
  }
  EXPECT_LT(seen["no plan"], scenarios) << "plans are built for what is called";
}

INSTANTIATE_TEST_SUITE_P(Seeds, ChainTest, ::testing::Range(0, 4));

}  // namespace
}  // namespace fairlead
