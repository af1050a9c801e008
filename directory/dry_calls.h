#ifndef FAIRLEAD_DIRECTORY_DRY_CALLS_H_
#define FAIRLEAD_DIRECTORY_DRY_CALLS_H_

#include <string>
#include <vector>

#include "fairlead/directory/dry_run.h"

namespace fairlead::internal {

// Which calls a dry run tries.
struct FoundCalls {
  std::vector<std::string> methods;  // sorted; each named by somebody
  std::string other;                 // a method that nobody names
  std::vector<std::string> tags;     // sorted, none of them empty
  std::vector<std::string> left_out; // what is named beyond the bounds below
};
inline constexpr std::size_t kMostDryMethods = 2000, kMostDryTags = 2000;

// Of providers, the consumer and both sets of rules. A pattern `get*` of a rule stands for a method that it hits. Texts
// that cannot be read name nothing. n log n in all of them, and in the first of the patterns times the methods.
FoundCalls FindCalls(const DryRunInput& input, std::size_t most_methods, std::size_t most_tags);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_DRY_CALLS_H_
