#ifndef FAIRLEAD_TESTS_CHAOS_NUMBERS_H_
#define FAIRLEAD_TESTS_CHAOS_NUMBERS_H_

#include <cstdint>

#include "fairlead/tests/chaos/registry_under_test.h"
#include "fairlead/tests/chaos/report.h"

namespace fairlead::chaos {

struct NumbersOptions {
  MakeRegistry registry = nullptr;
  std::uint64_t seed = 1;
  bool brief = false;  // small lists, few repetitions
};

// What is measured without a failure in the network: a cold start from the cache file while the registry is dead, a
// rolling restart of many providers, the time from a provider's entry to the first pick that may choose it. Providers are
// objects here, not connections. A server of its own.
void MeasureNumbers(const NumbersOptions& options, Report& report);

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_NUMBERS_H_
