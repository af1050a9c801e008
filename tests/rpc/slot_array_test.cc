#include "fairlead/rpc/slot_array.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

TEST(SlotArrayTest, ACopyStaysWhileTheArrayIsWritten) {
  SlotArray<std::string> array;
  EXPECT_EQ(array.size(), 0u);
  array.Set(200, "far");
  EXPECT_EQ(array.size(), 201u);
  EXPECT_EQ(array[0], "");
  EXPECT_EQ(array[200], "far");
  const SlotArray<std::string> before = array.Share();
  array.Set(200, "farther");
  array.Set(0, "near");
  array.Set(500, "out");
  EXPECT_EQ(before.size(), 201u);
  EXPECT_EQ(before[200], "far");
  EXPECT_EQ(before[0], "");
  EXPECT_EQ(array[200], "farther");
  EXPECT_EQ(array[0], "near");
}

TEST(SlotArrayTest, IsAVectorThatIsCopied) {
  Random random(5);
  SlotArray<int> array;
  std::vector<int> plain;
  std::vector<std::pair<SlotArray<int>, std::vector<int>>> copies;
  for (int step = 0; step < 3000; ++step) {
    const auto slot = static_cast<Slot>(random.Below(700));
    if (slot >= plain.size()) plain.resize(slot + 1, 0);
    plain[slot] = step;
    array.Set(slot, step);
    if (step % 100 == 0) copies.emplace_back(array.Share(), plain);
  }
  copies.emplace_back(array.Share(), plain);
  for (const auto& [copy, expected] : copies) {
    ASSERT_EQ(copy.size(), expected.size());
    for (Slot slot = 0; slot < expected.size(); ++slot) ASSERT_EQ(copy[slot], expected[slot]) << slot;
  }
}

TEST(SlotArrayTest, WhatNobodyHoldsIsFreed) {
  const auto value = std::make_shared<int>(1);
  SlotArray<std::shared_ptr<int>> array;
  array.Set(3, value);
  {
    const auto copy = array.Share();
    array.Set(3, nullptr);
    EXPECT_EQ(value.use_count(), 2);
  }
  EXPECT_EQ(value.use_count(), 1);
}

}  // namespace
}  // namespace fairlead
