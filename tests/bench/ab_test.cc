#include "fairlead/bench/ab.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

namespace fairlead::bench {
namespace {

Row Judged(double value, double base, Target target, std::string against = kFloor) {
  Row row = Compared("row", 10, std::move(against), target);
  row.value = value;
  row.base = base;
  return row;
}

TEST(SummaryTest, MedianAndQuartiles) {
  const Summary summary = Summarise({9, 1, 5, 3, 7});
  EXPECT_DOUBLE_EQ(summary.median, 5);
  EXPECT_DOUBLE_EQ(summary.quartiles, 4);
  EXPECT_DOUBLE_EQ(Summarise({1, 2}).median, 1.5);
  EXPECT_DOUBLE_EQ(Percentile({0, 10}, 0.999), 9.99);
}

TEST(JudgeTest, TargetsAreLimits) {
  EXPECT_EQ(Judge(Judged(3, 1, DifferenceAtMost(2))), Verdict::kMet);
  EXPECT_EQ(Judge(Judged(3.1, 1, DifferenceAtMost(2))), Verdict::kMissed);
  EXPECT_EQ(Judge(Judged(15, 10, RatioAtMost(1.5))), Verdict::kMet);
  EXPECT_EQ(Judge(Judged(16, 10, RatioAtMost(1.5))), Verdict::kMissed);
  EXPECT_EQ(Judge(Judged(200, 0, ValueAtMost(200), "")), Verdict::kMet);
  EXPECT_EQ(Judge(Judged(201, 0, ValueAtMost(200), "")), Verdict::kMissed);
  EXPECT_EQ(Judge(Judged(1e9, 1, {})), Verdict::kReported);
}

TEST(JudgeTest, NothingIsFasterThanItsFloor) {
  EXPECT_EQ(Judge(Judged(1, 2, DifferenceAtMost(2))), Verdict::kBelowFloor);
  EXPECT_EQ(Judge(Judged(1, 2, DifferenceAtMost(2), "another list")), Verdict::kMet);
  Row contended = Judged(1, 2, DifferenceAtMost(2));
  contended.threads = 2;
  EXPECT_EQ(Judge(contended), Verdict::kMet);
}

TEST(JudgeTest, RowsThatSpreadSayNothing) {
  Row row = Judged(100, 99, RatioAtMost(1.5));
  row.quartiles = 9;
  EXPECT_EQ(Judge(row), Verdict::kMet);
  row.quartiles = 11;
  EXPECT_EQ(Judge(row), Verdict::kInconclusive);
  row.quartiles = 0;
  row.base_quartiles = 11;
  EXPECT_EQ(Judge(row), Verdict::kInconclusive);
  // Of a nanosecond, a tenth is less than the clock can tell.
  Row fast = Judged(1, 0.9, DifferenceAtMost(2));
  fast.quartiles = 0.15;
  EXPECT_EQ(Judge(fast), Verdict::kMet);
  fast.unit = "us";
  EXPECT_EQ(Judge(fast), Verdict::kInconclusive);
}

TEST(JudgeTest, ThreadsThatDidNotMeetSayNothing) {
  Row row = Judged(100, 99, RatioAtMost(1.5));
  row.together = 0.9;
  EXPECT_EQ(Judge(row), Verdict::kMet);
  row.together = 0.7;
  EXPECT_EQ(Judge(row), Verdict::kInconclusive);
}

TEST(JudgeTest, ABrokenConditionIsAMiss) {
  Row row = Judged(1, 1, RatioAtMost(1.5));
  row.failed = true;
  EXPECT_EQ(Judge(row), Verdict::kMissed);
}

TEST(MeasureTest, BothSidesRunByTurnsOnTheirThreads) {
  std::atomic<std::uint64_t> ours{0}, theirs{0};
  std::atomic<int> highest{0}, prepared{0};
  const auto spin = [&](std::atomic<std::uint64_t>& count) {
    return Repeat([&](int thread) {
      int seen = highest.load();
      while (seen < thread && !highest.compare_exchange_weak(seen, thread)) {
      }
      return [&count] { count.fetch_add(1, std::memory_order_relaxed); };
    });
  };
  const Effort effort{15, 0.1, 1, true};
  Side candidate{spin(ours), 2};
  candidate.before_run = [&] { ++prepared; };
  const Row row = Measure(Compared("row", 10, "the other"), candidate, {spin(theirs)}, effort, 0.5);
  EXPECT_EQ(row.threads, 2);
  EXPECT_EQ(row.runs, 15);
  EXPECT_EQ(row.attempts, 1);
  EXPECT_EQ(highest.load(), 1);
  EXPECT_GE(prepared.load(), 15);
  EXPECT_GE(ours.load(), 2 * 15u);
  EXPECT_GE(theirs.load(), 15u);
  EXPECT_GT(row.value, 0);
  EXPECT_GT(row.base, 0);
}

TEST(MeasureTest, WhatDoesNotSettleIsMeasuredAgain) {
  // Every other run takes a hundred times as long.
  int run = 0;
  Side restless;
  restless.before_run = [&] { ++run; };
  restless.body = [&](int, std::uint64_t iterations) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < iterations * (run % 2 == 0 ? 20 : 2000); ++i) Keep(sum += i);
  };
  const Row row = Measure(Compared("row", 10, ""), restless, {}, {15, 0.1, 3, true});
  EXPECT_EQ(row.attempts, 3);
  EXPECT_EQ(Judge(row), Verdict::kInconclusive);
}

}  // namespace
}  // namespace fairlead::bench
