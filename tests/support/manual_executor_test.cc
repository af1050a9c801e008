#include "fairlead/tests/support/manual_executor.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/tests/support/log_recorder.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

class ManualExecutorTest : public ::testing::Test {
 protected:
  // Notes the name and the milliseconds since the start.
  auto Note(std::string name) {
    return [this, name = std::move(name)] {
      notes_.push_back(name + "@" + std::to_string((clock_.SteadyNow() - start_) / milliseconds(1)));
    };
  }

  FakeClock clock_;
  const Clock::SteadyTime start_ = clock_.SteadyNow();
  ManualExecutor executor_{clock_};
  std::vector<std::string> notes_;
};

using Notes = std::vector<std::string>;

TEST_F(ManualExecutorTest, RunsOnlyWhenTold) {
  executor_.Post(Note("a"));
  executor_.Post([&] {
    Note("b")();
    executor_.Post(Note("d"));
  });
  executor_.Post(Note("c"));
  EXPECT_TRUE(notes_.empty());
  EXPECT_EQ(executor_.pending_posts(), 3u);
  EXPECT_EQ(executor_.RunReady(), 4u);
  EXPECT_EQ(notes_, (Notes{"a@0", "b@0", "c@0", "d@0"}));
  EXPECT_EQ(executor_.pending_posts(), 0u);
  EXPECT_EQ(executor_.RunReady(), 0u);
}

TEST_F(ManualExecutorTest, AdvanceStopsAtEachTimer) {
  const Timer late = executor_.After(milliseconds(30), Note("late"));
  const Timer early = executor_.After(milliseconds(10), [&] {
    Note("early")();
    executor_.Post(Note("posted"));
  });
  const Timer same = executor_.After(milliseconds(10), Note("same"));
  const Timer never = executor_.After(milliseconds(41), Note("never"));
  executor_.Post(Note("first"));
  EXPECT_EQ(executor_.pending_timers(), 4u);
  EXPECT_EQ(executor_.Advance(milliseconds(40)), 5u);
  EXPECT_EQ(notes_, (Notes{"first@0", "early@10", "same@10", "posted@10", "late@30"}));
  EXPECT_EQ(clock_.SteadyNow() - start_, milliseconds(40));
  EXPECT_EQ(executor_.pending_timers(), 1u);
}

TEST_F(ManualExecutorTest, TimerSetOnTheWayRunsWithinTheSameAdvance) {
  Timer timer;
  std::function<void()> tick = [&] {
    Note("tick")();
    timer = executor_.After(milliseconds(10), [&] { tick(); });
  };
  timer = executor_.After(milliseconds(10), [&] { tick(); });
  executor_.Advance(milliseconds(35));
  EXPECT_EQ(notes_, (Notes{"tick@10", "tick@20", "tick@30"}));
  executor_.Advance(milliseconds(5));
  EXPECT_EQ(notes_.back(), "tick@40");
}

TEST_F(ManualExecutorTest, RunReadyRunsDueTimersOnly) {
  const Timer now = executor_.After(nanoseconds(0), Note("now"));
  const Timer past = executor_.After(-seconds(1), Note("past"));
  const Timer soon = executor_.After(nanoseconds(1), Note("soon"));
  executor_.RunReady();
  EXPECT_EQ(notes_, (Notes{"now@0", "past@0"}));
  clock_.Advance(seconds(1));
  executor_.RunReady();
  EXPECT_EQ(notes_.back(), "soon@1000");
}

TEST_F(ManualExecutorTest, CancelledTimersDoNotRun) {
  Timer waiting = executor_.After(milliseconds(1), Note("waiting"));
  waiting.Cancel();
  EXPECT_EQ(executor_.pending_timers(), 0u);
  Timer queued;
  const Timer canceller = executor_.After(milliseconds(1), [&] { queued.Cancel(); });
  queued = executor_.After(milliseconds(1), Note("queued"));
  EXPECT_EQ(executor_.Advance(seconds(1)), 1u);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(ManualExecutorTest, RunsHereOnlyInATask) {
  bool here = false, elsewhere = true;
  EXPECT_FALSE(executor_.RunsHere());
  executor_.Post([&] {
    here = executor_.RunsHere();
    std::thread([&] { elsewhere = executor_.RunsHere(); }).join();
  });
  executor_.RunReady();
  EXPECT_TRUE(here);
  EXPECT_FALSE(elsewhere);
  EXPECT_FALSE(executor_.RunsHere());
}

TEST_F(ManualExecutorTest, WhatATaskThrowsReachesTheTest) {
  executor_.Post([] { throw std::runtime_error("trouble"); });
  executor_.Post(Note("next"));
  EXPECT_THROW(executor_.RunReady(), std::runtime_error);
  EXPECT_FALSE(executor_.RunsHere());
  executor_.RunReady();
  EXPECT_EQ(notes_, Notes{"next@0"});
}

TEST_F(ManualExecutorTest, PostFromOtherThreads) {
  std::vector<std::thread> threads;
  int ran = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) executor_.Post([&] { ++ran; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(executor_.RunReady(), 400u);
  EXPECT_EQ(ran, 400);
}

TEST(ManualExecutor, LeftOversAreDestroyedAndTimersMayOutlive) {
  FakeClock clock;
  const auto token = std::make_shared<int>();
  Timer timer, due;
  {
    ManualExecutor executor(clock);
    executor.Post([token] { FAIL(); });
    timer = executor.After(seconds(1), [token] { FAIL(); });
  }
  EXPECT_EQ(token.use_count(), 1);
  timer.Cancel();
}

TEST(ManualExecutorDeathTest, TaskThatPostsItselfForEver) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  FakeClock clock;
  ManualExecutor executor(clock);
  std::function<void()> again = [&] { executor.Post([&] { again(); }); };
  executor.Post([&] { again(); });
  EXPECT_DEATH(executor.RunReady(), "posting itself again");
}

TEST(FakeClock, BothClocksAdvanceAndTheWallClockCanBeSet) {
  FakeClock clock;
  const auto steady = clock.SteadyNow();
  EXPECT_EQ(clock.SystemMillis(), 1'704'067'200'000);
  clock.Advance(milliseconds(1500));
  EXPECT_EQ(clock.SteadyNow() - steady, milliseconds(1500));
  EXPECT_EQ(clock.SystemMillis(), 1'704'067'201'500);
  clock.SetSystem(Clock::SystemTime(milliseconds(5)));
  EXPECT_EQ(clock.SystemMillis(), 5);
  EXPECT_EQ(clock.SteadyNow() - steady, milliseconds(1500));
  clock.Advance(milliseconds(1));
  EXPECT_EQ(clock.SystemMillis(), 6);
}

TEST(LogRecorder, KeepsCountsAndForgets) {
  FakeClock clock;
  LogSink sink;
  {
    LogRecorder recorder;
    sink = recorder.sink();
    Logger logger(recorder.sink(), clock);
    logger.Warn("FL-1-2", "a", "text");
    logger.Info("FL-1-3", "a", "other");
    EXPECT_EQ(recorder.count("FL-1-2"), 1u);
    ASSERT_EQ(recorder.lines().size(), 2u);
    EXPECT_EQ(recorder.lines()[0].text, "text");
    recorder.clear();
    EXPECT_TRUE(recorder.lines().empty());
  }
  sink({Severity::kInfo, "FL-1-1", "a", "the recorder is gone"});
}

}  // namespace
}  // namespace fairlead
