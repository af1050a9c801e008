#include "fairlead/rpc/invoker_set.h"

#include <gtest/gtest.h>

#include <set>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

std::set<Slot> Members(const InvokerSet& set) {
  std::set<Slot> members;
  set.ForEach([&](Slot slot) { members.insert(slot); });
  return members;
}

InvokerSet Of(const std::set<Slot>& slots) {
  InvokerSet set;
  for (const Slot slot : slots) set.Add(slot);
  return set;
}

TEST(InvokerSetTest, CapacityDoesNotCount) {
  InvokerSet wide(1000), narrow;
  wide.Add(3);
  narrow.Add(3);
  EXPECT_EQ(wide, narrow);
  EXPECT_EQ(wide.Hash(), narrow.Hash());
  EXPECT_FALSE(narrow.Contains(999));
  EXPECT_EQ(narrow.Nth(1), kNoSlot);
}

TEST(InvokerSetTest, CountsFullWords) {
  for (const Slot size : {1u, 63u, 64u, 65u, 64u * 3, 64u * 31, 64u * 31 + 5, 64u * 100}) {
    InvokerSet set;
    for (Slot slot = 0; slot < size; ++slot) set.Add(slot);
    InvokerSet copy(size);
    copy.AssignCommon(set, set);
    EXPECT_EQ(copy.count(), size);
    EXPECT_EQ(copy.Nth(size - 1), size - 1);
    EXPECT_EQ(copy, set);
  }
}

TEST(InvokerSetTest, AgreesWithAnOrderedSet) {
  Random random(11);
  for (int round = 0; round < 500; ++round) {
    std::set<Slot> a, b;
    const std::uint64_t range = 1 + random.Below(round % 10 == 0 ? 10'000 : 300);
    for (std::uint64_t i = random.Below(60); i > 0; --i) a.insert(static_cast<Slot>(random.Below(range)));
    for (std::uint64_t i = random.Below(60); i > 0; --i) b.insert(static_cast<Slot>(random.Below(range)));
    std::set<Slot> both, either = a, only;
    for (const Slot slot : b) either.insert(slot);
    for (const Slot slot : a) (b.contains(slot) ? both : only).insert(slot);
    const InvokerSet x = Of(a), y = Of(b);
    EXPECT_EQ(Members(x & y), both);
    EXPECT_EQ(Members(x | y), either);
    EXPECT_EQ(Members(x - y), only);
    EXPECT_EQ((x - y).count(), only.size());
    EXPECT_EQ(x.Intersects(y), !both.empty());
    EXPECT_EQ(x.CountCommon(y), both.size());
    InvokerSet reused = Of({0, 1, 5000});
    reused.AssignCommon(x, y);
    EXPECT_EQ(Members(reused), both);
    EXPECT_EQ(reused.count(), both.size());
    const InvokerSet* const parts[] = {&x, &y};
    reused = Of({0, 1, 5000});
    reused.AssignCommon(Of(either), parts);
    EXPECT_EQ(Members(reused), either);
    reused.AssignCommon(x, {&parts[1], 1});
    EXPECT_EQ(Members(reused), both);
    EXPECT_EQ(reused.count(), both.size());
    reused.AddDifference(x, y);
    EXPECT_EQ(Members(reused), a);
    EXPECT_EQ(reused.count(), a.size());
    reused.Clear();
    EXPECT_TRUE(reused.empty());
    reused.AddDifference(x, y);
    EXPECT_EQ(Members(reused), only);
    EXPECT_EQ(x == y, a == b);
    std::size_t k = 0;
    for (const Slot slot : a) EXPECT_EQ(x.Nth(k++), slot);
    InvokerSet less = x;
    for (const Slot slot : b) less.Remove(slot);
    EXPECT_EQ(less, x - y);
  }
}

}  // namespace
}  // namespace fairlead
