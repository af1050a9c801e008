#include "fairlead/registry/zookeeper/zookeeper_registry.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/registry/zookeeper/zk_backend.h"
#include "fairlead/registry/zookeeper/zk_options.h"

namespace fairlead {
namespace {

class ZookeeperRegistryFactory final : public RegistryFactory {
 public:
  std::string_view scheme() const override { return "zookeeper"; }
  absl::StatusOr<std::unique_ptr<RegistryBackend>> Create(const Url& registry,
                                                          const RegistryContext& context) override {
    FAIRLEAD_ASSIGN_OR_RETURN(internal::ZkOptions options, internal::ZkOptions::Parse(registry));
    return std::make_unique<internal::ZkBackend>(std::move(options), context);
  }
};

}  // namespace

std::unique_ptr<RegistryFactory> MakeZookeeperRegistryFactory() {
  return std::make_unique<ZookeeperRegistryFactory>();
}

}  // namespace fairlead
