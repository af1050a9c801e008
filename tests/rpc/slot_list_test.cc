#include "fairlead/rpc/slot_list.h"

#include <vector>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(SlotListTest, CopiesShareAndOutliveWhatTheyAreOf) {
  SlotList copy;
  EXPECT_TRUE(copy.empty());
  EXPECT_EQ(copy.begin(), copy.end());
  {
    const SlotList list(std::vector<Slot>{3, 1, 2});
    copy = list;
    EXPECT_EQ(copy.data(), list.data());
  }
  EXPECT_EQ(std::vector<Slot>(copy.begin(), copy.end()), (std::vector<Slot>{3, 1, 2}));
  EXPECT_EQ(copy.front(), 3u);
  EXPECT_EQ(copy[2], 2u);
}

TEST(SlotListTest, EqualityIsThatOfTheSlotsInTheirOrder) {
  const SlotList list(std::vector<Slot>{1, 2});
  EXPECT_EQ(list, SlotList(std::vector<Slot>{1, 2}));
  EXPECT_FALSE(list == SlotList(std::vector<Slot>{2, 1}));
  EXPECT_FALSE(list == SlotList(std::vector<Slot>{1, 2, 3}));
  EXPECT_FALSE(list == SlotList());
  EXPECT_EQ(SlotList(), SlotList(std::vector<Slot>{}));
}

}  // namespace
}  // namespace fairlead
