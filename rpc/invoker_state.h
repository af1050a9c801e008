#ifndef FAIRLEAD_RPC_INVOKER_STATE_H_
#define FAIRLEAD_RPC_INVOKER_STATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"

#include "fairlead/rpc/invoker.h"
#include "fairlead/rpc/invoker_set.h"
#include "fairlead/rpc/line_pages.h"

namespace fairlead {

class InvokerState;

// Told when a provider went down or up by a report or by the outcome of calls. May live longer than who listens.
class AvailabilityListener {
 public:
  virtual ~AvailabilityListener() = default;
  // Any thread, also after everything else has ended; must not block. Only transitions come here, so it may
  // allocate and lock. A state that was told is not told again before InvokerState::Heard.
  virtual void Changed(InvokerState& state) noexcept = 0;
  // Any thread, at every change to down, after down() says so: for a count that picks read. A few instructions.
  virtual void WentDown() noexcept = 0;
  // So many outcomes kUnavailable in a row count as down; 0 = never.
  virtual std::uint32_t down_after() const noexcept = 0;
};

// What is known of one provider between snapshots, on one cache line: how many leases are out, whether it is
// draining, whether it is down. Every snapshot that lists the provider shares it, so counts survive updates.
// Owns the Invoker.
//
// The data plane calls TryAcquire, Release, CountOutcome, down() and active() on any thread. Report may come from
// any thread whose caller holds a StateRef. Everything else is the executor's. Life: live -> draining (no new
// leases) -> live again, or abandoned, which is final: whoever brings the count to zero after Abandon deletes the
// invoker, and the last StateRef the state itself.
class alignas(64) InvokerState {
 public:
  explicit InvokerState(ProviderId id, std::unique_ptr<Invoker> invoker = nullptr,
                        std::shared_ptr<AvailabilityListener> listener = nullptr)
      : id_(id), invoker_(std::move(invoker)), listener_(std::move(listener)) {}
  InvokerState(const InvokerState&) = delete;
  InvokerState& operator=(const InvokerState&) = delete;
  static void* operator new(std::size_t) { return internal::LinePages::Global().Take(); }
  static void operator delete(void* line) { internal::LinePages::Global().Give(line); }

  // Counts one lease; false, with nothing counted, when draining. Called inside a ReadSection that found this
  // state through a snapshot.
  bool TryAcquire() {
    const std::uint64_t old = word_.fetch_add(kOneLease, std::memory_order_acquire);
    if ((old & (kDraining | kAbandoned)) == 0) [[likely]] return true;
    Refuse();
    return false;
  }
  void Release() {
    const std::uint64_t old = word_.fetch_sub(kOneLease, std::memory_order_acq_rel);
    if ((old & kAbandoned) != 0 && old / kOneLease == 1) End();
  }
  std::uint32_t active() const {
    return static_cast<std::uint32_t>(word_.load(std::memory_order_relaxed) / kOneLease);
  }
  bool draining() const { return (word_.load(std::memory_order_relaxed) & kDraining) != 0; }
  bool down() const { return (health_.load(std::memory_order_relaxed) & kDown) != 0; }

  // How a call of this provider ended; REQUIRES: a lease of it is held. The usual success costs one load.
  void CountOutcome(const absl::Status& outcome) {
    if (!outcome.ok()) return CountFailure(outcome.code());
    if ((health_.load(std::memory_order_relaxed) & kFailures) != 0) ForgetFailures();
  }
  // The host's word; ends a row of failures.
  void Report(bool up);

  // A probe: read health() before asking the invoker, and hand it over with a good answer. False when a report came
  // in between, which is newer.
  std::uint32_t health() const { return health_.load(std::memory_order_acquire); }
  bool ComeUp(std::uint32_t seen);
  // The listener is about to look at down(): changes from here on are told anew.
  void Heard() { telling_.exchange(false, std::memory_order_acq_rel); }

  void SetDraining(bool draining) {
    if (draining) {
      word_.fetch_or(kDraining, std::memory_order_acq_rel);
    } else {
      word_.fetch_and(~kDraining, std::memory_order_acq_rel);
    }
  }
  // REQUIRES: no snapshot that a reader can still see lists this state; Invoker::Destroy has been called, if there
  // is an invoker. Gives up ownership: deletes now when no lease is out, else the last Release does.
  void Abandon() {
    const std::uint64_t old = word_.fetch_or(kAbandoned, std::memory_order_acq_rel);
    if (old / kOneLease == 0) End();
  }

  ProviderId id() const { return id_; }
  Invoker& invoker() const { return *invoker_; }
  // For a state that was made before its invoker, so that the invoker can report while it is made.
  // REQUIRES: no snapshot lists this state yet.
  void SetInvoker(std::unique_ptr<Invoker> invoker) { invoker_ = std::move(invoker); }

  // Where the current table has it; kNoSlot when it is not listed. Executor only.
  Slot slot() const { return slot_; }
  void SetSlot(Slot slot) { slot_ = slot; }
  // For whoever keeps such slots in chains: the one behind it; kNoSlot for the last. Executor only.
  Slot next() const { return next_; }
  void SetNext(Slot slot) { next_ = slot; }

 private:
  friend class StateRef;
  ~InvokerState() = default;

  void Refuse();  // takes the count back
  void CountFailure(absl::StatusCode code);
  void Tell(bool down);
  void ForgetFailures() { health_.fetch_and(~kFailures, std::memory_order_relaxed); }
  void End();
  void Unref() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  static constexpr std::uint64_t kDraining = 1, kAbandoned = 2, kOneLease = 4;
  // A report counts up the upper bits, so that a probe sees that its answer is older.
  static constexpr std::uint32_t kDown = 1, kOneFailure = 2, kFailures = 0xff * kOneFailure, kOneReport = 0x200;

  std::atomic<std::uint64_t> word_{0};
  std::atomic<std::uint32_t> health_{0};
  std::atomic<std::uint32_t> refs_{1};  // StateRefs, and one for the invoker's life
  const ProviderId id_;
  std::unique_ptr<Invoker> invoker_;
  const std::shared_ptr<AvailabilityListener> listener_;
  Slot slot_ = kNoSlot, next_ = kNoSlot;
  std::atomic<bool> telling_{false};
};

// Keeps the memory of an InvokerState, not its invoker: what an Availability holds, so that a report is safe at any
// time and waits for nobody. Copyable; any thread.
class StateRef {
 public:
  // REQUIRES: `state` is not abandoned, or a lease or another StateRef of it is held.
  explicit StateRef(InvokerState& state) : state_(&state) {
    state.refs_.fetch_add(1, std::memory_order_relaxed);
  }
  StateRef(const StateRef& other) : state_(other.state_) {
    if (state_ != nullptr) state_->refs_.fetch_add(1, std::memory_order_relaxed);
  }
  StateRef(StateRef&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  StateRef& operator=(StateRef other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~StateRef() {
    if (state_ != nullptr) state_->Unref();
  }

  InvokerState& operator*() const { return *state_; }
  InvokerState* operator->() const { return state_; }

 private:
  InvokerState* state_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_INVOKER_STATE_H_
