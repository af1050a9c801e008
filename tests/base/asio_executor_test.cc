#include "fairlead/base/asio_executor.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace fairlead {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Runs `task` on the executor and waits for it.
template <class F>
void RunOn(Executor& executor, F task) {
  std::promise<void> done;
  executor.Post([&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

// ---------------------------------------------------------------- on the host's event loop

class AsioExecutorTest : public ::testing::Test {
 protected:
  asio::io_context context_;
  std::shared_ptr<Executor> executor_ = MakeAsioExecutor(context_);
};

TEST_F(AsioExecutorTest, RunsNothingInsidePost) {
  bool ran = false;
  executor_->Post([&] { ran = true; });
  EXPECT_FALSE(ran);
  context_.run();
  EXPECT_TRUE(ran);
}

TEST_F(AsioExecutorTest, KeepsTheOrderOfPosts) {
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) {
    executor_->Post([&, i] {
      order.push_back(i);
      executor_->Post([&, i] { order.push_back(100 + i); });
    });
  }
  context_.run();
  ASSERT_EQ(order.size(), 200u);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(AsioExecutorTest, RunsHereOnlyInATask) {
  const auto other = MakeAsioExecutor(context_);
  EXPECT_FALSE(executor_->RunsHere());
  bool here = false, other_here = true, elsewhere = true, in_nested = false;
  executor_->Post([&] {
    here = executor_->RunsHere();
    other_here = other->RunsHere();
    std::thread([&] { elsewhere = executor_->RunsHere(); }).join();
    other->Post([&] { in_nested = executor_->RunsHere() && other->RunsHere(); });
    context_.poll();
  });
  context_.run();
  EXPECT_TRUE(here);
  EXPECT_FALSE(other_here);
  EXPECT_FALSE(elsewhere);
  EXPECT_TRUE(in_nested);
  EXPECT_FALSE(executor_->RunsHere());
}

TEST_F(AsioExecutorTest, NestedRunOfTheLoopDoesNotNestTasks) {
  bool second_ran = false;
  executor_->Post([&] {
    executor_->Post([&] { second_ran = true; });
    context_.poll();
    EXPECT_FALSE(second_ran);
  });
  context_.run();
  EXPECT_TRUE(second_ran);
}

TEST_F(AsioExecutorTest, TasksAreSerialHoweverManyThreadsRunTheLoop) {
  auto work = asio::make_work_guard(context_);
  std::vector<std::thread> loops;
  for (int i = 0; i < 4; ++i) loops.emplace_back([&] { context_.run(); });
  int unguarded = 0;
  std::atomic<int> inside{0}, overlaps{0};
  std::vector<std::vector<int>> seen(3);
  std::vector<std::thread> posters;
  for (int p = 0; p < 3; ++p) {
    posters.emplace_back([&, p] {
      for (int i = 0; i < 2000; ++i) {
        executor_->Post([&, p, i] {
          if (inside.fetch_add(1) != 0) ++overlaps;
          ++unguarded;
          seen[static_cast<std::size_t>(p)].push_back(i);
          --inside;
        });
      }
    });
  }
  for (std::thread& thread : posters) thread.join();
  work.reset();
  for (std::thread& thread : loops) thread.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(unguarded, 6000);
  for (const auto& mine : seen) {
    ASSERT_EQ(mine.size(), 2000u);
    EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
  }
}

TEST_F(AsioExecutorTest, SharesTheLoopWithTheHost) {
  std::vector<std::string> order;
  for (int i = 0; i < 3; ++i) executor_->Post([&] { order.push_back("ours"); });
  asio::post(context_, [&] { order.push_back("host"); });
  context_.run();
  EXPECT_EQ(order, (std::vector<std::string>{"ours", "host", "ours", "ours"}));
}

TEST_F(AsioExecutorTest, WhatATaskThrowsIsSwallowed) {
  int ran = 0;
  executor_->Post([] { throw std::runtime_error("trouble"); });
  const Timer timer = executor_->After(nanoseconds(0), [] { throw 7; });
  executor_->Post([&] { ++ran; });
  EXPECT_NO_THROW(context_.run());
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(executor_->RunsHere());
}

TEST_F(AsioExecutorTest, TimersRunInOrderOfTimeThenOfAfter) {
  // A delay counts from its own After, so the order is only known when all of them were called within the
  // distance of two delays; a busy machine may need another try for that.
  std::vector<int> order;
  bool close_together = false;
  while (!close_together) {
    order.clear();
    const auto start = std::chrono::steady_clock::now();
    const Timer late = executor_->After(milliseconds(4), [&] { order.push_back(4); });
    const Timer early = executor_->After(milliseconds(2), [&] { order.push_back(2); });
    const Timer past = executor_->After(-hours(1), [&] { order.push_back(0); });
    const Timer now = executor_->After(nanoseconds(0), [&] { order.push_back(1); });
    const Timer middle = executor_->After(milliseconds(3), [&] { order.push_back(3); });
    close_together = std::chrono::steady_clock::now() - start < milliseconds(1);
    context_.restart();
    context_.run();
    EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(4));
    EXPECT_TRUE(late.armed());
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(AsioExecutorTest, ManyTimersEachRunOnce) {
  std::vector<int> runs(1000);
  std::vector<Timer> timers;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    timers.push_back(executor_->After(std::chrono::microseconds(i * 7919 % 3000), [&runs, i] { ++runs[i]; }));
  }
  context_.run();
  EXPECT_EQ(runs, std::vector<int>(1000, 1));
}

TEST_F(AsioExecutorTest, CancelledTimerNeitherRunsNorKeepsTheLoopBusy) {
  const auto token = std::make_shared<int>();
  Timer timer = executor_->After(hours(1), [token] { FAIL(); });
  Timer other = executor_->After(hours(2), [token] { FAIL(); });
  EXPECT_EQ(token.use_count(), 3);
  timer.Cancel();
  other = Timer();
  EXPECT_EQ(token.use_count(), 1);
  context_.run();
}

TEST_F(AsioExecutorTest, CancelStopsATimerThatIsAlreadyQueued) {
  // Both fall due in one turn of the loop, so the second waits in the queue when the first one runs.
  bool ran = false;
  Timer second;
  const Timer first = executor_->After(nanoseconds(0), [&] { second.Cancel(); });
  second = executor_->After(nanoseconds(0), [&] { ran = true; });
  context_.run();
  EXPECT_FALSE(ran);
}

TEST_F(AsioExecutorTest, TimerMayBeReplacedByItsOwnTask) {
  Timer timer;
  int ticks = 0;
  std::function<void()> tick = [&] {
    if (++ticks < 5) timer = executor_->After(nanoseconds(0), [&] { tick(); });
  };
  timer = executor_->After(nanoseconds(0), [&] { tick(); });
  context_.run();
  EXPECT_EQ(ticks, 5);
}

TEST_F(AsioExecutorTest, EndlessDelayDoesNotOverflow) {
  const Timer timer = executor_->After(nanoseconds::max(), [] { FAIL(); });
  bool ran = false;
  executor_->Post([&] { ran = true; });
  context_.poll();
  EXPECT_TRUE(ran);
}

TEST_F(AsioExecutorTest, LeftOverTasksAreDestroyedWithTheExecutor) {
  const auto token = std::make_shared<int>();
  executor_->Post([token] { FAIL(); });
  Timer timer = executor_->After(nanoseconds(0), [token] { FAIL(); });
  Timer hour = executor_->After(hours(1), [token] { FAIL(); });
  EXPECT_EQ(token.use_count(), 4);
  executor_.reset();
  EXPECT_EQ(token.use_count(), 1);
  context_.run();
  timer.Cancel();
}

TEST_F(AsioExecutorTest, QueuedTimerIsDestroyedWithTheExecutor) {
  const auto token = std::make_shared<int>();
  const Timer first = executor_->After(nanoseconds(0), [&] {
    EXPECT_EQ(token.use_count(), 2);
    executor_.reset();
    EXPECT_EQ(token.use_count(), 1);
  });
  const Timer second = executor_->After(nanoseconds(0), [token] { FAIL(); });
  context_.run();
  EXPECT_EQ(executor_, nullptr);
}

TEST(AsioExecutor, TimerMayOutliveExecutorAndLoop) {
  Timer timer;
  const auto token = std::make_shared<int>();
  {
    asio::io_context context;
    const auto executor = MakeAsioExecutor(context);
    timer = executor->After(hours(1), [token] {});
  }
  EXPECT_EQ(token.use_count(), 1);
  timer.Cancel();
}

TEST(AsioExecutor, LoopMayEndWithOurHandlersQueued) {
  const auto token = std::make_shared<int>();
  {
    asio::io_context context;
    const auto executor = MakeAsioExecutor(context);
    executor->Post([token] { FAIL(); });
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(AsioExecutorTest, CancelFromAnotherThreadRacesSafely) {
  auto work = asio::make_work_guard(context_);
  std::vector<std::thread> loops;
  for (int i = 0; i < 2; ++i) loops.emplace_back([&] { context_.run(); });
  constexpr int kTimers = 2000;
  int ran = 0;  // written by tasks only
  const auto token = std::make_shared<int>();
  for (int i = 0; i < kTimers; ++i) {
    Timer timer = executor_->After(std::chrono::microseconds(i % 3), [&ran, token] { ++ran; });
    if (i % 2 == 0) std::this_thread::yield();
    timer.Cancel();
  }
  RunOn(*executor_, [&] { EXPECT_LE(ran, kTimers); });
  EXPECT_EQ(token.use_count(), 1);
  work.reset();
  for (std::thread& thread : loops) thread.join();
}

// ---------------------------------------------------------------- with a thread of its own

TEST(ThreadExecutor, RunsTasksInOrderOnOneOtherThread) {
  const auto executor = MakeThreadExecutor("fl-test");
  std::vector<int> order;
  std::thread::id thread;
  for (int i = 0; i < 1000; ++i) {
    executor->Post([&, i] {
      order.push_back(i);
      thread = std::this_thread::get_id();
    });
  }
  RunOn(*executor, [&] {
    EXPECT_EQ(thread, std::this_thread::get_id());
    EXPECT_TRUE(executor->RunsHere());
  });
  EXPECT_NE(thread, std::this_thread::get_id());
  EXPECT_FALSE(executor->RunsHere());
  ASSERT_EQ(order.size(), 1000u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(ThreadExecutor, NamesItsThread) {
  const auto name_of = [](Executor& executor) {
    std::string name(64, '\0');
    RunOn(executor, [&] { pthread_getname_np(pthread_self(), name.data(), name.size()); });
    return std::string(name.c_str());
  };
  EXPECT_EQ(name_of(*MakeThreadExecutor("fl-test")), "fl-test");
  EXPECT_EQ(name_of(*MakeThreadExecutor("fairlead-a-long-name")), "fairlead-a-long");
}

TEST(ThreadExecutor, BlocksSignalsOnItsThreadOnly) {
  sigset_t before, after, inside;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  const auto executor = MakeThreadExecutor("fl-test");
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  RunOn(*executor, [&] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); });
  for (const int signal :
       {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGPROF, SIGRTMIN}) {
    EXPECT_EQ(sigismember(&inside, signal), 1) << signal;
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << signal;
  }
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    EXPECT_EQ(sigismember(&inside, fault), 0) << fault;
}

TEST(ThreadExecutor, RunsTimers) {
  const auto executor = MakeThreadExecutor("fl-test");
  std::promise<void> done;
  const auto start = std::chrono::steady_clock::now();
  const Timer timer = executor->After(milliseconds(3), [&] { done.set_value(); });
  done.get_future().wait();
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(3));
}

TEST(ThreadExecutor, AnEarlierTimerOvertakesTheOneWaitedFor) {
  const auto executor = MakeThreadExecutor("fl-test");
  const Timer hour = executor->After(hours(1), [] { FAIL(); });
  std::promise<void> done;
  RunOn(*executor, [] {});  // the thread now sleeps, or is about to, for an hour
  const Timer soon = executor->After(milliseconds(1), [&] { done.set_value(); });
  done.get_future().wait();
}

TEST(ThreadExecutor, DestroyingItWaitsForTheRunningTaskOnly) {
  auto executor = MakeThreadExecutor("fl-test");
  const auto token = std::make_shared<int>();
  std::promise<void> started, go_on;
  bool finished = false;
  executor->Post([&] {
    started.set_value();
    go_on.get_future().wait();
    finished = true;
  });
  executor->Post([token] { FAIL(); });
  started.get_future().wait();
  std::thread destroyer([&] { executor.reset(); });
  while (token.use_count() > 1) std::this_thread::yield();
  EXPECT_FALSE(finished);
  go_on.set_value();
  destroyer.join();
  EXPECT_TRUE(finished);
}

TEST(ThreadExecutor, MayBeDestroyedByItsOwnTask) {
  std::promise<void> destroyed;
  auto executor = MakeThreadExecutor("fl-test");
  Executor& there = *executor;
  const auto token = std::make_shared<int>();
  std::promise<void> queued;
  auto wait = queued.get_future().share();
  there.Post([&destroyed, wait, executor = std::move(executor)]() mutable {
    wait.wait();
    executor.reset();
    destroyed.set_value();
  });
  there.Post([token] { FAIL(); });
  queued.set_value();
  destroyed.get_future().wait();
  EXPECT_EQ(token.use_count(), 1);
}

TEST(ThreadExecutor, TimerMayOutliveIt) {
  Timer timer = MakeThreadExecutor("fl-test")->After(hours(1), [] { FAIL(); });
  EXPECT_TRUE(timer.armed());
  timer.Cancel();
}

TEST(ThreadExecutor, CancelRacesWithTheEndOfTheExecutor) {
  for (int round = 0; round < 50; ++round) {
    auto executor = MakeThreadExecutor("fl-test");
    Timer timer = executor->After(hours(1), [] { FAIL(); });
    std::thread canceller([&] { timer.Cancel(); });
    executor.reset();
    canceller.join();
  }
}

TEST(ThreadExecutor, DestroyingTheCopyInAForkedChildDoesNotHang) {
  auto executor = MakeThreadExecutor("fl-test");
  RunOn(*executor, [] {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    executor.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  RunOn(*executor, [] {});
}

}  // namespace
}  // namespace fairlead
