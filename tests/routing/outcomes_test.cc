#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fairlead/routing/router.h"
#include "fairlead/tests/support/chi_square.h"

namespace fairlead {
namespace {

InvokerSet Of(const std::vector<Slot>& slots) {
  InvokerSet set;
  for (const Slot slot : slots) set.Add(slot);
  return set;
}

TEST(OutcomesTest, OnlyWhatCameInIsKept) {
  const InvokerSet in = Of({1, 2, 3}), other = Of({3, 4}), none = Of({9});
  InvokerSet drawn;
  Random random;
  {
    Outcomes all(in);
    all.Keep(other);
    all.KeepAll();
    EXPECT_TRUE(all.KeepIfAny(other));
    EXPECT_FALSE(all.KeepIfAny(none));
    all.Keep(none);
    ASSERT_EQ(all.count(), 4u);
    EXPECT_EQ(all.splits()[0].set, Of({3}));
    EXPECT_EQ(all.splits()[1].set, in);
    EXPECT_EQ(all.splits()[2].set, Of({3}));
    EXPECT_TRUE(all.splits()[3].set.empty());
    all.Reset();
    EXPECT_EQ(all.count(), 0u);
  }
  Outcomes one(in, drawn, random, true);
  EXPECT_EQ(one.count(), 0u);
  EXPECT_FALSE(one.KeepIfAny(none));
  EXPECT_EQ(one.count(), 0u);
  EXPECT_TRUE(one.KeepIfAny(other));
  EXPECT_EQ(one.count(), 1u);
  EXPECT_EQ(one.drawn(), Of({3}));
  one.Note("a note");
  EXPECT_EQ(one.why(), "a note");
  one.Reset();
  EXPECT_EQ(one.why(), "");
  one.KeepAll();
  EXPECT_EQ(&one.drawn(), &in) << "nothing is copied";
  one.Reset();
  one.Keep(none);
  EXPECT_TRUE(one.drawn().empty());
}

TEST(OutcomesTest, NotesAreDroppedInPicksAndReasonsAreNot) {
  const InvokerSet in = Of({1});
  InvokerSet drawn;
  Random random;
  Outcomes outcomes(in, drawn, random, false);
  EXPECT_FALSE(outcomes.explained());
  outcomes.Note("a note");
  EXPECT_EQ(outcomes.why(), "");
  outcomes.Block("a reason");
  EXPECT_EQ(outcomes.why(), "a reason");
}

// Drawing while sets come gives what a draw among all of them would.
TEST(OutcomesTest, DrawsByWeight) {
  const InvokerSet in = Of({0, 1, 2, 3, 4});
  std::vector<InvokerSet> sets;
  for (Slot slot = 0; slot < 5; ++slot) sets.push_back(Of({slot}));
  const std::vector<std::vector<std::uint32_t>> cases = {
      {1, 1, 1, 1, 1}, {1, 2, 3, 4, 5}, {0, 1, 0, 7, 2}, {9, 0, 0, 0, 1}, {0, 0, 0, 0, 0}, {4294967295u, 4294967295u, 0, 0, 0}};
  for (const auto& weights : cases) {
    double sum = 0;
    for (const std::uint32_t weight : weights) sum += weight;
    std::vector<double> shares, counts(5);
    for (const std::uint32_t weight : weights) shares.push_back(sum == 0 ? 0.2 : weight / sum);
    Random random(23);
    InvokerSet drawn;
    for (int i = 0; i < 20'000; ++i) {
      Outcomes outcomes(in, drawn, random, false);
      for (std::size_t k = 0; k < sets.size(); ++k) outcomes.Add(weights[k], sets[k]);
      EXPECT_EQ(outcomes.count(), 5u);
      ++counts[outcomes.drawn().Nth(0)];
    }
    EXPECT_TRUE(FollowShares(counts, shares));
  }
}

TEST(OutcomesTest, KeepsUnions) {
  const InvokerSet in = Of({0, 1, 2, 3}), a = Of({0, 9}), b = Of({2});
  const InvokerSet* const both[] = {&a, &b};
  Outcomes all(in);
  all.Add(3, both);
  ASSERT_EQ(all.count(), 1u);
  EXPECT_EQ(all.splits()[0].weight, 3u);
  EXPECT_EQ(all.splits()[0].set, Of({0, 2}));
  InvokerSet drawn;
  Random random;
  Outcomes one(in, drawn, random, false);
  one.Add(1, both);
  EXPECT_EQ(one.drawn(), Of({0, 2}));
}

TEST(OutcomesTest, AReasonThatNobodyReadsIsNotMade) {
  class Blocking final : public RouteTable {
   public:
    std::uint32_t cases() const override { return 1; }
    RouteCase Classify(const RouteCall&) const override { return 0; }
    void Route(RouteCase, const InvokerSet&, Outcomes& out) const override {
      out.Block([this] { return "reason " + std::to_string(++made); });
    }
    std::string Describe(RouteCase) const override { return ""; }
    mutable int made = 0;
  } table;
  const InvokerSet in = Of({0, 1}), scope = Of({1});
  InvokerSet drawn, spare;
  Random random;
  Outcomes part(in, drawn, random, false, &spare);
  part.RouteWithin(scope, table, 0);
  EXPECT_EQ(part.drawn(), Of({0}));
  EXPECT_EQ(table.made, 0) << "the others stay, so nobody is told";
  Outcomes explained(in, drawn, random, true, &spare);
  explained.RouteWithin(scope, table, 0);
  EXPECT_EQ(explained.why(), "reason 1");
  Outcomes whole(in, drawn, random, false, &spare);
  whole.RouteWithin(in, table, 0);
  EXPECT_EQ(whole.count(), 0u);
  EXPECT_EQ(whole.why(), "reason 2") << "the error of the pick";
}

// The whole set is one of those to draw from.
TEST(OutcomesTest, DrawsAllOrAPart) {
  const InvokerSet in = Of({0, 1, 2}), part = Of({1});
  InvokerSet drawn;
  Random random(7);
  std::vector<double> counts(2);
  for (int i = 0; i < 10'000; ++i) {
    Outcomes outcomes(in, drawn, random, false);
    if (i % 2 == 0) {
      outcomes.Add(1, in);
      outcomes.Add(1, part);
    } else {
      EXPECT_TRUE(outcomes.KeepIfAny(part));
      outcomes.KeepAll();
    }
    ++counts[outcomes.drawn().count() == 1];
  }
  EXPECT_TRUE(FollowShares(counts, {0.5, 0.5}));
}

}  // namespace
}  // namespace fairlead
