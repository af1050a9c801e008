#include "fairlead/registry/burst_window.h"

#include <algorithm>

namespace fairlead {

std::optional<std::chrono::nanoseconds> BurstWindow::OnEvent(Clock::SteadyTime now) {
  if (read_due_) return std::nullopt;
  read_due_ = true;
  waited_ = last_read_.has_value() && now < *last_read_ + window_;
  if (!waited_) return std::chrono::nanoseconds::zero();
  return *last_read_ + window_ - now;
}

void BurstWindow::OnRead(Clock::SteadyTime now) {
  if (read_due_) window_ = waited_ ? std::min(window_ * 2, limits_.longest) : limits_.first;
  read_due_ = false;
  last_read_ = now;
}

}  // namespace fairlead
