#include "fairlead/loadbalance/least_active.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fairlead/tests/support/member_list.h"

namespace fairlead {
namespace {

constexpr int kDraws = 100000;

// Holds leases until the end of a test.
class LeastActiveTest : public ::testing::Test {
 protected:
  void Occupy(MemberList& members, const std::vector<int>& active) {
    for (std::size_t i = 0; i < active.size(); ++i) {
      for (int lease = 0; lease < active[i]; ++lease) {
        ASSERT_TRUE(members.state(i).TryAcquire());
        held_.push_back(&members.state(i));
      }
    }
  }
  void TearDown() override {
    for (InvokerState* state : held_) state->Release();
  }
  std::vector<int> Counts(const SelectorInput& input, bool planned) {
    const auto policy = MakeLeastActiveLoadBalance();
    const auto selector = *policy->Build(input, nullptr);
    Random random(103);
    PickContext context{random};
    std::vector<int> counts(input.by_rank.size());
    for (int i = 0; i < kDraws; ++i) {
      ++counts.at(planned ? selector->Select({}, context) : *policy->SelectUnplanned(input, {}, context));
    }
    return counts;
  }
  void ExpectShares(const SelectorInput& input, const std::vector<double>& shares) {
    for (const bool planned : {true, false}) {
      const std::vector<int> counts = Counts(input, planned);
      for (std::size_t i = 0; i < shares.size(); ++i) {
        EXPECT_NEAR(counts[i], kDraws * shares[i], 5 * std::sqrt(kDraws * shares[i] * (1 - shares[i])))
            << i << (planned ? " planned" : " unplanned");
      }
    }
  }
  std::vector<InvokerState*> held_;
};

// The members must outlive the leases.
class LeastActiveListTest : public LeastActiveTest {
 protected:
  MemberList& Make(const std::vector<std::int32_t>& weights) { return lists_.emplace_back(weights); }
  std::deque<MemberList> lists_;
};

TEST_F(LeastActiveListTest, AUniqueMinimumWinsWhateverItsWeight) {
  MemberList& members = Make({100, 0, 100});
  Occupy(members, {2, 1, 3});
  ExpectShares(members.Input(), {0, 1, 0});
}

TEST_F(LeastActiveListTest, EqualsAreDrawnByWeight) {
  MemberList& members = Make({10, 30, 50, 60});
  Occupy(members, {1, 1, 2, 1});
  ExpectShares(members.Input(), {0.1, 0.3, 0, 0.6});
}

TEST_F(LeastActiveListTest, EqualsWithoutWeightAreAlike) {
  MemberList& members = Make({0, 0, 50, 0});
  Occupy(members, {0, 0, 2, 0});
  const double third = 1.0 / 3;
  ExpectShares(members.Input(), {third, third, 0, third});
}

TEST_F(LeastActiveListTest, OneWithoutWeightAmongEqualsIsNotPicked) {
  MemberList& first = Make({0, 5, 5});
  ExpectShares(first.Input(), {0, 0.5, 0.5});
  MemberList& last = Make({5, 5, 0});
  ExpectShares(last.Input(), {0.5, 0.5, 0});
}

TEST_F(LeastActiveListTest, SixteenAreScannedUnlessTold) {
  MemberList& sixteen = Make(std::vector<std::int32_t>(16, 100));
  std::vector<int> active(16, 5);
  active[9] = 4;
  Occupy(sixteen, active);
  EXPECT_EQ(Counts(sixteen.Input(), true)[9], kDraws);

  MemberList& seventeen = Make(std::vector<std::int32_t>(17, 100));
  active.push_back(5);
  Occupy(seventeen, active);
  // Two draws meet the only idle one with probability 1 - (16/17)^2.
  const double met = 1 - 16.0 * 16 / (17 * 17);
  for (const bool planned : {true, false}) {
    EXPECT_NEAR(Counts(seventeen.Input(), planned)[9], kDraws * met, 5 * std::sqrt(kDraws * met * (1 - met)));
    EXPECT_EQ(Counts(seventeen.Input("", "&leastactive.exact=17"), planned)[9], kDraws);
  }
}

TEST_F(LeastActiveListTest, LeasesThatComeAndGoAreSeen) {
  MemberList& members = Make({1, 1});
  const auto selector = *MakeLeastActiveLoadBalance()->Build(members.Input(), nullptr);
  Random random;
  PickContext context{random};
  ASSERT_TRUE(members.state(0).TryAcquire());
  EXPECT_EQ(selector->Select({}, context), 1u);
  ASSERT_TRUE(members.state(1).TryAcquire());
  members.state(0).Release();
  EXPECT_EQ(selector->Select({}, context), 0u);
  members.state(1).Release();
}

}  // namespace
}  // namespace fairlead
