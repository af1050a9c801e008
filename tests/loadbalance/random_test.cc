#include "fairlead/loadbalance/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fairlead/tests/support/member_list.h"

namespace fairlead {
namespace {

constexpr int kDraws = 200000;

// Both ways of drawing, table and scan, against the shares; five standard deviations.
void ExpectShares(const SelectorInput& input, const std::vector<double>& shares) {
  const auto policy = MakeRandomLoadBalance();
  const auto selector = *policy->Build(input, nullptr);
  Random random(101);
  PickContext context{random};
  std::vector<int> table(shares.size()), scan(shares.size());
  for (int i = 0; i < kDraws; ++i) {
    ++table.at(selector->Select({}, context));
    ++scan.at(*policy->SelectUnplanned(input, {}, context));
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double tolerance = 5 * std::sqrt(kDraws * shares[i] * (1 - shares[i]));
    EXPECT_NEAR(table[i], kDraws * shares[i], tolerance) << i;
    EXPECT_NEAR(scan[i], kDraws * shares[i], tolerance) << i;
  }
}

TEST(RandomLoadBalanceTest, SharesFollowWeights) {
  const MemberList members(std::vector<std::int32_t>{1, 3, 0, 6});
  ExpectShares(members.Input(), {0.1, 0.3, 0, 0.6});
}

TEST(RandomLoadBalanceTest, EqualOrNoWeightsAreUniform) {
  const MemberList equal(std::vector<std::int32_t>{7, 7, 7, 7}), none(std::vector<std::int32_t>{0, 0, 0, 0});
  ExpectShares(equal.Input(), {0.25, 0.25, 0.25, 0.25});
  ExpectShares(none.Input(), {0.25, 0.25, 0.25, 0.25});
}

TEST(RandomLoadBalanceTest, StrictLooksOnlyAtTheFirstToSeeWhetherWeightsCount) {
  const std::string plain = "dubbo://10.0.0.1:1/a.B", heavy = "dubbo://10.0.0.2:1/a.B?weight=300";
  const MemberList plain_first({plain, heavy}, ""), heavy_first({heavy, plain}, "");
  ExpectShares(plain_first.Input(), {0.5, 0.5});
  ExpectShares(heavy_first.Input(), {0.75, 0.25});
  SelectorInput fixed = plain_first.Input();
  fixed.compat = Compat::kFixed;
  ExpectShares(fixed, {0.25, 0.75});
}

TEST(RandomLoadBalanceTest, AMethodsWeightOrATimestampCountsToo) {
  const std::string heavy = "dubbo://10.0.0.2:1/a.B?weight=300";
  const MemberList by_method({"dubbo://10.0.0.1:1/a.B?find.weight=100", heavy}, "find");
  ExpectShares(by_method.Input("find"), {0.25, 0.75});
  const MemberList other({"dubbo://10.0.0.1:1/a.B?find.weight=100", heavy}, "save");
  ExpectShares(other.Input("save"), {0.5, 0.5});
  const MemberList dated({"dubbo://10.0.0.1:1/a.B?timestamp=5", heavy}, "");
  ExpectShares(dated.Input(), {0.25, 0.75});
}

TEST(RandomLoadBalanceTest, DescribesItself) {
  const MemberList members(std::vector<std::int32_t>{1, 3, 6}), alike(std::vector<std::int32_t>{2, 2});
  EXPECT_EQ((*MakeRandomLoadBalance()->Build(members.Input(), nullptr))->Describe(),
            "random, 3 providers, total weight 10");
  EXPECT_EQ((*MakeRandomLoadBalance()->Build(alike.Input(), nullptr))->Describe(), "random, 2 providers alike");
}

}  // namespace
}  // namespace fairlead
