#include "fairlead/rpc/invoker_state.h"

#include <pthread.h>

#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

#include "fairlead/rpc/lease.h"

namespace fairlead {

static_assert(sizeof(InvokerState) == 64, "one cache line per provider, so that picks of two do not meet");

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kPooled = false;  // they must see each state's life
#else
constexpr bool kPooled = true;
#endif

// Memory for states, a page at a time. Never destroyed: leases may end after the static objects have.
class Pages {
 public:
  static Pages& Get() {
    static Pages* const pages = new Pages;
    return *pages;
  }

  void* Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      total_ += kCells;
      if (free_.capacity() < total_) free_.reserve(2 * total_);  // so that Give never allocates
      char* page = static_cast<char*>(::operator new(kPage, std::align_val_t(kPage)));
      for (std::size_t i = kCells; i-- > 0;) free_.push_back(page + i * sizeof(InvokerState));
    }
    void* cell = free_.back();
    free_.pop_back();
    return cell;
  }
  void Give(void* cell) {
    const std::lock_guard lock(mutex_);
    free_.push_back(cell);
  }

 private:
  static constexpr std::size_t kPage = 4096, kCells = kPage / sizeof(InvokerState);

  // A child of a fork must not find the mutex held by a thread that it does not have.
  Pages() {
    pthread_atfork([] { Get().mutex_.lock(); }, [] { Get().mutex_.unlock(); }, [] { Get().mutex_.unlock(); });
  }

  std::mutex mutex_;
  std::size_t total_ = 0;
  std::vector<void*> free_;
};

}  // namespace

void* InvokerState::operator new(std::size_t size) {
  if (!kPooled) return ::operator new(size, std::align_val_t(alignof(InvokerState)));
  return Pages::Get().Take();
}

void InvokerState::operator delete(void* state) noexcept {
  if (!kPooled) return ::operator delete(state, std::align_val_t(alignof(InvokerState)));
  Pages::Get().Give(state);
}

void InvokerState::Report(bool up) {
  std::uint32_t old = health_.load(std::memory_order_relaxed);
  std::uint32_t now;
  do {
    now = ((old & ~(kDown | kFailures)) + kOneReport) | (up ? 0 : kDown);
  } while (!health_.compare_exchange_weak(old, now, std::memory_order_acq_rel, std::memory_order_relaxed));
  if (((old ^ now) & kDown) != 0) Tell(!up);
}

bool InvokerState::ComeUp(std::uint32_t seen) {
  return health_.compare_exchange_strong(seen, seen & ~(kDown | kFailures), std::memory_order_acq_rel,
                                         std::memory_order_relaxed);
}

void InvokerState::CountFailure(absl::StatusCode code) {
  // A cancelled call says nothing of its provider.
  if (code == absl::StatusCode::kCancelled) return;
  if (code != absl::StatusCode::kUnavailable) {
    if ((health_.load(std::memory_order_relaxed) & kFailures) != 0) ForgetFailures();
    return;
  }
  const std::uint32_t limit = listener_ == nullptr ? 0 : listener_->down_after();
  if (limit == 0) return;
  std::uint32_t old = health_.load(std::memory_order_relaxed);
  std::uint32_t now;
  do {
    if ((old & kDown) != 0) return;
    const bool over = (old & kFailures) / kOneFailure + 1 >= limit;
    now = over ? (old & ~kFailures) | kDown : old + kOneFailure;
  } while (!health_.compare_exchange_weak(old, now, std::memory_order_acq_rel, std::memory_order_relaxed));
  if ((now & kDown) != 0) Tell(true);
}

void InvokerState::Tell(bool down) {
  if (listener_ == nullptr) return;
  // Both sides exchange, so that whoever clears the mark sees what was written before it was found set.
  if (!telling_.exchange(true, std::memory_order_acq_rel)) listener_->Changed(*this);
  // Last: whoever sees the count has been told of the change.
  if (down) listener_->WentDown();
}

void InvokerState::End() {
  // The invoker may hold the last report of its own availability.
  std::unique_ptr<Invoker> ended = std::move(invoker_);
  ended.reset();
  Unref();
}

}  // namespace fairlead
