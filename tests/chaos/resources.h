#ifndef FAIRLEAD_TESTS_CHAOS_RESOURCES_H_
#define FAIRLEAD_TESTS_CHAOS_RESOURCES_H_

#include <cstdint>

namespace fairlead::chaos {

// What this process holds now.
struct Resources {
  int threads = 0, descriptors = 0;
  std::int64_t heap_bytes = 0;      // allocated and not freed
  std::int64_t resident_bytes = 0;  // includes what the allocator keeps

  static Resources Now();
};

// As many descriptors as the system lets this process have. Returns their number.
int RaiseDescriptorLimit();

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_RESOURCES_H_
