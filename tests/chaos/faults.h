#ifndef FAIRLEAD_TESTS_CHAOS_FAULTS_H_
#define FAIRLEAD_TESTS_CHAOS_FAULTS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "fairlead/base/random.h"
#include "fairlead/tests/chaos/world.h"

namespace fairlead::chaos {

// One failure as it happens: everything drawn from `random`, bounded in time.
struct FaultRun {
  World& world;
  Random& random;
  bool brief = false;  // the short form: shorter where length is not the point
  // When the world was whole again, from which on the library has to come right by itself. Set by the fault.
  SteadyClock::time_point healed{};

  std::chrono::milliseconds Between(int least, int most) const {
    return std::chrono::milliseconds(least + static_cast<int>(random.Below(static_cast<std::uint64_t>(most - least + 1))));
  }
};

struct FaultKind {
  std::string_view name, what;
  // Breaks, heals, and changes the registry so that a directory that does not follow is found out. Not OK: it could not
  // be done, or saw something wrong itself.
  absl::Status (*run)(FaultRun&);
  // Takes away what is left over, after the directory was found right with it.
  void (*clean)(World&) = nullptr;
};

std::span<const FaultKind> AllFaults();

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_FAULTS_H_
