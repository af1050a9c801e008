#ifndef FAIRLEAD_TESTS_FUZZ_MUTATE_H_
#define FAIRLEAD_TESTS_FUZZ_MUTATE_H_

#include <string>
#include <vector>

#include "fairlead/base/random.h"

namespace fairlead::fuzz {

// One of the seeds with a few random changes: bytes, pieces of the languages that the parsers read, parts of other seeds,
// parts twice or not at all. At most a few kilobytes. REQUIRES: there are seeds
std::string Mutated(const std::vector<std::string>& seeds, Random& random);

}  // namespace fairlead::fuzz

#endif  // FAIRLEAD_TESTS_FUZZ_MUTATE_H_
