#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/base/read_domain.h"
#include "fairlead/base/thread_slot.h"

// Readers look at an object that a writer replaces and retires as fast as it can. A freed object is poisoned
// with a plain write and reused only much later, so that a reader which still looks at it sees the poison
// (and ThreadSanitizer a race) rather than a crash once in a while. With either fence taken out of the domain
// this fails within a second on two hardware threads.

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
  explicit Torture(std::size_t objects) : objects_(objects) { current_ = &objects_[0]; }

  // Replaces the object once for each of the others. Several writers may do so at a time.
  void Write() {
    for (std::size_t next; (next = next_.fetch_add(1)) < objects_.size();) {
      Contend();
      Object* const old = current_.exchange(&objects_[next], std::memory_order_acq_rel);
      ReadDomain::Global().Retire([this, old] {
        for (std::uint64_t& word : old->words) word = kPoison;
        freed_.fetch_add(1, std::memory_order_relaxed);
      });
    }
    writers_done_.fetch_add(1);
  }

  // Looks until `writers` have finished.
  void Read(std::uint64_t seed, int writers) {
    Random random(seed);
    while (writers_done_.load(std::memory_order_relaxed) < writers) Look(random.Next());
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
  }

  std::size_t freed() const { return freed_.load(); }
  std::size_t poisoned_looks() const { return poisoned_looks_.load(); }

 private:
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
  std::vector<Object> objects_;
  std::atomic<Object*> current_{nullptr};
  std::atomic<std::size_t> next_{1};
  std::atomic<std::size_t> freed_{0}, poisoned_looks_{0};
  std::atomic<int> writers_done_{0};
};

struct Outcome {
  std::size_t freed_before_last_poll, waiting_after, freed, poisoned_looks;
};

Outcome RunTorture(std::size_t objects, int readers, int writers) {
  Torture torture(objects);
  std::vector<std::thread> threads;
  for (int r = 0; r < readers; ++r) {
    threads.emplace_back([&, r] { torture.Read(Mix64(static_cast<std::uint64_t>(r)), writers); });
  }
  for (int w = 0; w < writers; ++w) threads.emplace_back([&] { torture.Write(); });
  for (std::thread& thread : threads) thread.join();
  const std::size_t before = torture.freed();
  const std::size_t waiting = ReadDomain::Global().Poll();
  return {before, waiting, torture.freed(), torture.poisoned_looks()};
}

constexpr std::size_t kObjects = 200'000;

TEST(ReadDomainTorture, OneReaderOneWriter) {
  const Outcome outcome = RunTorture(kObjects, 1, 1);
  EXPECT_EQ(outcome.poisoned_looks, 0u);
  EXPECT_GT(outcome.freed_before_last_poll, 0u);
  EXPECT_EQ(outcome.waiting_after, 0u);
  EXPECT_EQ(outcome.freed, kObjects - 1);
}

TEST(ReadDomainTorture, ManyReadersManyWriters) {
  const Outcome outcome = RunTorture(kObjects / 4, 6, 3);
  EXPECT_EQ(outcome.poisoned_looks, 0u);
  EXPECT_EQ(outcome.waiting_after, 0u);
  EXPECT_EQ(outcome.freed, kObjects / 4 - 1);
}

TEST(ReadDomainTorture, ThreadsComeAndGoByTheThousand) {
  Torture torture(kObjects / 4);
  std::thread writer([&] { torture.Write(); });
  std::uint32_t highest = 0;
  for (int i = 0; i < 4000; ++i) {
    std::thread([&] {
      highest = std::max(highest, ThreadSlot());
      for (std::uint64_t choice = 0; choice < 20; ++choice) torture.Look(choice * 5);
    }).join();
  }
  writer.join();
  EXPECT_LT(highest, 16u);
  EXPECT_EQ(ReadDomain::Global().Poll(), 0u);
  EXPECT_EQ(torture.poisoned_looks(), 0u);
  EXPECT_EQ(torture.freed(), kObjects / 4 - 1);
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

class ReadDomainFencesDeathTest : public ::testing::Test {
 protected:
  // The child starts afresh, with a domain that has not chosen its fences yet.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ReadDomainFencesDeathTest, WithoutMembarrierReadersFence) {
  EXPECT_EXIT(
      {
        if (!ForbidMembarrier()) std::_Exit(2);
        const Outcome outcome = RunTorture(2 * kObjects, 1, 1);
        const bool good = internal::epoch_state.readers_fence && outcome.poisoned_looks == 0 &&
                          outcome.waiting_after == 0 && outcome.freed == 2 * kObjects - 1;
        std::_Exit(good ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

#ifndef FAIRLEAD_INTERNAL_TSAN  // which does without membarrier
TEST_F(ReadDomainFencesDeathTest, MembarrierForbiddenLaterFreesNothing) {
  EXPECT_EXIT(
      {
        int freed = 0;
        ReadDomain::Global().Retire([&] { ++freed; });
        if (freed != 1 || internal::epoch_state.readers_fence) std::_Exit(3);
        if (!ForbidMembarrier()) std::_Exit(2);
        ReadDomain::Global().Retire([&] { ++freed; });
        std::_Exit(freed == 1 && ReadDomain::Global().Poll() == 1 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace fairlead
