#ifndef FAIRLEAD_DIRECTORY_INSPECTION_H_
#define FAIRLEAD_DIRECTORY_INSPECTION_H_

#include <vector>

#include "fairlead/directory/directory_core.h"
#include "fairlead/directory/pick.h"

namespace fairlead::internal {

// Directory::List, Listing and Explain of one list. Any thread.
std::vector<Url> ListOf(const DirectoryCore& core, const Invocation& invocation);
DirectoryListing ListingOf(const DirectoryCore& core);
PickTrace ExplainOf(const DirectoryCore& core, const Invocation& invocation, PickTrace::Detail detail);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_INSPECTION_H_
