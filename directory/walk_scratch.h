#ifndef FAIRLEAD_DIRECTORY_WALK_SCRATCH_H_
#define FAIRLEAD_DIRECTORY_WALK_SCRATCH_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fairlead/rpc/invoker_set.h"

namespace fairlead::internal {

// Memory for picks that have no plan and narrow the list down themselves: three sets for each that does so at one time.
//
// All sets of one object are big enough for its capacity, so none grows in a pick; a snapshot with a longer list gets
// another object. A pick claims its sets by one atomic exchange, beginning with those that its thread used last, and
// gives them back: it may nest in another on the same thread, and threads may share a home. When all that were made are
// in use, the pick makes more, which stay: so a pick allocates only where more walk at one time than ever did. Of
// more than kMost at one time, the last ones allocate. Thread-safe, lock-free.
class WalkScratch {
 public:
  static constexpr std::size_t kMost = 64;

  // Slots of the sets. Allocates nothing yet.
  explicit WalkScratch(std::size_t capacity) : capacity_(capacity) {}
  ~WalkScratch() {
    for (auto& cell : cells_) delete cell.load(std::memory_order_relaxed);
  }
  WalkScratch(const WalkScratch&) = delete;
  WalkScratch& operator=(const WalkScratch&) = delete;

  std::size_t capacity() const { return capacity_; }
  // Makes the sets of that many picks at one time, as far as they are not there. By one thread at a time.
  void Provide(std::size_t count) {
    for (; provided_ < count && provided_ < kMost; ++provided_) {
      GiveBack(std::make_unique<Sets>(capacity_), static_cast<std::uint32_t>(provided_));
    }
  }

 private:
  struct Sets {
    explicit Sets(std::size_t capacity) : first(capacity), second(capacity), spare(capacity) {}
    InvokerSet first, second, spare;
  };

 public:
  // Three sets of a pick, as long as it needs them. What they hold is left over from others.
  class Claim {
   public:
    // `thread`: ThreadSlot(). REQUIRES: `from` outlives this
    Claim(WalkScratch& from, std::uint32_t thread) : from_(from), thread_(thread), sets_(from.Take(thread)) {}
    ~Claim() { from_.GiveBack(std::move(sets_), thread_); }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    InvokerSet& first() const { return sets_->first; }
    InvokerSet& second() const { return sets_->second; }
    InvokerSet& spare() const { return sets_->spare; }

   private:
    WalkScratch& from_;
    const std::uint32_t thread_;
    std::unique_ptr<Sets> sets_;
  };

 private:
  // Neighbours in number are on different cache lines.
  static std::size_t Home(std::uint32_t thread) { return thread % 8 * 8 + thread / 8 % 8; }

  std::unique_ptr<Sets> Take(std::uint32_t thread) {
    for (std::size_t i = 0; i < kMost; ++i) {
      std::atomic<Sets*>& cell = cells_[(Home(thread) + i) % kMost];
      if (cell.load(std::memory_order_relaxed) == nullptr) continue;
      if (Sets* sets = cell.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<Sets>(sets);
    }
    return std::make_unique<Sets>(capacity_);
  }
  void GiveBack(std::unique_ptr<Sets> sets, std::uint32_t thread) {
    for (std::size_t i = 0; i < kMost; ++i) {
      Sets* expected = nullptr;
      if (cells_[(Home(thread) + i) % kMost].compare_exchange_strong(expected, sets.get(), std::memory_order_release,
                                                                     std::memory_order_relaxed)) {
        sets.release();
        return;
      }
    }
  }

  const std::size_t capacity_;
  std::size_t provided_ = 0;
  alignas(64) std::array<std::atomic<Sets*>, kMost> cells_{};
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_WALK_SCRATCH_H_
