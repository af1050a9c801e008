#include "fairlead/loadbalance/round_robin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/tests/support/member_list.h"

namespace fairlead {
namespace {

using SelectorPtr = std::shared_ptr<const Selector>;

class RoundRobinTest : public ::testing::Test {
 protected:
  SelectorPtr Build(const SelectorInput& input, const SelectorPtr& replaced = nullptr) {
    return *policy_->Build(input, replaced.get());
  }
  Slot Pick(const SelectorPtr& selector, std::uint32_t thread = 0, bool peek = false) {
    Random copy = random_;
    PickContext context{peek ? copy : random_, thread, peek};
    return selector->Select({}, context);
  }
  std::string Picks(const SelectorPtr& selector, int n, std::uint32_t thread = 0) {
    std::string text;
    for (int i = 0; i < n; ++i) text += static_cast<char>('a' + Pick(selector, thread));
    return text;
  }
  // A generator whose first number is 0, so that the thread that draws it begins with the first step.
  static constexpr Random FirstDrawIsZero() { return Random(0 - std::uint64_t{0xa0761d6478bd642f}); }

  const std::shared_ptr<const LoadBalance> policy_ = MakeRoundRobinLoadBalance();
  Random random_ = FirstDrawIsZero();
};

TEST_F(RoundRobinTest, TheFixturesFirstDrawIsZero) { EXPECT_EQ(random_.Next(), 0u); }

using Weights = std::vector<std::int32_t>;

TEST_F(RoundRobinTest, EveryMethodHasAPositionOfItsOwn) { EXPECT_TRUE(policy_->per_method()); }

TEST_F(RoundRobinTest, AThreadFollowsDubbosOrderFromARandomStep) {
  const MemberList members(Weights{5, 1, 1});
  EXPECT_EQ(Picks(Build(members.Input()), 14), "aabacaaaabacaa");
  std::map<std::string, int> seen;
  for (int i = 0; i < 70; ++i) ++seen[Picks(Build(members.Input()), 7)];
  const std::string twice = "aabacaaaabacaa";
  for (const auto& [text, count] : seen) EXPECT_NE(twice.find(text), std::string::npos) << text;
  EXPECT_EQ(seen.size(), 7u) << "every step is a beginning";
}

TEST_F(RoundRobinTest, ThreadsWalkTheSameLoopFromDifferentSteps) {
  const MemberList members(Weights(100, 1));
  const SelectorPtr selector = Build(members.Input());
  std::map<Slot, int> starts;
  for (std::uint32_t thread = 4; thread < 60; ++thread) {
    const Slot start = Pick(selector, thread);
    ++starts[start];
    EXPECT_EQ(Pick(selector, thread), (start + 1) % 100);
  }
  EXPECT_GT(starts.size(), 30u);
}

TEST_F(RoundRobinTest, PhasesFollowTheThreadsGenerators) {
  const MemberList members(Weights(1000, 1));
  const SelectorPtr one = Build(members.Input()), other = Build(members.Input());
  int differ = 0;
  for (std::uint32_t thread = 0; thread < 10; ++thread) {
    random_ = Random(thread);
    const Slot start = Pick(one, thread);
    random_ = Random(thread);
    EXPECT_EQ(Pick(other, thread), start);
    differ += Pick(Build(members.Input()), thread) != start;
  }
  EXPECT_GE(differ, 8);
}

TEST_F(RoundRobinTest, APeekMovesNothing) {
  const MemberList members(Weights{5, 1, 1});
  for (const char* scope : {"", "&roundrobin.scope=global"}) {
    const SelectorPtr selector = Build(members.Input("", scope));
    for (const char expected : std::string("aabacaa")) {
      for (int i = 0; i < 3; ++i) EXPECT_EQ(Pick(selector, 0, true), static_cast<Slot>(expected - 'a'));
      EXPECT_EQ(Pick(selector), static_cast<Slot>(expected - 'a'));
    }
    EXPECT_EQ(Pick(selector, 9, true), Pick(selector, 9)) << "a thread's first pick too";
  }
}

TEST_F(RoundRobinTest, GlobalScopeIsOneOrderForAllThreads) {
  const MemberList members(Weights{5, 1, 1});
  const SelectorPtr selector = Build(members.Input("", "&roundrobin.scope=global"));
  std::string text;
  for (std::uint32_t i = 0; i < 14; ++i) text += static_cast<char>('a' + Pick(selector, i * 7 % 5));
  EXPECT_EQ(text, "aabacaaaabacaa");
}

// Fifty threads, a whole number of loops each: exact whatever their phases and however they interleave.
TEST_F(RoundRobinTest, FiftyThreadsOfThirtyPicksAreExact) {
  const MemberList members(Weights(10, 100));
  for (const char* scope : {"", "&roundrobin.scope=global"}) {
    const SelectorPtr selector = Build(members.Input("", scope));
    std::vector<std::atomic<int>> counts(10);
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 0; thread < 50; ++thread) {
      threads.emplace_back([&, thread] {
        Random random(thread);
        PickContext context{random, thread};
        for (int i = 0; i < 30; ++i) ++counts[selector->Select({}, context)];
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(counts[i], 150) << i << scope;
  }
}

TEST_F(RoundRobinTest, WeightedLoopsAreExactForEveryThread) {
  const MemberList members(Weights{4, 2, 1, 0, 3});
  const SelectorPtr selector = Build(members.Input());
  for (std::uint32_t thread = 0; thread < 20; ++thread) {
    std::vector<int> counts(5);
    for (int i = 0; i < 30; ++i) ++counts[Pick(selector, thread)];
    EXPECT_EQ(counts, (std::vector<int>{12, 6, 3, 0, 9})) << thread;
  }
}

TEST_F(RoundRobinTest, AllWeightsZeroIsTheFirstAlways) {
  const MemberList members(Weights{0, 0, 0});
  EXPECT_EQ(Picks(Build(members.Input()), 4), "aaaa");
  PickContext context{random_};
  EXPECT_EQ(*policy_->SelectUnplanned(members.Input(), {}, context), 0u);
}

TEST_F(RoundRobinTest, LongLoopsKeepTheSharesClosely) {
  const Weights weights{10007, 5003, 2, 1, 7919};
  const MemberList members(weights);
  const double total = 10007 + 5003 + 2 + 1 + 7919;
  for (const char* scope : {"", "&roundrobin.scope=global"}) {
    const SelectorPtr selector = Build(members.Input("", scope));
    EXPECT_THAT(selector->Describe(), ::testing::HasSubstr("low-discrepancy"));
    for (const std::uint32_t thread : {0u, 1u}) {
      std::vector<int> counts(5);
      for (int i = 0; i < 50000; ++i) ++counts[Pick(selector, thread)];
      for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(counts[i], 50000 * weights[i] / total, 4) << i;
    }
  }
}

TEST_F(RoundRobinTest, TheCapIsAParameter) {
  const MemberList members(Weights{5, 1, 1});
  using ::testing::HasSubstr;
  EXPECT_THAT(Build(members.Input("", "&roundrobin.cap=6"))->Describe(), HasSubstr("low-discrepancy"));
  EXPECT_THAT(Build(members.Input("", "&roundrobin.cap=7"))->Describe(), HasSubstr("7 turns"));
  EXPECT_THAT(Build(members.Input("", "&roundrobin.cap=many"))->Describe(), HasSubstr("7 turns"));
}

TEST_F(RoundRobinTest, TheSameListGoesOnForEveryThread) {
  const MemberList members(Weights{5, 1, 1});
  const SelectorInput input = members.Input();
  SelectorPtr selector = Build(input);
  std::vector<std::string> texts(5);
  for (int round = 0; round < 30; ++round) {
    for (std::uint32_t thread = 0; thread < 5; ++thread) texts[thread] += Picks(selector, 1, thread);
    selector = Build(input, selector);
  }
  for (const std::string& text : texts) {
    EXPECT_EQ(text.substr(7), text.substr(0, text.size() - 7)) << "a loop of seven, unbroken";
    EXPECT_NE(std::string("aabacaaaabacaa").find(text.substr(0, 7)), std::string::npos) << text;
  }
}

// Dubbo's own state, kept for ever, against a chain of selectors.
class Oracle {
 public:
  Slot Pick(const std::vector<std::pair<Slot, std::int32_t>>& members) {
    std::int64_t most = 0, sum = 0;
    Slot picked = kNoSlot;
    for (const auto& member : members) {
      const Slot slot = member.first;
      const std::int32_t weight = member.second;
      const auto at = state_.emplace(slot, std::pair<std::int32_t, std::int64_t>(weight, 0)).first;
      if (at->second.first != weight) at->second = {weight, 0};
      at->second.second += weight;
      sum += weight;
      if (picked == kNoSlot || at->second.second > most) {
        most = at->second.second;
        picked = slot;
      }
    }
    state_[picked].second -= sum;
    return picked;
  }

 private:
  std::map<Slot, std::pair<std::int32_t, std::int64_t>> state_;
};

TEST_F(RoundRobinTest, ExactAcrossChangesOfListWeightsAndOrder) {
  Random random(107);
  for (int life = 0; life < 60; ++life) {
    Oracle oracle;
    SelectorPtr selector;
    random_ = FirstDrawIsZero();
    const std::string scope = life % 2 == 0 ? "" : "&roundrobin.scope=global";
    for (int phase = 0; phase < 8; ++phase) {
      std::vector<std::pair<Slot, std::int32_t>> list;
      for (Slot slot = 0; slot < 8; ++slot) {
        if (random.Below(4) != 0) list.emplace_back(slot, static_cast<std::int32_t>(random.Below(12)));
      }
      if (list.empty()) continue;
      for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.Below(i)]);
      MemberList members;
      for (const auto& member : list) members.AddWeighted(member.first, member.second);
      selector = Build(members.Input("", scope), selector);
      const int picks = static_cast<int>(random.Below(60));
      for (int i = 0; i < picks; ++i) {
        ASSERT_EQ(Pick(selector, 5), oracle.Pick(list)) << life << ' ' << phase << ' ' << i;
      }
    }
  }
}

TEST_F(RoundRobinTest, AMemberThatComesBackWithinAMinuteFindsItsCredit) {
  const MemberList three(Weights{4, 4, 1});
  MemberList two;
  two.AddWeighted(0, 4);
  two.AddWeighted(1, 4);
  SelectorPtr selector = Build(three.Input());
  EXPECT_EQ(Picks(selector, 4), "abab") << "the next would be c";
  selector = Build(two.Input(), selector);
  EXPECT_EQ(Picks(selector, 4), "abab");
  SelectorInput back = three.Input();
  back.now_ms += 60'000;
  EXPECT_EQ(Picks(Build(back, selector), 1), "c");
  back.now_ms += 1;
  EXPECT_EQ(Picks(Build(back, selector), 1), "a");
}

TEST_F(RoundRobinTest, AStepOfTheWarmUpResetsOnlyInStrict) {
  const std::string warming = "dubbo://10.0.0.1:1/a.B?timestamp=", old = "dubbo://10.0.0.2:1/a.B";
  const auto members = [&](std::int64_t age) {
    return MemberList({warming + std::to_string(MemberList::kNowMs - age), old}, "");
  };
  const MemberList before = members(300'000), after = members(360'000);  // weights 50 and 60
  for (const Compat compat : {Compat::kStrict, Compat::kFixed}) {
    SelectorInput first = before.Input(), second = after.Input();
    first.compat = second.compat = compat;
    random_ = FirstDrawIsZero();
    SelectorPtr selector = Build(first);
    EXPECT_EQ(Picks(selector, 2), "ba") << "now a owes 50";
    selector = Build(second, selector);
    // Strict forgets the debt, fixed makes it 60.
    EXPECT_EQ(Picks(selector, 3), compat == Compat::kStrict ? "bab" : "bba");
  }
}

// Two urls of one identity share an account. When one of them leaves, the weight of the account changes, which is no
// step of a warm-up: nobody's debt may grow with it.
TEST_F(RoundRobinTest, AnIdentityThatLosesOneOfItsWeightsStartsAnewInBothModes) {
  MemberList twice, once;
  for (MemberList* list : {&twice, &once}) {
    list->Add("dubbo://10.0.0.1:1/a.B?weight=100", "", 0);
    list->Add("dubbo://10.0.0.2:1/a.B?weight=100", "", 1);
  }
  twice.Add("dubbo://10.0.0.1:1/a.B?weight=1", "", 2);
  std::string texts[2];
  for (const Compat compat : {Compat::kStrict, Compat::kFixed}) {
    SelectorInput first = twice.Input(), second = once.Input();
    first.compat = second.compat = compat;
    random_ = FirstDrawIsZero();
    SelectorPtr selector = Build(first);
    Picks(selector, 12);
    texts[compat == Compat::kFixed] = Picks(Build(second, selector), 6);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST_F(RoundRobinTest, ManyMembersGoOnAnywhereButAtTheFirst) {
  Weights weights(5000, 1);
  const MemberList before(weights);
  weights.pop_back();
  const MemberList after(weights);
  SelectorPtr selector = Build(before.Input());
  for (int i = 0; i < 1000; ++i) Pick(selector);
  selector = Build(after.Input(), selector);
  EXPECT_NE(Pick(selector), 0u);
}

TEST_F(RoundRobinTest, UnplannedPicksFollowTheWeights) {
  const MemberList members(Weights{1, 3, 0});
  PickContext context{random_};
  std::vector<int> counts(3);
  for (int i = 0; i < 40000; ++i) ++counts[*policy_->SelectUnplanned(members.Input(), {}, context)];
  EXPECT_NEAR(counts[0], 10000, 450);
  EXPECT_EQ(counts[2], 0);
}

}  // namespace
}  // namespace fairlead
