#include "fairlead/cluster/default_extensions.h"

#include "fairlead/loadbalance/policies.h"
#include "fairlead/registry/file/file_registry.h"
#include "fairlead/registry/memory/memory_registry.h"
#include "fairlead/registry/multicast/multicast_registry.h"
#include "fairlead/routing/condition/condition_router.h"
#ifdef FAIRLEAD_HAS_REDIS
#include "fairlead/registry/redis/redis_registry.h"
#endif
#ifdef FAIRLEAD_HAS_ZOOKEEPER
#include "fairlead/registry/zookeeper/zookeeper_registry.h"
#endif

namespace fairlead {

// One for the process, so that a provider and a consumer that live in it find each other.
std::shared_ptr<MemoryRegistryFactory> DefaultMemoryRegistry() {
  static const auto memory = MakeMemoryRegistryFactory();
  return memory;
}

ExtensionRegistry DefaultExtensions() {
  ExtensionRegistry::Builder builder;
  builder.AddRegistry(DefaultMemoryRegistry());
  builder.AddRegistry(MakeFileRegistryFactory());
  builder.AddRegistry(MakeMulticastRegistryFactory());
#ifdef FAIRLEAD_HAS_REDIS
  builder.AddRegistry(MakeRedisRegistryFactory());
#endif
#ifdef FAIRLEAD_HAS_ZOOKEEPER
  builder.AddRegistry(MakeZookeeperRegistryFactory());
#endif
  const auto condition = MakeConditionRouterFactory();
  builder.AddRouter("condition", condition).AddRouter("route", condition);
  for (const auto& policy : DefaultLoadBalances()) builder.AddLoadBalance(policy);
  return *builder.Build();  // the names above are distinct
}

}  // namespace fairlead
