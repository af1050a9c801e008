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

// The pauses of what a registry failed to do: attempt k (from 0) waits a random time of at least 200 ms and at
// most min(max(60 s, period), period * 2^k). Random from the first one on, because what fails for one client of a
// registry fails for all of them at the same moment.
inline Backoff RetryBackoff(std::chrono::milliseconds period) {
  return Backoff(std::chrono::milliseconds(200), period, std::max(period, std::chrono::milliseconds(60'000)));
}

// The pauses before a list or document is read again that could not be read. Quicker than the above, and no
// parameter's to slow down: consumers go by an old list meanwhile, and who subscribed with check=true waits for the
// first answer no longer than a few seconds.
inline Backoff ReadBackoff() {
  return Backoff(std::chrono::milliseconds(200), std::chrono::milliseconds(500), std::chrono::milliseconds(30'000));
}

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_BACKOFF_H_
