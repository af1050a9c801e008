#include "fairlead/base/read_domain.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace fairlead {
namespace {

static_assert(!std::is_copy_constructible_v<ReadSection> && !std::is_move_constructible_v<ReadSection>);
static_assert(sizeof(internal::Reader) == 64 && alignof(internal::Reader) == 64);

ReadDomain& Domain() { return ReadDomain::Global(); }

// A section that ends when the test says so.
struct Held {
  ReadSection section;
};
std::unique_ptr<Held> Hold() { return std::make_unique<Held>(); }

// Keeps a section open on a thread of its own until told to leave.
class OtherReader {
 public:
  OtherReader() : thread_([this] { Run(); }) { entered_.wait(); }
  ~OtherReader() { Leave(); }
  void Leave() {
    if (!thread_.joinable()) return;
    leave_.count_down();
    thread_.join();
  }

 private:
  void Run() {
    const ReadSection section;
    entered_.count_down();
    leave_.wait();
  }

  std::latch entered_{1}, leave_{1};
  std::thread thread_;
};

TEST(ReadDomain, FreesAtOnceWithoutReaders) {
  int freed = 0;
  Domain().Retire([&] { ++freed; });
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(Domain().Poll(), 0u);
  EXPECT_EQ(Domain().OldestReaderLag(), 0u);
}

TEST(ReadDomain, KeepsWhatAnOpenSectionMaySee) {
  int freed = 0;
  {
    const ReadSection section;
    Domain().Retire([&] { ++freed; });
    EXPECT_EQ(Domain().Poll(), 1u);
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 0);
  EXPECT_EQ(Domain().Poll(), 0u);
  EXPECT_EQ(freed, 1);
}

TEST(ReadDomain, InnerSectionsDoNotEndOuterOnes) {
  int freed = 0;
  auto outer = Hold();
  auto middle = Hold();
  Domain().Retire([&] { ++freed; });
  auto inner = Hold();
  inner.reset();
  EXPECT_EQ(Domain().Poll(), 1u);
  outer.reset();  // not the usual order, yet the one still open counts
  EXPECT_EQ(Domain().Poll(), 1u);
  middle.reset();
  EXPECT_EQ(Domain().Poll(), 0u);
  EXPECT_EQ(freed, 1);
}

void Nest(int depth, const std::function<void()>& at_bottom) {
  const ReadSection section;
  if (depth == 1) {
    at_bottom();
  } else {
    Nest(depth - 1, at_bottom);
  }
}

TEST(ReadDomain, DeepNesting) {
  int freed = 0;
  {
    const ReadSection outer;
    Nest(5000, [&] { Domain().Retire([&] { ++freed; }); });
    EXPECT_EQ(Domain().Poll(), 1u);
  }
  EXPECT_EQ(Domain().Poll(), 0u);
  EXPECT_EQ(freed, 1);
}

TEST(ReadDomain, ASectionHoldsNothingRetiredBeforeIt) {
  std::vector<int> freed;
  OtherReader old;
  Domain().Retire([&] { freed.push_back(1); });
  {
    const ReadSection young;  // opened after the first retirement
    Domain().Retire([&] { freed.push_back(2); });
    EXPECT_EQ(Domain().Poll(), 2u);
    old.Leave();
    EXPECT_EQ(Domain().Poll(), 1u);
    EXPECT_EQ(freed, (std::vector<int>{1}));
  }
  EXPECT_EQ(Domain().Poll(), 0u);
  EXPECT_EQ(freed, (std::vector<int>{1, 2}));
}

TEST(ReadDomain, StuckReaderBlocksNobody) {
  std::vector<int> freed;
  OtherReader stuck;
  constexpr int kObjects = 500;
  for (int i = 0; i < kObjects; ++i) {
    Domain().Retire([&, i] { freed.push_back(i); });
    const ReadSection section;
    EXPECT_EQ(Domain().OldestReaderLag(), static_cast<std::uint64_t>(i) + 1);
  }
  EXPECT_EQ(Domain().Poll(), static_cast<std::size_t>(kObjects));
  EXPECT_TRUE(freed.empty());
  stuck.Leave();
  EXPECT_EQ(Domain().OldestReaderLag(), 0u);
  EXPECT_EQ(Domain().Poll(), 0u);
  ASSERT_EQ(freed.size(), static_cast<std::size_t>(kObjects));
  for (int i = 0; i < kObjects; ++i) EXPECT_EQ(freed[static_cast<std::size_t>(i)], i);
}

TEST(ReadDomain, LagCountsOnlySectionsThatHoldSomething) {
  OtherReader reader;
  EXPECT_EQ(Domain().OldestReaderLag(), 0u);
  Domain().Retire([] {});
  Domain().Retire([] {});
  EXPECT_EQ(Domain().OldestReaderLag(), 2u);
  reader.Leave();
  const ReadSection young;
  EXPECT_EQ(Domain().OldestReaderLag(), 0u);
  EXPECT_EQ(Domain().Poll(), 0u);
}

TEST(ReadDomain, DeletersMayReadAndRetire) {
  std::vector<int> freed;
  Domain().Retire([&] {
    const ReadSection section;
    freed.push_back(1);
    Domain().Retire([&] { freed.push_back(2); });
    EXPECT_EQ(freed.size(), 1u);
  });
  EXPECT_EQ(Domain().Poll(), 0u);
  EXPECT_EQ(freed, (std::vector<int>{1, 2}));
}

TEST(ReadDomain, OwnsWhatTheDeleterCaptured) {
  auto token = std::make_shared<int>(5);
  const std::weak_ptr<int> watch = token;
  {
    const ReadSection section;
    Domain().Retire([token = std::move(token)] {});
    EXPECT_FALSE(watch.expired());
  }
  Domain().Poll();
  EXPECT_TRUE(watch.expired());
}

struct ReadsWhenDestroyed {
  std::size_t* waiting;
  ~ReadsWhenDestroyed() {
    const ReadSection section;
    Domain().Retire([] {});
    *waiting = Domain().Poll();
  }
};

TEST(ReadDomain, WorksInDestructorsOfThreadLocals) {
  std::size_t waiting = 0, waiting_late = 0;
  std::thread([&] {
    thread_local ReadsWhenDestroyed before{&waiting};
    before.waiting = &waiting;
    const ReadSection section;
  }).join();
  EXPECT_EQ(waiting, 1u);
  std::thread([&] {  // the destructor opens the thread's first section
    thread_local ReadsWhenDestroyed only{&waiting_late};
    only.waiting = &waiting_late;
  })
      .join();
  EXPECT_EQ(waiting_late, 1u);
  EXPECT_EQ(Domain().Poll(), 0u);
}

TEST(ReadDomain, WorksInDestructorsOfKeys) {
  static std::size_t waiting;
  waiting = 0;
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void*) {
                                 const ReadSection section;
                                 Domain().Retire([] {});
                                 waiting = Domain().Poll();
                               }),
            0);
  std::thread([&] {
    { const ReadSection section; }
    pthread_setspecific(key, &key);
  }).join();
  pthread_key_delete(key);
  EXPECT_EQ(waiting, 1u);
  EXPECT_EQ(Domain().Poll(), 0u);
}

TEST(ReadDomain, ManyThreadsAtOnceAreAllSeen) {
  constexpr int kThreads = 200;  // reaches into the third block of marks
  std::barrier entered(kThreads + 1);
  std::vector<std::latch*> leave;
  std::vector<std::unique_ptr<std::latch>> latches;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    latches.push_back(std::make_unique<std::latch>(1));
    threads.emplace_back([&entered, leave = latches.back().get()] {
      const ReadSection section;
      entered.arrive_and_wait();
      leave->wait();
    });
  }
  entered.arrive_and_wait();
  int freed = 0;
  Domain().Retire([&] { ++freed; });
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_EQ(Domain().Poll(), 1u) << i;
    latches[static_cast<std::size_t>(i)]->count_down();
    threads[static_cast<std::size_t>(i)].join();
  }
  EXPECT_EQ(Domain().Poll(), 0u);
  EXPECT_EQ(freed, 1);
}

// What the child of a fork finds wrong, 0 if nothing. `mine` was open before the fork, and `freed` counts one
// object that was retired meanwhile.
int CheckInForkedChild(std::unique_ptr<Held> mine, const int& freed) {
  alarm(20);
  if (freed != 0) return 1;
  // The section of the parent's other thread is gone; our own still counts.
  if (Domain().Poll() != 1) return 2;
  int own = 0;
  Domain().Retire([&] { ++own; });
  if (own != 0) return 3;
  {
    const ReadSection nested;
    if (Domain().Poll() != 2) return 4;
  }
  mine.reset();
  if (Domain().Poll() != 0 || freed != 1 || own != 1) return 5;
  Domain().Retire([&] { ++own; });
  return own == 2 ? 0 : 6;
}

TEST(ReadDomain, ForkWhileReadersAreInside) {
  int freed = 0;
  {
    OtherReader reader;
    auto mine = Hold();
    Domain().Retire([&] { ++freed; });
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(CheckInForkedChild(std::move(mine), freed));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    // The parent notices nothing.
    EXPECT_EQ(Domain().Poll(), 1u);
    mine.reset();
    EXPECT_EQ(Domain().Poll(), 1u);
  }
  EXPECT_EQ(Domain().Poll(), 0u);
  EXPECT_EQ(freed, 1);
}

TEST(ReadDomain, ForkWhileAnotherThreadRetires) {
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) Domain().Retire([] {});
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);
      int freed = 0;
      Domain().Retire([&] { ++freed; });
      _exit(freed == 1 && Domain().Poll() == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  writer.join();
}

TEST(ReadDomainDeathTest, SectionEndedOnAnotherThread) {
  auto section = Hold();
#ifdef NDEBUG
  std::thread([&] { section.reset(); }).join();
  EXPECT_EQ(section, nullptr);
  EXPECT_EQ(Domain().Poll(), 0u);
#else
  EXPECT_DEATH(std::thread([&] { section.reset(); }).join(), "ReadSection ended on another thread");
  section.reset();
#endif
}

}  // namespace
}  // namespace fairlead
