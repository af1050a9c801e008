#include "fairlead/base/backoff.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

using std::chrono::milliseconds;

constexpr int kDraws = 2000;

struct Range {
  milliseconds low = milliseconds::max(), high = milliseconds::min();
};

// What attempt `k` waits over many seeds.
Range RangeOfAttempt(int k, milliseconds floor, milliseconds base, milliseconds cap) {
  Range range;
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    Backoff backoff(floor, base, cap);
    Random random(Mix64(seed));
    milliseconds wait{};
    for (int i = 0; i <= k; ++i) wait = backoff.Next(random);
    range = {std::min(range.low, wait), std::max(range.high, wait)};
  }
  return range;
}

TEST(Backoff, DoublesTheWindowUpToTheCap) {
  const milliseconds floor(10), base(20), cap(100);
  const milliseconds expected[] = {milliseconds(20), milliseconds(40), milliseconds(80), cap, cap};
  for (int k = 0; k < 5; ++k) {
    const Range range = RangeOfAttempt(k, floor, base, cap);
    // 2 000 draws miss an end of at most 91 values with probability below 1e-9.
    EXPECT_EQ(range.low, floor) << k;
    EXPECT_EQ(range.high, expected[k]) << k;
  }
}

TEST(Backoff, ReachesACapFarAboveTheBase) {
  const milliseconds cap = std::chrono::hours(24);
  Backoff backoff(milliseconds(0), milliseconds(1), cap);
  Random random(1);
  for (int i = 0; i < 40; ++i) backoff.Next(random);
  milliseconds longest(0);
  for (int i = 0; i < 1000; ++i) longest = std::max(longest, backoff.Next(random));
  EXPECT_GT(longest, cap * 9 / 10);
  EXPECT_LE(longest, cap);
}

TEST(Backoff, HugeBaseDoesNotOverflow) {
  const milliseconds cap = milliseconds::max() - milliseconds(1);
  Backoff backoff(milliseconds(0), milliseconds::max() / 3, cap);
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const milliseconds wait = backoff.Next(random);
    EXPECT_GE(wait, milliseconds(0));
    EXPECT_LE(wait, cap);
  }
}

TEST(Backoff, CapBelowBaseAndFloorAboveCap) {
  EXPECT_EQ(RangeOfAttempt(0, milliseconds(0), milliseconds(1000), milliseconds(50)).high, milliseconds(50));
  const Range constant = RangeOfAttempt(3, milliseconds(70), milliseconds(10), milliseconds(50));
  EXPECT_EQ(constant.low, milliseconds(70));
  EXPECT_EQ(constant.high, milliseconds(70));
}

TEST(Backoff, ResetStartsOver) {
  Backoff backoff(milliseconds(0), milliseconds(5), milliseconds(1000));
  Random random(3);
  EXPECT_EQ(backoff.attempts(), 0);
  for (int i = 0; i < 10; ++i) backoff.Next(random);
  EXPECT_EQ(backoff.attempts(), 10);
  backoff.Reset();
  EXPECT_EQ(backoff.attempts(), 0);
  EXPECT_LE(backoff.Next(random), milliseconds(5));
}

TEST(Backoff, SameSeedSameWaits) {
  Random one(9), other(9);
  Backoff a(milliseconds(1), milliseconds(100), milliseconds(5000));
  Backoff b = a;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(a.Next(one), b.Next(other));
}

TEST(Backoff, OfARegistrysOperationsStaysInItsBounds) {
  for (const milliseconds period : {milliseconds(1), milliseconds(199), milliseconds(1000), milliseconds(5000),
                                    milliseconds(60'000), milliseconds(90'000), milliseconds(2'147'483'647)}) {
    Random random(Mix64(static_cast<std::uint64_t>(period.count())));
    for (int life = 0; life < 300; ++life) {
      Backoff backoff = RetryBackoff(period);
      milliseconds longest = period;
      for (int k = 0; k < 30; ++k) {
        const milliseconds wait = backoff.Next(random);
        EXPECT_GE(wait, milliseconds(200));
        EXPECT_LE(wait, std::max(longest, milliseconds(200))) << "attempt " << k << " of period " << period.count();
        longest = std::min(longest * 2, std::max(period, milliseconds(60'000)));
      }
    }
  }
}

TEST(Backoff, OfARegistrysOperationsUsesItsWholeRange) {
  Random random(1);
  for (int k = 0; k < 6; ++k) {
    const milliseconds longest = std::min(milliseconds(5000) * (1 << k), milliseconds(60'000));
    milliseconds low = longest, high(0);
    for (int draw = 0; draw < kDraws; ++draw) {
      Backoff backoff = RetryBackoff(milliseconds(5000));
      for (int i = 0; i < k; ++i) backoff.Next(random);
      const milliseconds wait = backoff.Next(random);
      low = std::min(low, wait);
      high = std::max(high, wait);
    }
    EXPECT_LT(low, milliseconds(200) + longest / 50) << k;
    EXPECT_GT(high, longest - longest / 50) << k;
  }
}

}  // namespace
}  // namespace fairlead
