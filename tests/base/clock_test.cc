#include "fairlead/base/clock.h"

#include <gtest/gtest.h>

#include "fairlead/tests/support/fake_clock.h"

namespace fairlead {
namespace {

TEST(RealClock, IsTheMachinesClock) {
  const Clock& clock = RealClock();
  EXPECT_EQ(&clock, &RealClock());
  const auto steady_before = std::chrono::steady_clock::now();
  const auto steady = clock.SteadyNow();
  EXPECT_LE(steady_before, steady);
  EXPECT_LE(steady, std::chrono::steady_clock::now());
  // The wall clock may be set back while this runs, but not by a day.
  EXPECT_LT(std::chrono::abs(clock.SystemNow() - std::chrono::system_clock::now()), std::chrono::hours(24));
}

TEST(Clock, SystemMillisCountsFromTheEpoch) {
  FakeClock clock;
  clock.SetSystem(Clock::SystemTime(std::chrono::milliseconds(1'700'000'060'123)));
  EXPECT_EQ(clock.SystemMillis(), 1'700'000'060'123);
}

}  // namespace
}  // namespace fairlead
