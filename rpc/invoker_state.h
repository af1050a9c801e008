#ifndef FAIRLEAD_RPC_INVOKER_STATE_H_
#define FAIRLEAD_RPC_INVOKER_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "fairlead/rpc/invoker.h"
#include "fairlead/rpc/invoker_set.h"

namespace fairlead {

// What is known of one provider between snapshots, on one cache line: how many leases are out, whether it is
// draining, whether the host said it is down. Every snapshot that lists the provider shares it, so counts
// survive updates. Owns the Invoker.
//
// The data plane calls TryAcquire, Release, down() and active() on any thread. Everything else is the
// executor's. Life: live -> draining (no new leases) -> live again, or abandoned, which is final: whoever
// brings the count to zero after Abandon deletes the state.
class alignas(64) InvokerState {
 public:
  InvokerState(ProviderId id, std::unique_ptr<Invoker> invoker) : id_(id), invoker_(std::move(invoker)) {}
  InvokerState(const InvokerState&) = delete;
  InvokerState& operator=(const InvokerState&) = delete;

  // Counts one lease; false, with nothing counted, when draining. Called inside a ReadSection that found this
  // state through a snapshot.
  bool TryAcquire() {
    const std::uint64_t old = word_.fetch_add(kOneLease, std::memory_order_acquire);
    if ((old & (kDraining | kAbandoned)) == 0) return true;
    Release();
    return false;
  }
  void Release() {
    const std::uint64_t old = word_.fetch_sub(kOneLease, std::memory_order_acq_rel);
    if ((old & kAbandoned) != 0 && old / kOneLease == 1) delete this;
  }
  std::uint32_t active() const {
    return static_cast<std::uint32_t>(word_.load(std::memory_order_relaxed) / kOneLease);
  }
  bool draining() const { return (word_.load(std::memory_order_relaxed) & kDraining) != 0; }
  bool down() const { return down_.load(std::memory_order_relaxed); }
  void SetDown(bool down) { down_.store(down, std::memory_order_relaxed); }

  void SetDraining(bool draining) {
    if (draining) {
      word_.fetch_or(kDraining, std::memory_order_acq_rel);
    } else {
      word_.fetch_and(~kDraining, std::memory_order_acq_rel);
    }
  }
  // REQUIRES: no snapshot that a reader can still see lists this state; Invoker::Destroy has been called.
  // Gives up ownership: deletes now when no lease is out, else the last Release does.
  void Abandon() {
    const std::uint64_t old = word_.fetch_or(kAbandoned, std::memory_order_acq_rel);
    if (old / kOneLease == 0) delete this;
  }

  ProviderId id() const { return id_; }
  Invoker& invoker() const { return *invoker_; }

 private:
  ~InvokerState() = default;

  static constexpr std::uint64_t kDraining = 1, kAbandoned = 2, kOneLease = 4;

  std::atomic<std::uint64_t> word_{0};
  std::atomic<bool> down_{false};
  const ProviderId id_;
  const std::unique_ptr<Invoker> invoker_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_INVOKER_STATE_H_
