#ifndef FAIRLEAD_DIRECTORY_AVAILABILITY_FEED_H_
#define FAIRLEAD_DIRECTORY_AVAILABILITY_FEED_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "fairlead/base/executor.h"
#include "fairlead/rpc/invoker_state.h"

namespace fairlead::internal {

// Brings what other threads learn of providers' availability to the executor, many changes in one task. Holds the
// executor weakly: a host may keep an Availability, or a lease, for longer than everything else. Thread-safe.
class AvailabilityFeed final : public AvailabilityListener, public std::enable_shared_from_this<AvailabilityFeed> {
 public:
  using Batch = std::vector<StateRef>;

  // `deliver` runs on the executor with the states that changed, each once. `downs` is counted up for each provider
  // that goes down, at once.
  AvailabilityFeed(std::weak_ptr<Executor> executor, std::weak_ptr<std::atomic<std::uint64_t>> downs,
                   std::uint32_t down_after, std::function<void(Batch)> deliver)
      : executor_(std::move(executor)), downs_(std::move(downs)), down_after_(down_after), deliver_(std::move(deliver)) {}

  void Changed(InvokerState& state) noexcept override;
  void CountDown() noexcept override {
    if (const auto downs = downs_.lock()) downs->fetch_add(1, std::memory_order_release);
  }
  std::uint32_t down_after() const noexcept override { return down_after_; }
  // Whatever comes from here on is dropped.
  void Close();

 private:
  void Deliver();

  const std::weak_ptr<Executor> executor_;
  const std::weak_ptr<std::atomic<std::uint64_t>> downs_;
  const std::uint32_t down_after_;
  const std::function<void(Batch)> deliver_;
  std::mutex mutex_;  // guards what follows
  Batch changed_;
  bool closed_ = false;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_AVAILABILITY_FEED_H_
