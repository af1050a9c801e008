#include "fairlead/registry/zookeeper/zookeeper_registry.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/zookeeper/zk_backend.h"
#include "fairlead/registry/zookeeper/zk_options.h"

namespace fairlead {
namespace {

// What Dubbo writes behind the address of every registry: org.apache.dubbo.registry.RegistryService.
constexpr std::string_view kDubboPath = "RegistryService";

class ZookeeperRegistryFactory final : public RegistryFactory {
 public:
  std::string_view scheme() const override { return "zookeeper"; }
  absl::Status Check(const Url& registry) const override { return internal::ZkOptions::Parse(registry).status(); }
  absl::StatusOr<std::unique_ptr<RegistryBackend>> Create(const Url& registry,
                                                          const RegistryContext& context) override {
    FAIRLEAD_ASSIGN_OR_RETURN(internal::ZkOptions options, internal::ZkOptions::Parse(registry));
    const std::string_view path = registry.path();
    if (!path.empty() && !path.ends_with(kDubboPath)) {
      context.log->Warn("FL-2-9", options.address,
                        absl::StrCat("the path of a registry url says nothing; if /", ToAbsl(path),
                                     " is a chroot, write group=/", ToAbsl(path), options.root));
    }
    return std::make_unique<internal::ZkBackend>(std::move(options), context);
  }
};

}  // namespace

std::unique_ptr<RegistryFactory> MakeZookeeperRegistryFactory() {
  return std::make_unique<ZookeeperRegistryFactory>();
}

}  // namespace fairlead
