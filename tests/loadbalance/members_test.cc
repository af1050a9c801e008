#include "fairlead/loadbalance/members.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fairlead/loadbalance/weighted_draw.h"
#include "fairlead/tests/support/chi_square.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/member_list.h"

namespace fairlead {
namespace {

// The same providers as a table, with a rank that is not the order of slots.
struct Tabled {
  explicit Tabled(const MemberList& members) {
    std::vector<Slot> ranks;
    for (const Member& member : members.members()) {
      table.providers.Set(member.slot, *member.provider);
      table.states.push_back(const_cast<InvokerState*>(member.state));
      table.weights.Set(member.slot, member.weight);
      ranks.insert(ranks.begin(), member.slot);
      all.Add(member.slot);
    }
    table.by_rank = SlotList(ranks);
  }
  Members Of(const InvokerSet& set, std::int32_t most_weight = 0, std::string_view method = {}) const {
    return Members(table, set, method, MemberList::kNowMs, most_weight);
  }
  InvokerTable table;
  InvokerSet all;
};

TEST(MembersTest, ReadsATableThroughASetByRank) {
  std::vector<std::string> urls;
  for (int i = 0; i < 200; ++i) {
    urls.push_back("dubbo://10.0.0." + std::to_string(i) + ":1/a.B?weight=" + std::to_string(i) + "&get.weight=" + std::to_string(i + 1000));
  }
  const MemberList list(urls, "");
  const Tabled tabled(list);
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    InvokerSet set;
    for (std::uint64_t i = 1 + random.Below(200); i > 0; --i) set.Add(static_cast<Slot>(random.Below(200)));
    const Members members = tabled.Of(set), of_get = tabled.Of(set, 7, "get");
    ASSERT_EQ(members.size(), set.count());
    EXPECT_EQ(of_get.most_weight(), 0) << "known of the table's weights only";
    std::vector<Slot> slots, any;
    for (const Member& member : members) {
      slots.push_back(member.slot);
      EXPECT_EQ(member.weight, static_cast<std::int32_t>(member.slot));
    EXPECT_TRUE(member.provider->Is(*list.members()[member.slot].provider));
      EXPECT_EQ(member.state, list.members()[member.slot].state);
    }
    for (const Member& member : of_get) EXPECT_EQ(member.weight, static_cast<std::int32_t>(member.slot) + 1000);
    EXPECT_EQ(members.front().slot, slots.front());
    EXPECT_TRUE(std::is_sorted(slots.rbegin(), slots.rend())) << "rank is against slots here";
    for (std::size_t k = 0; k < members.size(); ++k) any.push_back(members.InAnyOrder(k).slot);
    std::sort(any.begin(), any.end());
    std::sort(slots.begin(), slots.end());
    EXPECT_EQ(any, slots);
    std::vector<Slot> expected;
    set.ForEach([&](Slot slot) { expected.push_back(slot); });
    EXPECT_EQ(slots, expected);
  }
}

TEST(MembersTest, DrawsByWeightWhateverTheWeights) {
  const std::vector<std::vector<std::int32_t>> cases = {
      {1, 2, 3, 4}, {0, 5, 0, 5, 1}, {100}, {2000, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
  for (const std::vector<std::int32_t>& weights : cases) {
    const MemberList list(weights);
    const Tabled tabled(list);
    const std::int32_t most = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (const std::int32_t weight : weights) sum += weight;
    // The greatest weight may be that of somebody who is not in the set.
    for (const std::int32_t bound : {0, most, 100 * most}) {
      SCOPED_TRACE(bound);
      Random random(17);
      std::vector<double> counts(weights.size()), scanned(weights.size()), shares;
      for (const std::int32_t weight : weights) shares.push_back(weight / sum);
      for (int i = 0; i < Effort(100'000); ++i) {
        ++counts[DrawByWeight(tabled.Of(tabled.all, bound), random)->slot];
        ++scanned[DrawByWeight(list.members(), random)->slot];
      }
      EXPECT_TRUE(FollowShares(counts, shares));
      EXPECT_TRUE(FollowShares(scanned, shares));
    }
  }
}

TEST(MembersTest, WithoutAnyWeightNobodyIsDrawnByIt) {
  const MemberList list(std::vector<std::int32_t>{0, 0, 0});
  const Tabled tabled(list);
  Random random(3);
  for (const std::int32_t bound : {0, 10}) EXPECT_FALSE(DrawByWeight(tabled.Of(tabled.all, bound), random));
  std::vector<double> counts(3);
  for (int i = 0; i < 3000; ++i) ++counts[DrawAny(tabled.Of(tabled.all), random).slot];
  EXPECT_TRUE(FollowShares(counts, {1 / 3.0, 1 / 3.0, 1 / 3.0}));
}

}  // namespace
}  // namespace fairlead
