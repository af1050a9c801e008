#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/base/read_domain.h"
#include "fairlead/base/thread_slot.h"

// Readers look at an object that a writer replaces and retires as fast as it can. A freed object is poisoned
// with a plain write and reused only much later, so that a reader which still looks at it sees the poison
// (and ThreadSanitizer a race) rather than a crash once in a while. With either fence taken out of the domain
// this fails within seconds where two hardware threads are idle.

namespace fairlead {
namespace {

constexpr std::uint64_t kAlive = 0x600d600d600d600du;
constexpr std::uint64_t kPoison = 0xdeaddeaddeaddeadu;

struct Object {
  std::uint64_t words[4] = {kAlive, kAlive, kAlive, kAlive};
};

bool Alive(const Object& object) {
  bool alive = true;
  for (const std::uint64_t& word : object.words)
    alive &= *const_cast<const volatile std::uint64_t*>(&word) == kAlive;
  return alive;
}

class Torture {
 public:
  Torture() {
    for (Object& object : objects_) free_.push_back(&object);
    current_ = TakeFree();
  }

  // Replaces the object until `looks_wanted` looks met a replacement, but not more than `most` times. A
  // machine that is busy with other things seldom lets reader and writer run at one time, hence both. Several
  // writers may do so at a time.
  void Write(std::size_t looks_wanted, std::size_t most) {
    for (std::size_t n = 0; n < most && replaced_looks() < looks_wanted; ++n) {
      Object* const next = TakeFree();
      for (std::uint64_t& word : next->words) word = kAlive;
      Contend();
      Object* const old = current_.exchange(next, std::memory_order_acq_rel);
      ++retired_;
      ReadDomain::Global().Retire([this, old] {
        for (std::uint64_t& word : old->words) word = kPoison;
        ++freed_;
        const std::lock_guard lock(mutex_);
        free_.push_back(old);
      });
    }
  }

  void Look(std::uint64_t choice) {
    Contend();
    const ReadSection section;
    const Object* const object = current_.load(std::memory_order_acquire);
    Expect(Alive(*object));
    if (choice % 4 == 0) {
      const ReadSection nested;
      Expect(Alive(*current_.load(std::memory_order_acquire)));
    }
    // A stay of random length, so that a retirement falls into any part of it.
    for (std::uint64_t turns = choice / 4 % 64; turns > 0; --turns) Expect(Alive(*object));
    if (current_.load(std::memory_order_relaxed) != object) {
      replaced_looks_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  // Call when all threads have ended.
  void Check() {
    EXPECT_EQ(poisoned_looks_, 0u);
    EXPECT_GT(freed_, 0u) << "everything waited for the end";
    EXPECT_EQ(ReadDomain::Global().Poll(), 0u);
    EXPECT_EQ(freed_, retired_);
  }

  std::size_t replaced_looks() const { return replaced_looks_.load(std::memory_order_relaxed); }

 private:
  // The object that has been free for longest. Readers that hold all of them back get time to leave.
  Object* TakeFree() {
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
          Object* const object = free_.front();
          free_.pop_front();
          return object;
        }
      }
      std::this_thread::yield();
      ReadDomain::Global().Poll();
    }
  }

  // Stores that all threads fight for. A processor keeps its stores in order, so the mark of a section that
  // begins right after them stays invisible for long, unless a fence sees to it.
  void Contend() {
    for (Line& line : contended_) line.word.store(1, std::memory_order_relaxed);
  }

  void Expect(bool alive) {
    if (!alive) poisoned_looks_.fetch_add(1, std::memory_order_relaxed);
  }

  struct alignas(64) Line {
    std::atomic<int> word{0};
  };

  Line contended_[16];
  std::vector<Object> objects_ = std::vector<Object>(50'000);
  std::mutex mutex_;
  std::deque<Object*> free_;
  std::atomic<Object*> current_{nullptr};
  std::atomic<std::size_t> retired_{0}, freed_{0}, poisoned_looks_{0}, replaced_looks_{0};
};

// Ties the calling thread to one of the processors it may use, so that readers and writers do not take turns
// on one. Where that is forbidden they run where they run.
void PinTo(int index) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  index %= std::max(1, CPU_COUNT(&allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || index-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

void RunTorture(int readers, int writers, std::size_t looks_wanted, std::size_t most) {
  Torture torture;
  std::atomic<int> writing{writers};
  std::vector<std::thread> threads;
  for (int r = 0; r < readers; ++r) {
    threads.emplace_back([&, r] {
      PinTo(r);
      Random random(Mix64(static_cast<std::uint64_t>(r)));
      while (writing.load(std::memory_order_relaxed) > 0) torture.Look(random.Next());
    });
  }
  for (int w = 0; w < writers; ++w) {
    threads.emplace_back([&, w] {
      PinTo(readers + w);
      torture.Write(looks_wanted, most);
      --writing;
    });
  }
  for (std::thread& thread : threads) thread.join();
  torture.Check();
}

TEST(ReadDomainTorture, OneReaderOneWriter) { RunTorture(1, 1, 50'000, 500'000); }

TEST(ReadDomainTorture, ManyReadersManyWriters) { RunTorture(6, 3, 50'000, 50'000); }

TEST(ReadDomainTorture, ThreadsComeAndGoByTheThousand) {
  Torture torture;
  std::thread writer([&] { torture.Write(1'000'000, 50'000); });
  std::uint32_t highest = 0;
  for (int i = 0; i < 4000; ++i) {
    std::thread([&] {
      highest = std::max(highest, ThreadSlot());
      for (std::uint64_t choice = 0; choice < 20; ++choice) torture.Look(choice * 5);
    }).join();
  }
  writer.join();
  EXPECT_LT(highest, 16u);
  torture.Check();
}

// From now on the process cannot call membarrier.
bool ForbidMembarrier() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {4, steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

constexpr char kNoMembarrier[] = "FAIRLEAD_TEST_NO_MEMBARRIER";

TEST(ReadDomainFences, AreChosenByWhatTheKernelOffers) {
  EXPECT_EQ(internal::epoch_state.readers_fence, std::getenv(kNoMembarrier) != nullptr);
}

// Runs the tests of the domain again in a process that never had membarrier.
TEST(ReadDomainFences, WithoutMembarrierReadersFence) {
  if (std::getenv(kNoMembarrier) != nullptr) GTEST_SKIP() << "is that process";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv(kNoMembarrier, "1", 1);
    if (!ForbidMembarrier()) _exit(2);
    execl("/proc/self/exe", "base_test", "--gtest_brief=1",
          "--gtest_filter=ReadDomain.*:ReadDomainTorture.*:*AreChosen*", static_cast<char*>(nullptr));
    _exit(3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

#ifndef FAIRLEAD_INTERNAL_TSAN  // which does without membarrier
TEST(ReadDomainFences, MembarrierForbiddenLaterFreesNothing) {
  if (std::getenv(kNoMembarrier) != nullptr) GTEST_SKIP() << "it never was allowed";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int freed = 0;
    ReadDomain::Global().Retire([&] { ++freed; });
    if (freed != 1) _exit(3);
    if (!ForbidMembarrier()) _exit(2);
    ReadDomain::Global().Retire([&] { ++freed; });
    _exit(freed == 1 && ReadDomain::Global().Poll() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

}  // namespace
}  // namespace fairlead
