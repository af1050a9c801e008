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

// How often a provider of one directory went down. On a line of its own: every pick reads it, hardly anybody writes.
struct alignas(64) DownCount {
  std::atomic<std::uint64_t> count{0};
};

// Brings what other threads learn of providers' availability to the executor, many changes in one task. Holds the
// executor weakly: a host may keep an Availability, or a lease, for longer than everything else. Thread-safe.
class AvailabilityFeed final : public AvailabilityListener, public std::enable_shared_from_this<AvailabilityFeed> {
 public:
  using Batch = std::vector<StateRef>;

  // `deliver` runs on the executor with the states that changed, each once.
  AvailabilityFeed(std::weak_ptr<Executor> executor, std::uint32_t down_after, std::shared_ptr<DownCount> downs,
                   std::function<void(Batch)> deliver)
      : executor_(std::move(executor)), down_after_(down_after), downs_(std::move(downs)), deliver_(std::move(deliver)) {}

  void WentDown() noexcept override { downs_->count.fetch_add(1, std::memory_order_release); }

  void Changed(InvokerState& state) noexcept override;
  std::uint32_t down_after() const noexcept override { return down_after_; }
  // What has changed and was not delivered yet; the caller looks at it now. Executor only.
  Batch Take();
  // Whatever comes from here on is dropped.
  void Close();

 private:
  void Deliver();

  const std::weak_ptr<Executor> executor_;
  const std::uint32_t down_after_;
  const std::shared_ptr<DownCount> downs_;
  const std::function<void(Batch)> deliver_;
  std::mutex mutex_;  // guards what follows
  Batch changed_;
  bool closed_ = false;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_AVAILABILITY_FEED_H_
