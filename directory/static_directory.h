#ifndef FAIRLEAD_DIRECTORY_STATIC_DIRECTORY_H_
#define FAIRLEAD_DIRECTORY_STATIC_DIRECTORY_H_

#include <memory>
#include <vector>

#include "fairlead/directory/directory.h"
#include "fairlead/directory/updater.h"

namespace fairlead {

// A directory of a fixed list of providers, without a registry: for addresses that are configured by hand and for
// tests. `rules` are router urls (`route://...`). Called on the executor; the list is pickable when it returned
// and the executor ran its next task. Destroying the handle closes the invokers.
std::shared_ptr<Directory> MakeStaticDirectory(DirectoryConfig config, const std::vector<Url>& providers,
                                               const std::vector<Url>& rules = {});

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_STATIC_DIRECTORY_H_
