#include "fairlead/directory/availability_feed.h"

#include <utility>

namespace fairlead::internal {

void AvailabilityFeed::Changed(InvokerState& state) noexcept {
  try {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      changed_.emplace_back(state);
      if (changed_.size() > 1) return;  // the task for the first takes this one along
    }
    const auto executor = executor_.lock();
    if (executor != nullptr) {
      executor->Post([alive = weak_from_this()] {
        if (const auto self = alive.lock()) self->Deliver();
      });
    }
  } catch (...) {
    // Without memory the tables follow with the next change; until then picks may meet the provider.
    state.Heard();
  }
}

AvailabilityFeed::Batch AvailabilityFeed::Take() {
  Batch batch;
  const std::lock_guard lock(mutex_);
  batch.swap(changed_);
  return batch;
}

void AvailabilityFeed::Deliver() { deliver_(Take()); }

void AvailabilityFeed::Close() {
  Batch dropped;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  closed_ = true;
  dropped.swap(changed_);
}

}  // namespace fairlead::internal
