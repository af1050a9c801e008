#ifndef FAIRLEAD_CLUSTER_RUNTIME_METRICS_H_
#define FAIRLEAD_CLUSTER_RUNTIME_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/metrics.h"
#include "fairlead/directory/pick_trace.h"
#include "fairlead/registry/failback_registry.h"

namespace fairlead::internal {

// A registry and what tells it from others of the same address (another group, other credentials).
struct RegistryReading {
  std::uint64_t connection = 0;
  RegistryStatus status;
};

// A directory and what tells it from others of the same service.
struct DirectoryReading {
  std::string service;
  std::uint64_t reference = 0;
  DirectoryStats stats;
};

// All samples of a Runtime (docs/metrics.md), those of one name next to each other. Pure.
std::vector<MetricSample> RuntimeSamples(const std::vector<RegistryReading>& registries,
                                         const std::vector<DirectoryReading>& directories, std::size_t pooled_urls);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_CLUSTER_RUNTIME_METRICS_H_
