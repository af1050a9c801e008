#include "fairlead/base/clock.h"

namespace fairlead {
namespace {

class MachineClock final : public Clock {
 public:
  SteadyTime SteadyNow() const override { return std::chrono::steady_clock::now(); }
  SystemTime SystemNow() const override { return std::chrono::system_clock::now(); }
};

}  // namespace

const Clock& RealClock() {
  static const Clock* const clock = new MachineClock;
  return *clock;
}

}  // namespace fairlead
