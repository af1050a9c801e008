#ifndef FAIRLEAD_TESTS_PURITY_INTERPOSED_H_
#define FAIRLEAD_TESTS_PURITY_INTERPOSED_H_

#include <cstdint>

namespace fairlead {

// How often this process called the allocator, and any lock of the C library, since it began.
std::uint64_t Allocations();
std::uint64_t Locks();

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_PURITY_INTERPOSED_H_
