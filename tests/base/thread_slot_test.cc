#include "fairlead/base/thread_slot.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <set>
#include <thread>
#include <vector>

namespace fairlead {
namespace {

std::uint32_t SlotOfNewThread() {
  std::uint32_t slot = 0;
  std::thread([&] { slot = ThreadSlot(); }).join();
  return slot;
}

TEST(ThreadSlot, StaysTheSameWithinAThread) {
  const std::uint32_t mine = ThreadSlot();
  EXPECT_NE(SlotOfNewThread(), mine);
  EXPECT_EQ(ThreadSlot(), mine);
}

TEST(ThreadSlot, IsReusedAfterTheThreadEnded) {
  ThreadSlot();
  const std::uint32_t first = SlotOfNewThread();
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(SlotOfNewThread(), first);
}

TEST(ThreadSlot, LivingThreadsHaveDenseDistinctNumbers) {
  ThreadSlot();
  constexpr int kThreads = 150;  // more than two words of the table
  std::vector<std::uint32_t> slots(kThreads);
  std::barrier all(kThreads);
  std::vector<std::thread> threads;
  for (auto& slot : slots) {
    threads.emplace_back([&] {
      slot = ThreadSlot();
      all.arrive_and_wait();
      EXPECT_EQ(slot, ThreadSlot());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint32_t> distinct(slots.begin(), slots.end());
  distinct.insert(ThreadSlot());
  EXPECT_EQ(distinct.size(), kThreads + 1u);
  // Other tests of this program may have left a thread or two of theirs.
  EXPECT_LT(*distinct.rbegin(), kThreads + 10u);
}

TEST(ThreadSlot, TheSmallestFreeNumberComesFirst) {
  ThreadSlot();
  std::uint32_t low = 0, high = 0;
  std::barrier low_claimed(2), both_claimed(3), end(2);
  std::thread first([&] {
    low = ThreadSlot();
    low_claimed.arrive_and_wait();
    both_claimed.arrive_and_wait();
  });
  std::thread second([&] {
    low_claimed.arrive_and_wait();
    high = ThreadSlot();
    both_claimed.arrive_and_wait();
    end.arrive_and_wait();
  });
  both_claimed.arrive_and_wait();
  first.join();
  EXPECT_LT(low, high);
  EXPECT_EQ(SlotOfNewThread(), low);
  end.arrive_and_wait();
  second.join();
}

struct UsesSlotWhenDestroyed {
  std::uint32_t* at;
  ~UsesSlotWhenDestroyed() { *at = ThreadSlot(); }
};

TEST(ThreadSlot, WorksInDestructorsOfThreadLocals) {
  ThreadSlot();
  std::uint32_t claimed = 0, claimed_late = 0, in_destructor = 0, in_late_destructor = 0;
  std::thread([&] {
    thread_local UsesSlotWhenDestroyed before{&in_destructor};
    before.at = &in_destructor;
    claimed = ThreadSlot();
  }).join();
  std::thread([&] {  // the first use of the thread is the destructor
    thread_local UsesSlotWhenDestroyed only{&in_late_destructor};
    only.at = &in_late_destructor;
  })
      .join();
  claimed_late = SlotOfNewThread();
  EXPECT_EQ(in_destructor, claimed);
  EXPECT_EQ(in_late_destructor, claimed);
  EXPECT_EQ(claimed_late, claimed);
}

TEST(ThreadSlot, WorksInDestructorsOfKeysAndIsStillGivenBack) {
  ThreadSlot();
  static std::uint32_t in_key_destructor;
  const std::uint32_t first = SlotOfNewThread();
  // Made after the slot table's key, hence destroyed after it: the slot was given back already.
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, [](void*) { in_key_destructor = ThreadSlot(); }), 0);
  for (int i = 0; i < 100; ++i) {
    in_key_destructor = ~0u;
    std::thread([&] {
      ThreadSlot();
      pthread_setspecific(key, &key);
    }).join();
    ASSERT_EQ(in_key_destructor, first);
  }
  pthread_key_delete(key);
  EXPECT_EQ(SlotOfNewThread(), first);
}

TEST(ThreadSlot, ClaimsRace) {
  std::vector<std::atomic<int>> holders(64);
  std::atomic<int> clashes{0};
  std::vector<std::thread> runners;
  for (int r = 0; r < 4; ++r) {
    runners.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        std::thread([&] {
          std::atomic<int>& holder = holders[ThreadSlot() % 64];
          if (holder.fetch_add(1) != 0) ++clashes;
          std::this_thread::yield();
          --holder;
        }).join();
      }
    });
  }
  for (std::thread& runner : runners) runner.join();
  EXPECT_EQ(clashes, 0);
}

TEST(ThreadSlot, ForkedChildKeepsItsOwnNumberOnly) {
  // Two threads hold numbers of the parent; the child has neither of them.
  std::barrier claimed(3), end(3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      ThreadSlot();
      claimed.arrive_and_wait();
      end.arrive_and_wait();
    });
  }
  claimed.arrive_and_wait();
  const std::uint32_t mine = ThreadSlot();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    const bool same = ThreadSlot() == mine;
    // What a new thread of the child would get, without starting one (the sanitizers forbid that).
    internal::thread_state = {};
    const std::uint32_t next = ThreadSlot();
    _exit(same && next == (mine == 0 ? 1 : 0) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  end.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fairlead
