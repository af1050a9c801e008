#include "fairlead/loadbalance/alias_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace fairlead {
namespace {

// The exact mass that the columns give each value, in units of the whole.
std::map<std::uint32_t, long double> Mass(const AliasTable& table) {
  std::map<std::uint32_t, long double> mass;
  const long double column = 1.0L / static_cast<long double>(table.columns().size());
  for (const AliasTable::Column& at : table.columns()) {
    const long double first = static_cast<long double>(at.keep) / 18446744073709551616.0L;
    mass[at.values[0]] += column * first;
    mass[at.values[1]] += column * (1 - first);
  }
  return mass;
}

void ExpectShares(const std::vector<std::int32_t>& weights) {
  std::vector<std::uint32_t> values(weights.size());
  std::iota(values.begin(), values.end(), 1000u);
  const AliasTable table(values, weights);
  ASSERT_EQ(table.columns().size(), weights.size());
  long double total = 0;
  for (const std::int32_t weight : weights) total += weight;
  auto mass = Mass(table);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const long double share = total == 0 ? 1.0L / static_cast<long double>(weights.size()) : weights[i] / total;
    EXPECT_NEAR(static_cast<double>(mass[values[i]]), static_cast<double>(share), 1e-15) << i;
  }
}

TEST(AliasTableTest, EveryValueHasItsShare) {
  ExpectShares({1});
  ExpectShares({0, 5});
  ExpectShares({1, 2, 3});
  ExpectShares({100, 100, 100});
  ExpectShares({0, 0, 0});
  ExpectShares({2147483647, 1, 2147483647, 0});
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int32_t> weights(1 + random.Below(60));
    for (std::int32_t& weight : weights) {
      weight = static_cast<std::int32_t>(random.Below(4) == 0 ? random.Below(2147483648u) : random.Below(200));
    }
    ExpectShares(weights);
  }
}

TEST(AliasTableTest, AValueWithoutWeightIsNeverPicked) {
  const std::vector<std::uint32_t> values{7, 8, 9};
  const std::vector<std::int32_t> weights{5, 0, 1};
  const AliasTable table(values, weights);
  Random random(1);
  for (int i = 0; i < 100000; ++i) ASSERT_NE(table.Pick(random.Next()), 8u);
  ASSERT_NE(table.Pick(0), 8u);
  ASSERT_NE(table.Pick(~std::uint64_t{0}), 8u);
}

TEST(AliasTableTest, DrawsFollowTheMass) {
  const std::vector<std::uint32_t> values{0, 1, 2};
  const std::vector<std::int32_t> weights{1, 3, 6};
  const AliasTable table(values, weights);
  Random random(11);
  constexpr int kDraws = 300000;
  std::vector<int> counts(3);
  for (int i = 0; i < kDraws; ++i) ++counts[table.Pick(random.Next())];
  for (std::size_t i = 0; i < 3; ++i) {
    const double share = weights[i] / 10.0;
    EXPECT_NEAR(counts[i], kDraws * share, 4 * std::sqrt(kDraws * share * (1 - share))) << i;
  }
}

}  // namespace
}  // namespace fairlead
