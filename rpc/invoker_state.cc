#include "fairlead/rpc/invoker_state.h"

#include "fairlead/rpc/lease.h"

namespace fairlead {

static_assert(sizeof(InvokerState) == internal::LinePages::kLine, "one cache line per provider, so that picks of two do not meet");

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

void InvokerState::Refuse() { Release(); }

void InvokerState::End() {
  // The invoker may hold the last report of its own availability.
  std::unique_ptr<Invoker> ended = std::move(invoker_);
  ended.reset();
  Unref();
}

}  // namespace fairlead
