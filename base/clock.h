#ifndef FAIRLEAD_BASE_CLOCK_H_
#define FAIRLEAD_BASE_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace fairlead {

// Two clocks behind one door, so that a test can own time.
//
// Steady time orders events and drives timers. System time (the wall clock) is only for what other
// processes wrote down: a provider's `timestamp`, an expiry in a registry. The pick path reads neither.
// Thread-safe.
class Clock {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;
  using SystemTime = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;
  virtual SteadyTime SteadyNow() const = 0;
  virtual SystemTime SystemNow() const = 0;

  // Milliseconds since the epoch, the unit of a url's `timestamp` parameter.
  std::int64_t SystemMillis() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(SystemNow().time_since_epoch()).count();
  }
};

// The machine's clocks. Stateless, never destroyed.
const Clock& RealClock();

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_CLOCK_H_
