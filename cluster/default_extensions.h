#ifndef FAIRLEAD_CLUSTER_DEFAULT_EXTENSIONS_H_
#define FAIRLEAD_CLUSTER_DEFAULT_EXTENSIONS_H_

#include "fairlead/cluster/extension_registry.h"

namespace fairlead {

// Everything this build has: registries memory (one store shared by the process's DefaultExtensions), file, multicast and,
// when built with them, redis and zookeeper; the condition router under `condition` and `route`; the four policies.
ExtensionRegistry DefaultExtensions();

}  // namespace fairlead

#endif  // FAIRLEAD_CLUSTER_DEFAULT_EXTENSIONS_H_
