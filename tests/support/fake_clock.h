#ifndef FAIRLEAD_TESTS_SUPPORT_FAKE_CLOCK_H_
#define FAIRLEAD_TESTS_SUPPORT_FAKE_CLOCK_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "fairlead/base/clock.h"

namespace fairlead {

// Time that moves only when a test says so. Both clocks advance together; the wall clock can also be set, as
// an operator or NTP would. Starts at one hour of steady time (so that "never yet" is not "now") and at
// 2024-01-01 00:00:00 UTC. Thread-safe.
class FakeClock final : public Clock {
 public:
  SteadyTime SteadyNow() const override { return SteadyTime(Steady(steady_.load())); }
  SystemTime SystemNow() const override {
    return SystemTime(std::chrono::duration_cast<SystemTime::duration>(
        std::chrono::nanoseconds(steady_.load() + system_ahead_.load())));
  }

  void Advance(std::chrono::nanoseconds by) { steady_ += by.count(); }
  // Moves the wall clock alone.
  void SetSystem(SystemTime now) {
    system_ahead_ = std::chrono::nanoseconds(now.time_since_epoch()).count() - steady_.load();
  }

 private:
  using Steady = SteadyTime::duration;
  static constexpr std::int64_t kHour = 3'600'000'000'000;

  std::atomic<std::int64_t> steady_{kHour};
  std::atomic<std::int64_t> system_ahead_{1'704'067'200'000'000'000 - kHour};
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_FAKE_CLOCK_H_
