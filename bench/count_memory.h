#ifndef FAIRLEAD_BENCH_COUNT_MEMORY_H_
#define FAIRLEAD_BENCH_COUNT_MEMORY_H_

#include <cstdint>

namespace fairlead::bench {

// Bytes that the calling thread got from operator new and has not given back, as the heap rounds them up; what one
// thread gives back for another counts for the one that does. A program that links this has every operator new counted.
std::int64_t LiveBytes();

}  // namespace fairlead::bench

#endif  // FAIRLEAD_BENCH_COUNT_MEMORY_H_
