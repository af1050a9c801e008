#ifndef FAIRLEAD_BASE_BACKOFF_H_
#define FAIRLEAD_BASE_BACKOFF_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "fairlead/base/random.h"

namespace fairlead {

// Exponential back-off with full jitter: attempt k (from 0) waits a uniform time in
// [floor, min(cap, base * 2^k)], or `floor` where that is empty. Full jitter keeps many clients of one failed
// server from coming back together. Arguments must not be negative. Not thread-safe.
class Backoff {
 public:
  using Duration = std::chrono::milliseconds;

  Backoff(Duration floor, Duration base, Duration cap)
      : floor_(floor), base_(std::min(base, cap)), cap_(cap), limit_(base_) {}

  Duration Next(Random& random) {
    const Duration limit = std::max(floor_, limit_);
    limit_ = limit_ > cap_ / 2 ? cap_ : limit_ * 2;
    ++attempts_;
    const auto span = static_cast<std::uint64_t>((limit - floor_).count()) + 1;
    return floor_ + Duration(static_cast<std::int64_t>(random.Below(span)));
  }
  void Reset() {
    limit_ = base_;
    attempts_ = 0;
  }
  std::int64_t attempts() const { return attempts_; }

 private:
  Duration floor_, base_, cap_;
  Duration limit_;  // of the next attempt
  std::int64_t attempts_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_BACKOFF_H_
