#ifndef FAIRLEAD_RPC_LEASE_H_
#define FAIRLEAD_RPC_LEASE_H_

#include <chrono>
#include <optional>
#include <utility>

#include "absl/status/status.h"

#include "fairlead/rpc/invoker_state.h"

namespace fairlead {

// The right to call one invoker, and the count that least-active balancing reads. Move only; may travel
// between threads; may outlive the Directory and the Runtime: the invoker object lives until the last lease
// ends (it may be closed earlier, when its drain timeout passes). Every member is a few instructions.
class Lease {
 public:
  Lease() = default;
  // Takes over one count of `state` (from TryAcquire).
  explicit Lease(InvokerState* acquired) : state_(acquired) {}
  Lease(Lease&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Lease& operator=(Lease&& other) noexcept {
    if (this != &other) {
      Drop();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~Lease() { Drop(); }

  explicit operator bool() const { return state_ != nullptr; }
  // REQUIRES: not ended.
  Invoker& invoker() const { return state_->invoker(); }
  // The host's own type, as its Protocol made it: a static_cast.
  template <class T>
  T& As() const {
    return static_cast<T&>(state_->invoker());
  }
  ProviderId provider_id() const { return state_->id(); }

  // The call is over. A second End, and the destructor after it, do nothing; a lease destroyed without End
  // counts as cancelled.
  //
  // kUnavailable means that the provider could not be reached: several in a row (consumer parameter `down.after`, 3
  // by default) count as down, as if the host had reported it, until a report or a probe says otherwise. Every other
  // outcome but kCancelled ends the row, so an error that a reachable provider answered with must not be passed as
  // kUnavailable.
  void End(const absl::Status& outcome, std::optional<std::chrono::nanoseconds> took = {}) {
    (void)took;
    if (InvokerState* state = std::exchange(state_, nullptr)) {
      state->CountOutcome(outcome);
      state->Release();
    }
  }

 private:
  void Drop() {
    if (InvokerState* state = std::exchange(state_, nullptr)) state->Release();
  }
  InvokerState* state_ = nullptr;
};

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_LEASE_H_
