#include "fairlead/rpc/slot_weights.h"

#include <gtest/gtest.h>

#include <map>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

TEST(SlotWeightsTest, AllHaveDubbosDefaultUntilAnotherIsSet) {
  SlotWeights weights;
  EXPECT_EQ(weights[0], 100);
  weights.Set(7, 0);
  EXPECT_EQ(weights[7], 0);
  EXPECT_EQ(weights[6], 100);
  EXPECT_EQ(weights[8], 100);
}

TEST(SlotWeightsTest, WhatAllHaveIsHeldOnceAndHoldsForLaterSlots) {
  SlotWeights weights;
  for (std::size_t slot = 0; slot < 3; ++slot) weights.Set(slot, 5);
  weights.Trim(3);
  for (std::size_t slot = 0; slot < 3; ++slot) EXPECT_EQ(weights[slot], 5);
  EXPECT_EQ(weights[3], 5) << "of nobody yet";
  weights.Set(3, 100);
  weights.Trim(4);
  EXPECT_EQ(weights[2], 5);
  EXPECT_EQ(weights[3], 100);
}

TEST(SlotWeightsTest, TrimKeepsTheSlotsThatNoOwnWeightWasSetFor) {
  SlotWeights weights;
  weights.Set(0, 3);
  weights.Set(1, 3);
  weights.Trim(5);
  EXPECT_EQ(weights[1], 3);
  EXPECT_EQ(weights[2], 100);
}

TEST(SlotWeightsTest, EqualsAPlainMapUnderRandomEdits) {
  Random random(11);
  SlotWeights weights;
  std::map<std::size_t, std::int32_t> plain;
  for (int step = 0; step < 20000; ++step) {
    const std::size_t slot = random.Below(12);
    const std::int32_t weight = random.Below(3) == 0 ? 100 : static_cast<std::int32_t>(random.Below(3));
    weights.Set(slot, weight);
    plain[slot] = weight;
    if (random.Below(4) == 0) weights.Trim(12);
    for (const auto& [at, expected] : plain) ASSERT_EQ(weights[at], expected) << "slot " << at << " in step " << step;
  }
}

}  // namespace
}  // namespace fairlead
