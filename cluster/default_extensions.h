#ifndef FAIRLEAD_CLUSTER_DEFAULT_EXTENSIONS_H_
#define FAIRLEAD_CLUSTER_DEFAULT_EXTENSIONS_H_

#include <memory>

#include "fairlead/cluster/extension_registry.h"

namespace fairlead {

class MemoryRegistryFactory;

// Everything this build has: registries memory (one store shared by the process's DefaultExtensions), file, multicast and,
// when built with them, redis and zookeeper; the condition router under `condition` and `route`; the four policies.
ExtensionRegistry DefaultExtensions();

// The registry `memory` of all DefaultExtensions(), whose stores can be read and filled; see
// registry/memory/memory_registry.h.
std::shared_ptr<MemoryRegistryFactory> DefaultMemoryRegistry();

}  // namespace fairlead

#endif  // FAIRLEAD_CLUSTER_DEFAULT_EXTENSIONS_H_
