#ifndef FAIRLEAD_DIRECTORY_AVAILABILITY_FEED_H_
#define FAIRLEAD_DIRECTORY_AVAILABILITY_FEED_H_

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

  // `deliver` runs on the executor with the states that changed, each once.
  AvailabilityFeed(std::weak_ptr<Executor> executor, std::uint32_t down_after, std::function<void(Batch)> deliver)
      : executor_(std::move(executor)), down_after_(down_after), deliver_(std::move(deliver)) {}

  void Changed(InvokerState& state) noexcept override;
  std::uint32_t down_after() const noexcept override { return down_after_; }
  // Whatever comes from here on is dropped.
  void Close();

 private:
  void Deliver();

  const std::weak_ptr<Executor> executor_;
  const std::uint32_t down_after_;
  const std::function<void(Batch)> deliver_;
  std::mutex mutex_;  // guards what follows
  Batch changed_;
  bool closed_ = false;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_AVAILABILITY_FEED_H_
