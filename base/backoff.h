#ifndef FAIRLEAD_BASE_BACKOFF_H_
#define FAIRLEAD_BASE_BACKOFF_H_

#include <algorithm>
#include <chrono>

#include "fairlead/base/random.h"

namespace fairlead {

// Exponential back-off with full jitter: attempt k waits a uniform time in [floor, min(cap, base * 2^k)].
// Full jitter keeps many clients of one failed server from coming back together. Not thread-safe.
class Backoff {
 public:
  using Duration = std::chrono::milliseconds;

  Backoff(Duration floor, Duration base, Duration cap) : floor_(floor), base_(base), cap_(cap) {}

  Duration Next(Random& random) {
    const auto limit = std::max(floor_, std::min(cap_, base_ * (std::int64_t{1} << std::min(attempt_, 20))));
    ++attempt_;
    const auto span = static_cast<std::uint64_t>((limit - floor_).count()) + 1;
    return floor_ + Duration(static_cast<std::int64_t>(random.Below(span)));
  }
  void Reset() { attempt_ = 0; }
  int attempts() const { return attempt_; }

 private:
  Duration floor_, base_, cap_;
  int attempt_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_BACKOFF_H_
