#ifndef FAIRLEAD_BASE_READ_DOMAIN_H_
#define FAIRLEAD_BASE_READ_DOMAIN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>

#include "absl/functional/any_invocable.h"
#include "fairlead/base/thread_slot.h"

#if defined(__SANITIZE_THREAD__)
#define FAIRLEAD_INTERNAL_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FAIRLEAD_INTERNAL_TSAN 1
#endif
#endif

namespace fairlead {

// Safe reclamation for snapshots that readers reach through one atomic pointer: an epoch domain.
//
// A reader holds a ReadSection while it looks at an object; a writer unlinks the object (so that no new
// reader finds it) and hands it to Retire. Poll runs the deleters of objects that no section can still see.
// Readers never wait, never allocate (after a thread's first section) and write only their own cache line.
// A section that stays open delays freeing, never a thread. read_domain.cc has the memory-order argument.
class ReadDomain {
 public:
  // The one domain of the process: thread slots are per process. Never destroyed; what still waits at exit is
  // not freed.
  static ReadDomain& Global();

  ReadDomain(const ReadDomain&) = delete;
  ReadDomain& operator=(const ReadDomain&) = delete;

  // Calls `free` once no section that could have seen the unlinked object is open; the call comes out of a
  // later Poll or Retire (of any thread), or out of this one, with no lock held, in the order of retirement.
  // `free` must not throw; it may open sections and call Retire. Thread-safe; may allocate and make a system
  // call. The caller must have unlinked the object with a store that happened before.
  void Retire(absl::AnyInvocable<void()> free);

  // Frees what can be freed now. Returns how many objects still wait; the caller polls again later if any.
  // Thread-safe. Linear in the largest number of threads that read at one time.
  std::size_t Poll();

  // How long the oldest open section that holds something back has been seen open, in epochs (one epoch is
  // one Retire); 0 = none. Thread-safe.
  std::uint64_t OldestReaderLag() const;

 private:
  struct Retired {
    absl::AnyInvocable<void()> free;
    std::uint64_t epoch;
  };

  ReadDomain();
  ~ReadDomain() = default;
  void InForkedChild();

  mutable std::mutex mutex_;
  std::list<Retired> waiting_;      // by epoch; a list, so that nothing is allocated under the lock
  std::uint64_t last_barrier_ = 0;  // objects retired at or before this epoch need no barrier any more
};

namespace internal {

// One thread's mark. 0 = in no section; else the epoch of its outermost section, and below it the depth of
// nesting. 48 bits of epoch last for nine years of a million retirements a second.
struct alignas(64) Reader {
  static constexpr int kDepthBits = 16;
  static constexpr std::uint64_t kDepthMask = (std::uint64_t{1} << kDepthBits) - 1;
  std::atomic<std::uint64_t> mark{0};
};

// What every reader reads and only Retire writes.
struct alignas(64) EpochState {
  std::atomic<std::uint64_t> epoch{1};
  bool readers_fence = false;  // set once, before the first section, when the kernel has no membarrier
};
extern constinit EpochState epoch_state;

Reader* ClaimReader();
[[noreturn]] void SectionEndedElsewhere();

}  // namespace internal

// Between construction and destruction, nothing that was reachable can be freed. Lives on a stack that does
// not suspend; sections nest; ends on the thread that began it (checked in debug builds). Works in
// destructors of thread_local objects. Costs two plain stores; the first section of a thread locks and may
// allocate.
class [[nodiscard]] ReadSection {
 public:
  ReadSection() noexcept : reader_(internal::thread_state.reader) {
    if (reader_ == nullptr) [[unlikely]]
      reader_ = internal::ClaimReader();
    const std::uint64_t mark = reader_->mark.load(std::memory_order_relaxed);
    if (mark != 0) {
      reader_->mark.store(mark + 1, std::memory_order_release);
      return;
    }
    const std::uint64_t epoch = internal::epoch_state.epoch.load(std::memory_order_acquire);
    reader_->mark.store((epoch << internal::Reader::kDepthBits) + 1, std::memory_order_release);
#ifdef FAIRLEAD_INTERNAL_TSAN
    internal::epoch_state.epoch.fetch_add(0, std::memory_order_acq_rel);
#else
    if (internal::epoch_state.readers_fence) [[unlikely]]
      std::atomic_thread_fence(std::memory_order_seq_cst);
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
  }

  ~ReadSection() {
#ifndef NDEBUG
    if (reader_ != internal::thread_state.reader) internal::SectionEndedElsewhere();
#endif
    const std::uint64_t mark = reader_->mark.load(std::memory_order_relaxed) - 1;
    reader_->mark.store((mark & internal::Reader::kDepthMask) != 0 ? mark : 0, std::memory_order_release);
  }

  ReadSection(const ReadSection&) = delete;
  ReadSection& operator=(const ReadSection&) = delete;
  static void* operator new(std::size_t) = delete;

 private:
  internal::Reader* reader_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_READ_DOMAIN_H_
