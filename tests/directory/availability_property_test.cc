#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fairlead/base/random.h"
#include "fairlead/tests/directory/directory_fixture.h"
#include "fairlead/tests/support/slow_condition.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kMostProviders = 9;

// A world of providers that go up and down, beside the directory: what is up by reports and calls, in plain sets.
class AvailabilityProperty : public DirectoryFixture {
 protected:
  static std::string HostOf(int i) { return "10.0.0." + std::to_string(i + 1); }
  static std::string AddressOf(int i) { return HostOf(i) + ":20880"; }
  static std::string RegionOf(int i) { return i % 3 == 0 ? "hz" : i % 3 == 1 ? "sh" : "bj"; }

  std::string RandomRule() {
    static const char* const kThen[] = {"region=hz", "region!=hz", "region=sh,bj", "host=10.0.0.1,10.0.0.2,10.0.0.3",
                                        "host=10.0.0.*", "region=nowhere", "host=10.0.0.4"};
    static const char* const kWhen[] = {"", "method=get ", "application=shop ", "application=other "};
    return std::string(kWhen[random_.Below(4)]) + "=> " + kThen[random_.Below(7)];
  }

  void NewRules() {
    rules_.clear();
    std::vector<Url> urls;
    for (std::uint64_t i = random_.Below(4); i > 0; --i) {
      const bool force = random_.Below(2) == 0;
      const std::string rule = RandomRule();
      // Equal rules are one url and one link; here each is its own.
      if (std::any_of(rules_.begin(), rules_.end(), [&](const SlowCondition& one) { return one.rule == rule; })) continue;
      urls.push_back(RuleUrl(rule, force ? "force=true" : "force=false"));
      rules_.push_back({rule, force});
    }
    Rules(urls);
    executor_.RunReady();
  }

  // Dubbo's list(): the chain on the providers that are up, rule by rule.
  std::vector<std::string> SlowList(std::string_view method) {
    std::vector<int> left;
    for (int i = 0; i < count_; ++i) {
      if (up_[i]) left.push_back(i);
    }
    const Invocation none;
    for (const SlowCondition& rule : rules_) {
      if (left.empty()) break;
      std::vector<UrlParts> providers;
      for (const int i : left) providers.push_back(ProviderAt(HostOf(i) + "?region=" + RegionOf(i)).parts());
      const auto kept = rule.Route(handle_->consumer().parts(), providers, {method, none});
      if (!kept.has_value()) continue;
      std::vector<int> next;
      for (const std::size_t at : *kept) next.push_back(left[at]);
      left = next;
    }
    std::vector<std::string> addresses;
    for (const int i : left) addresses.push_back(AddressOf(i));
    return addresses;
  }

  void Flip(int i) {
    const std::string address = AddressOf(i);
    if (!up_[i]) {
      up_[i] = true;
      protocol_->unavailable.erase(address);
      if (random_.Below(3) > 0) {
        protocol_->reports.at(address).Up();
      } else {
        executor_.Advance(seconds(31));  // it says nothing: the next probe finds out
      }
      return;
    }
    protocol_->unavailable.insert(address);
    up_[i] = false;
    if (random_.Below(3) == 0) {
      // Three calls that cannot reach it, if any call is sent there at all.
      for (int calls = 0, tries = 0; calls < 3 && tries < 200; ++tries) {
        absl::StatusOr<Lease> lease = handle_->Select({});
        if (!lease.ok()) break;
        if (lease->As<FakeProtocol::FakeInvoker>().address() != address) continue;
        lease->End(absl::UnavailableError("refused"));
        if (++calls == 3) return;
      }
    }
    protocol_->reports.at(address).Down();
  }

  // No pick may return one that is down while another of the same leaf is up, whatever the tables know.
  void CheckPicks(std::string_view method, MethodId id) {
    const std::vector<std::string> leaf = ListAddresses({.method = id});
    std::set<std::string> live;
    for (int i = 0; i < count_; ++i) {
      if (up_[i] && std::find(leaf.begin(), leaf.end(), AddressOf(i)) != leaf.end()) live.insert(AddressOf(i));
    }
    for (int i = 0; i < 12; ++i) {
      const std::string picked = PickAddress({.method = id});
      if (!live.empty()) {
        ASSERT_TRUE(live.contains(picked)) << method << " went to " << picked;
      }
    }
  }

  Random random_{0};
  int count_ = 0;
  bool up_[kMostProviders] = {};
  std::vector<SlowCondition> rules_;
};

TEST_F(AvailabilityProperty, TheListEqualsTheChainOnWhatIsUpAfterEachReplan) {
  int emptied = 0, narrowed = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    random_ = Random(seed * 7919);
    protocol_->unavailable.clear();
    Start("consumer://10.0.0.9/com.acme.Orders?application=shop&down.after=3" +
          std::string(seed % 2 == 0 ? "&loadbalance=roundrobin" : ""));
    count_ = 1 + static_cast<int>(random_.Below(kMostProviders));
    std::vector<std::string> list;
    for (int i = 0; i < count_; ++i) {
      list.push_back(HostOf(i) + "?region=" + RegionOf(i));
      up_[i] = true;
    }
    Open(list);
    const MethodId get = handle_->Method("get");
    NewRules();
    for (int step = 0; step < 60; ++step) {
      for (std::uint64_t flips = 1 + random_.Below(3); flips > 0; --flips) {
        Flip(static_cast<int>(random_.Below(static_cast<std::uint64_t>(count_))));
      }
      if (random_.Below(20) == 0) NewRules();
      CheckPicks("", {});
      executor_.Advance(milliseconds(static_cast<int>(random_.Below(12))));
      CheckPicks("get", get);
      executor_.Advance(milliseconds(11));
      for (const auto& [name, id] : {std::pair<const char*, MethodId>{"", MethodId::kAny}, {"get", get}}) {
        const std::vector<std::string> expected = SlowList(name);
        ASSERT_EQ(ListAddresses({.method = id}), expected) << "method " << name << ", step " << step;
        emptied += expected.empty();
        narrowed += !expected.empty() && expected.size() < static_cast<std::size_t>(count_);
        const absl::StatusOr<Lease> lease = handle_->Select({.method = id});
        ASSERT_EQ(lease.ok(), !expected.empty()) << lease.status();
        if (lease.ok()) {
          ASSERT_THAT(expected, ::testing::Contains(lease->As<FakeProtocol::FakeInvoker>().address()));
        }
      }
    }
  }
  EXPECT_GT(emptied, 300);
  EXPECT_GT(narrowed, 1000);
}

// The dead one's share goes to all survivors by their weights, not to its neighbour: before the re-plan, when picks
// draw around it, and after.
TEST_F(AvailabilityProperty, SurvivorsShareByTheirWeights) {
  constexpr int kPicks = 40000;
  for (const char* policy : {"random", "roundrobin", "leastactive"}) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      SCOPED_TRACE(std::string(policy) + " " + std::to_string(seed));
      random_ = Random(seed);
      protocol_->unavailable.clear();
      Start("consumer://10.0.0.9/com.acme.Orders?loadbalance=" + std::string(policy));
      const int count = 4 + static_cast<int>(random_.Below(5));
      std::vector<std::string> list;
      std::map<std::string, double> weights;
      double total = 0;
      for (int i = 0; i < count; ++i) {
        const auto weight = static_cast<int>(1 + random_.Below(100));
        list.push_back(HostOf(i) + "?weight=" + std::to_string(weight));
        weights[AddressOf(i)] = weight;
        total += weight;
      }
      Open(list);
      // A third of them, neighbours in the list, at the most half of the weight.
      double dead = 0;
      for (int i = count / 3; i < 2 * count / 3; ++i) {
        const double weight = weights[AddressOf(i)];
        if ((dead + weight) * 2 > total) continue;
        dead += weight;
        weights.erase(AddressOf(i));
        protocol_->unavailable.insert(AddressOf(i));
        protocol_->reports.at(AddressOf(i)).Down();
      }
      ASSERT_GT(dead, 0);
      for (const bool replanned : {false, true}) {
        SCOPED_TRACE(replanned ? "after the re-plan" : "before the re-plan");
        const std::map<std::string, int> shares = Shares(kPicks);
        ASSERT_EQ(shares.size(), weights.size());
        // Five draws in a row may meet the dead; then every survivor has the same chance.
        const double lost = replanned ? 0 : std::pow(dead / total, 5);
        for (const auto& [address, weight] : weights) {
          const double share = weight / (total - dead), even = 1.0 / static_cast<double>(weights.size());
          const double sigma = std::sqrt(share * (1 - share) / kPicks);
          EXPECT_NEAR(shares.at(address) / double(kPicks), share * (1 - lost) + even * lost, 5 * sigma + lost / 2)
              << address << " of weight " << weight;
        }
        executor_.Advance(milliseconds(11));
      }
    }
  }
}

// Consistent hash: what the dead one had goes on round the ring, and nothing else moves.
TEST_F(AvailabilityProperty, OnlyTheKeysOfTheDeadMoveAndTheyComeBack) {
  Start("consumer://10.0.0.9/com.acme.Orders?loadbalance=consistenthash");
  std::vector<std::string> list;
  for (int i = 0; i < kMostProviders; ++i) list.push_back(HostOf(i));
  Open(list);
  const auto owners = [&] {
    std::vector<std::string> all;
    Random keys(5);
    for (int i = 0; i < 3000; ++i) all.push_back(PickAddress({.hash_key = static_cast<std::uint32_t>(keys.Next())}));
    return all;
  };
  const std::vector<std::string> before = owners();
  protocol_->unavailable = {AddressOf(4)};
  protocol_->reports.at(AddressOf(4)).Down();
  const std::vector<std::string> drawn_around = owners();
  executor_.Advance(milliseconds(11));
  const std::vector<std::string> replanned = owners();
  std::set<std::string> heirs;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == AddressOf(4)) {
      ASSERT_NE(drawn_around[i], AddressOf(4));
      ASSERT_NE(replanned[i], AddressOf(4));
      heirs.insert(replanned[i]);
    } else {
      ASSERT_EQ(drawn_around[i], before[i]);
      ASSERT_EQ(replanned[i], before[i]);
    }
  }
  EXPECT_GE(heirs.size(), 6u) << "no neighbour inherits it all";
  protocol_->reports.at(AddressOf(4)).Up();
  executor_.Advance(milliseconds(11));
  EXPECT_EQ(owners(), before);
}

}  // namespace
}  // namespace fairlead
