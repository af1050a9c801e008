#ifndef FAIRLEAD_TESTS_CHAOS_STORM_H_
#define FAIRLEAD_TESTS_CHAOS_STORM_H_

#include <cstdint>
#include <string>

#include "fairlead/tests/chaos/registry_under_test.h"
#include "fairlead/tests/chaos/report.h"

namespace fairlead::chaos {

struct StormOptions {
  MakeRegistry registry = nullptr;
  std::uint64_t seed = 1;
  int rounds = 20;  // each kind of failure once in each, in another order
  bool brief = false;
  std::string kind;  // only this one; empty = all
};

// Failure after failure under calls, each with its promises:
//   - no call fails after one retry elsewhere,
//   - no directory ever offers fewer than half of the providers, however much the registry forgets,
//   - when it is over, the directories equal the registry's lists within HealBound(),
//   - within the same bound all entries of ours are in the registry, in sessions that live,
//   - threads and descriptors return to what they were,
// and at the end of it all, what the process holds is what it held before.
void RunStorm(const StormOptions& options, Report& report);

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_STORM_H_
