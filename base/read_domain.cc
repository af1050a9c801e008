#include "fairlead/base/read_domain.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

// Why nothing is freed under a reader.
//
//   reader, outermost section                     writer
//   R1  e := epoch            (acquire)           W1  unlink: the pointer no longer leads to X  (release)
//   R2  mark := e             (release)           W2  tag of X := epoch; epoch := epoch + 1     (acq_rel)
//   R3  light fence                               W3  heavy fence
//   R4  load the pointer, use the object          W4  read all marks                            (acquire)
//   R5  mark := 0             (release)           W5  free X if every mark is 0 or greater than the tag
//
// 1. The fences pair: for each R3 and W3, either everything before R3 is visible after W3, or everything
//    before W3 is visible after R3. Three ways to have that:
//    - membarrier(PRIVATE_EXPEDITED) as W3 runs a full fence on every running thread of the process (one that
//      does not run passed a full fence when it was switched out), at a point between two of its
//      instructions. R3 then only keeps the compiler from moving R4 before R2. If the point lies after R2, W4
//      sees R2; if before R4, R4 sees W1; one of the two always holds.
//    - Without membarrier both are seq_cst fences, which have one total order.
//    - Under ThreadSanitizer, which knows neither, both are read-modify-writes of `epoch`. They are totally
//      ordered and each synchronises with the next. W2 itself is the writer's one.
// 2. Suppose a section holds X when W4 runs, so its R4 came before W1 in the pointer's order. By 1 its R2 is
//    visible to W4: W4 reads that mark or a later one of the same slot.
// 3. That mark is not greater than the tag: e > tag means that R1 read what W2 or a later writer wrote, so R1
//    synchronises with W2, W1 happens before R4, and R4 cannot have found X. Nested sections change the depth
//    below e, never e.
// 4. So while the section is open, W5 keeps X. When W4 reads R5 or any later mark of the slot (all are
//    releases, by the thread itself or by one that took over the slot under the slot table's lock), the use
//    of X in R4 happens before W4 and so before the free.
// 5. A slot that W4 does not find yet: its block was published before its first R2, so 1 covers it like R2.
// 6. A later W4 for the same X needs no new W3: what the first one saw can only be followed by later marks.
//    All W4 of the process run under one lock.

namespace fairlead {
namespace internal {

constinit EpochState epoch_state;

namespace {

// Blocks of 64, 128, 256, ... marks, made when a thread with such a slot first reads and never given back: 26
// of them reach all slots, and a scan needs no lock against threads that come.
constexpr std::uint32_t kFirstBlock = 64;
constinit std::array<std::atomic<Reader*>, 27> blocks{};

constexpr std::uint32_t BlockSize(std::size_t block) { return kFirstBlock << block; }

Reader& ReaderOf(std::uint32_t slot) {
  const auto block = static_cast<std::size_t>(std::bit_width(slot / kFirstBlock + 1)) - 1;
  Reader* readers = blocks[block].load(std::memory_order_acquire);
  if (readers == nullptr) {
    auto* const made = new Reader[BlockSize(block)];
    if (blocks[block].compare_exchange_strong(readers, made, std::memory_order_acq_rel)) {
      readers = made;
    } else {
      delete[] made;
    }
  }
  return readers[slot - (BlockSize(block) - kFirstBlock)];
}

template <class Visit>
void ForEachReader(Visit visit) {
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    Reader* const readers = blocks[block].load(std::memory_order_acquire);
    if (readers == nullptr) continue;
    for (std::uint32_t i = 0; i < BlockSize(block); ++i) visit(readers[i]);
  }
}

constexpr std::uint64_t kNoReader = std::numeric_limits<std::uint64_t>::max();

std::uint64_t OldestEpoch() {
  std::uint64_t oldest = kNoReader;
  ForEachReader([&](const Reader& reader) {
    const std::uint64_t mark = reader.mark.load(std::memory_order_acquire);
    if (mark != 0) oldest = std::min(oldest, mark >> Reader::kDepthBits);
  });
  return oldest;
}

long Membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

// False if the kernel refuses what it granted at the start, as under a filter installed later.
bool HeavyFence() {
#ifndef FAIRLEAD_INTERNAL_TSAN
  if (!epoch_state.readers_fence) return Membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  return true;
}

}  // namespace

Reader* ClaimReader() {
  ReadDomain::Global();  // decides about the fences before the first section
  Reader& reader = ReaderOf(ThreadSlot());
  // Not 0 only if the slot's last thread ended inside a section.
  reader.mark.store(0, std::memory_order_release);
  return thread_state.reader = &reader;
}

void SectionEndedElsewhere() {
  std::fputs(
      "fairlead: a ReadSection ended on another thread than the one that began it; it must live on a "
      "stack that does not suspend or move to another thread\n",
      stderr);
  std::abort();
}

}  // namespace internal

ReadDomain& ReadDomain::Global() {
  static ReadDomain* const domain = new ReadDomain;
  return *domain;
}

namespace {

// Made when the program or module is loaded: a fork while another thread makes the domain would leave the
// child waiting for that thread. Registering for membarrier is cheap only while there is one thread, too.
[[maybe_unused]] const ReadDomain& made_at_load = ReadDomain::Global();

}  // namespace

ReadDomain::ReadDomain() {
  internal::epoch_state.readers_fence = internal::Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
  pthread_atfork([] { Global().mutex_.lock(); }, [] { Global().mutex_.unlock(); },
                 [] { Global().InForkedChild(); });
}

void ReadDomain::Retire(absl::AnyInvocable<void()> free) {
  std::list<Retired> one;
  one.push_back({std::move(free), 0});
  {
    const std::lock_guard lock(mutex_);
    one.front().epoch = internal::epoch_state.epoch.fetch_add(1, std::memory_order_acq_rel);
    waiting_.splice(waiting_.end(), one);
  }
  Poll();
}

std::size_t ReadDomain::Poll() {
  std::list<Retired> unseen;
  std::size_t left = 0;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return 0;
    if (const std::uint64_t newest = waiting_.back().epoch; newest > last_barrier_) {
      if (!internal::HeavyFence()) return waiting_.size();
      last_barrier_ = newest;
    }
    const std::uint64_t oldest = internal::OldestEpoch();
    auto keep = waiting_.begin();
    while (keep != waiting_.end() && keep->epoch < oldest) ++keep;
    unseen.splice(unseen.end(), waiting_, waiting_.begin(), keep);
    left = waiting_.size();
  }
  for (Retired& retired : unseen) retired.free();
  return left;
}

std::uint64_t ReadDomain::OldestReaderLag() const {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return 0;
  const std::uint64_t oldest = internal::OldestEpoch();
  if (oldest > waiting_.back().epoch) return 0;
  return internal::epoch_state.epoch.load(std::memory_order_relaxed) - oldest;
}

// Only the forking thread lives on; a section that another thread had open will never be closed.
void ReadDomain::InForkedChild() {
  internal::Membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  internal::ForEachReader([](internal::Reader& reader) {
    if (&reader != internal::thread_state.reader) reader.mark.store(0, std::memory_order_relaxed);
  });
  mutex_.unlock();
}

}  // namespace fairlead
