#include "fairlead/loadbalance/smooth_schedule.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

std::string Letters(const SmoothSchedule& schedule, std::size_t picks) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t i = 0; i < picks; ++i) {
    text += static_cast<char>('a' + schedule.steps()[at]);
    at = at + 1 == schedule.steps().size() ? schedule.loop() : at + 1;
  }
  return text;
}

std::optional<SmoothSchedule> Make(const std::vector<std::int32_t>& weights, std::size_t cap = 4096) {
  return SmoothSchedule::Make(SmoothAutomaton(weights), cap);
}

TEST(SmoothScheduleTest, KnownOrders) {
  EXPECT_EQ(Letters(*Make({5, 1, 1}), 14), "aabacaaaabacaa");
  EXPECT_EQ(Letters(*Make({1, 2, 3}), 12), "cbacbccbacbc");
  EXPECT_EQ(Letters(*Make({4, 2, 1}), 7), "abacaba");
  EXPECT_EQ(Letters(*Make({100, 100, 100}), 6), "abcabc");
  EXPECT_EQ(Letters(*Make({0, 1, 1}), 4), "bcbc");
  EXPECT_EQ(Letters(*Make({0, 0}), 4), "aaaa");
  EXPECT_EQ(Letters(*Make({7}), 3), "aaa");
}

TEST(SmoothScheduleTest, TheLoopHasTheReducedSumOfWeightsAsLength) {
  EXPECT_EQ(Make({100, 50, 150})->period(), 6u);
  EXPECT_EQ(Make({5, 1, 1})->period(), 7u);
  EXPECT_EQ(Make({0, 0, 0})->period(), 1u);
  EXPECT_EQ(Make({100, 50, 150})->loop(), 0u);
}

TEST(SmoothScheduleTest, TheCapCountsStepsUnlessWeightsAreEqual) {
  EXPECT_FALSE(Make({4096, 1}));
  EXPECT_EQ(Make({4095, 1})->period(), 4096u);
  EXPECT_EQ(Make(std::vector<std::int32_t>(10000, 100))->period(), 10000u);
  EXPECT_FALSE(Make({2147483647, 2147483646, 2147483645}));
}

// The automaton goes on for ever; the schedule must say what it picks at every step.
void ExpectFollows(SmoothAutomaton automaton, std::size_t picks) {
  const auto schedule = SmoothSchedule::Make(automaton, 4096);
  ASSERT_TRUE(schedule);
  std::size_t at = 0;
  for (std::size_t i = 0; i < picks; ++i) {
    ASSERT_EQ(schedule->steps()[at], automaton.Step()) << i;
    at = at + 1 == schedule->steps().size() ? schedule->loop() : at + 1;
  }
}

TEST(SmoothScheduleTest, FollowsTheAutomatonFromAnyCredits) {
  Random random(17);
  for (int round = 0; round < 300; ++round) {
    const std::size_t n = 1 + random.Below(8);
    std::vector<std::int32_t> weights(n);
    std::vector<std::uint32_t> account_of(n);
    std::vector<SmoothAutomaton::Account> accounts(n);
    for (std::size_t i = 0; i < n; ++i) {
      weights[i] = static_cast<std::int32_t>(random.Below(30));
      // Sometimes two members are one identity.
      account_of[i] = static_cast<std::uint32_t>(random.Below(6) == 0 ? random.Below(i + 1) : i);
      accounts[i] = {random.Below(4) == 0 ? 3 : weights[i], static_cast<std::int64_t>(random.Below(120)) - 60};
    }
    ExpectFollows(SmoothAutomaton(weights, account_of, accounts), 3000);
  }
}

TEST(SmoothScheduleTest, AChangedWeightStartsItsAccountAnew) {
  SmoothAutomaton automaton({2, 2}, {0, 1}, {{1, 50}, {2, 0}});
  EXPECT_FALSE(automaton.IsFresh());
  EXPECT_EQ(automaton.Step(), 0u);
  EXPECT_EQ(automaton.accounts()[0].credit, -2) << "gained 2 from 0, paid 4";
  EXPECT_EQ(automaton.Step(), 1u);
}

TEST(SmoothScheduleTest, InEveryLoopEachMemberHasItsTurns) {
  Random random(23);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::int32_t> weights(2 + random.Below(10));
    std::int64_t sum = 0, divisor = 0;
    for (std::int32_t& weight : weights) {
      weight = static_cast<std::int32_t>(random.Below(60));
      sum += weight;
      divisor = std::gcd(divisor, static_cast<std::int64_t>(weight));
    }
    if (sum == 0) continue;
    const auto schedule = Make(weights);
    ASSERT_TRUE(schedule);
    std::vector<std::int64_t> turns(weights.size());
    for (const std::uint32_t member : schedule->steps()) ++turns[member];
    for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_EQ(turns[i], weights[i] / divisor);
  }
}

}  // namespace
}  // namespace fairlead
