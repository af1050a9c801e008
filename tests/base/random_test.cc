#include "fairlead/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace fairlead {
namespace {

TEST(Mix64, KnownValues) {
  static_assert(Mix64(0) == 0xe220a8397b1dcdafu);
  EXPECT_EQ(Mix64(1), 0x910a2dec89025cc1u);
  EXPECT_EQ(Mix64(std::numeric_limits<std::uint64_t>::max()), 0xe4d971771b652c20u);
}

TEST(Random, TheSequenceOfASeedNeverChanges) {
  Random zero;
  for (const std::uint64_t expected :
       {0x111cb3a78f59a58eu, 0xceabd938ff4e856du, 0x61fb51318f47d2a4u, 0x78bd03c491909760u}) {
    EXPECT_EQ(zero.Next(), expected);
  }
  Random seeded(42);
  for (const std::uint64_t expected :
       {0xae4a7cbfdda9b434u, 0xe9cc09d33d38d9d2u, 0xcb5756512b93433au, 0xeb29b2a1320e1a71u}) {
    EXPECT_EQ(seeded.Next(), expected);
  }
  Random below(42);
  for (const std::uint64_t expected : {6u, 9u, 7u, 9u, 3u, 9u, 2u, 0u, 8u, 4u, 1u, 9u}) {
    EXPECT_EQ(below.Below(10), expected);
  }
}

TEST(Random, BelowOneIsZeroAndBelowIsInRange) {
  Random random(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.Below(1), 0u);
  const std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  bool upper_half = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t drawn = random.Below(huge);
    EXPECT_LT(drawn, huge);
    upper_half |= drawn > huge / 2;
  }
  EXPECT_TRUE(upper_half);
}

double ChiSquare(const std::vector<int>& counts, double expected) {
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// The chi-square value of k cells has mean k - 1 and standard deviation sqrt(2 (k - 1)); five of these are
// allowed, and a value far below the mean would be as suspicious.
void ExpectUniform(const std::vector<int>& counts, int draws) {
  const double freedom = static_cast<double>(counts.size()) - 1;
  const double value = ChiSquare(counts, static_cast<double>(draws) / static_cast<double>(counts.size()));
  EXPECT_NEAR(value, freedom, 5 * std::sqrt(2 * freedom));
}

TEST(Random, BelowIsUniform) {
  for (const std::uint64_t n : {2u, 3u, 7u, 100u, 1000u}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      Random random(Mix64(seed));
      std::vector<int> counts(n);
      constexpr int kDraws = 200'000;
      for (int i = 0; i < kDraws; ++i) ++counts[random.Below(n)];
      ExpectUniform(counts, kDraws);
    }
  }
}

TEST(Random, NeighboursInTheSequenceAreIndependent) {
  Random random(11);
  constexpr int kDraws = 200'000;
  std::vector<int> pairs(16 * 16);
  std::uint64_t last = random.Below(16);
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t drawn = random.Below(16);
    ++pairs[last * 16 + drawn];
    last = drawn;
  }
  ExpectUniform(pairs, kDraws);
}

TEST(Random, FirstDrawsOfDerivedSeedsAreUniform) {
  std::vector<int> counts(100);
  constexpr int kSeeds = 200'000;
  for (int seed = 0; seed < kSeeds; ++seed)
    ++counts[Random(Mix64(static_cast<std::uint64_t>(seed))).Below(100)];
  ExpectUniform(counts, kSeeds);
}

TEST(Random, EveryBitIsFair) {
  Random random(13);
  constexpr int kDraws = 100'000;
  std::array<int, 64> ones{};
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t word = random.Next();
    for (std::size_t bit = 0; bit < 64; ++bit) ones[bit] += static_cast<int>(word >> bit & 1);
  }
  // Five standard deviations of a fair coin thrown 100 000 times.
  for (const int count : ones) EXPECT_NEAR(count, kDraws / 2, 5 * 158);
}

}  // namespace
}  // namespace fairlead
