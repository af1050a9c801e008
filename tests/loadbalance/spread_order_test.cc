#include "fairlead/loadbalance/spread_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

std::vector<std::uint32_t> Indices(std::size_t n) {
  std::vector<std::uint32_t> indices(n);
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

// The widest distance between a value's turns and its exact share, over all windows that begin anywhere in the run:
// the range of (turns so far - share so far).
double WidestDeviation(const std::vector<std::int32_t>& weights, std::uint64_t start, int picks) {
  const auto values = Indices(weights.size());
  const SpreadOrder order(values, weights);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> turns(weights.size()), low(weights.size()), high(weights.size());
  std::uint64_t position = start;
  const auto look = [&](std::size_t i, double steps) {
    const double ahead = turns[i] - steps * weights[i] / total;
    low[i] = std::min(low[i], ahead);
    high[i] = std::max(high[i], ahead);
  };
  for (int step = 0; step < picks; ++step) {
    const std::uint32_t value = order.At(position);
    // The extremes of a value are just before and just after its own turns.
    look(value, step);
    ++turns[value];
    look(value, step + 1);
    position = SpreadOrder::Next(position);
  }
  double widest = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    look(i, picks);
    widest = std::max(widest, high[i] - low[i]);
  }
  return widest;
}

TEST(SpreadOrderTest, AnyRunOfAMillionPicksIsWithinEightOfTheShare) {
  Random random(29);
  for (int round = 0; round < 6; ++round) {
    std::vector<std::int32_t> weights(10 + random.Below(3000));
    for (std::int32_t& weight : weights) weight = static_cast<std::int32_t>(random.Below(1000));
    EXPECT_LT(WidestDeviation(weights, random.Next(), 1'000'000), 8) << weights.size();
  }
  EXPECT_LT(WidestDeviation({4096, 1}, 0, 1'000'000), 8);
  EXPECT_LT(WidestDeviation({2147483647, 2147483646, 1}, 12345, 1'000'000), 8);
}

TEST(SpreadOrderTest, AValueWithoutWeightHasNoTurn) {
  const std::vector<std::int32_t> weights{0, 5000, 0, 1, 0};
  const auto values = Indices(weights.size());
  const SpreadOrder order(values, weights);
  for (int i = 0; i < 100000; ++i) {
    const std::uint32_t value = order.At(SpreadOrder::Nth(0, static_cast<std::uint64_t>(i)));
    ASSERT_TRUE(value == 1 || value == 3);
  }
  EXPECT_EQ(order.At(0), 1u);
  EXPECT_EQ(order.At(~std::uint64_t{0}), 3u);
}

// A linear walk over the exact bounds.
TEST(SpreadOrderTest, FindsTheIntervalOfEveryPosition) {
  Random random(31);
  for (const std::size_t n : {1, 2, 3, 7, 64, 1000}) {
    std::vector<std::int32_t> weights(n);
    for (std::int32_t& weight : weights) weight = static_cast<std::int32_t>(1 + random.Below(random.Below(8) == 0 ? 100000 : 3));
    const auto values = Indices(n);
    const SpreadOrder order(values, weights);
    const auto total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    for (int draw = 0; draw < 2000; ++draw) {
      const std::uint64_t position = random.Next();
      std::uint64_t sum = 0;
      std::uint32_t expected = 0;
      while (true) {
        sum += static_cast<std::uint64_t>(weights[expected]);
        if (position < (static_cast<internal::Uint128>(sum) << 64) / total) break;
        ++expected;
      }
      ASSERT_EQ(order.At(position), expected) << n;
    }
  }
}

}  // namespace
}  // namespace fairlead
