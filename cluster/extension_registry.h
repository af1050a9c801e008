#ifndef FAIRLEAD_CLUSTER_EXTENSION_REGISTRY_H_
#define FAIRLEAD_CLUSTER_EXTENSION_REGISTRY_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/loadbalance/load_balance.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/routing/router.h"

namespace fairlead {

// What a Runtime can be extended with, by kind and name. Built once, then immutable; cheap to copy;
// thread-safe. Nothing registers itself: a static library would drop such objects at link time.
//
//   auto extensions = fairlead::DefaultExtensions().ToBuilder().AddLoadBalance(mine).Build();
class ExtensionRegistry {
 public:
  class Builder {
   public:
    // By scheme ("zookeeper").
    Builder& AddRegistry(std::shared_ptr<RegistryFactory> factory);
    // By the name in a rule url's `router` parameter, else its protocol ("condition", "route").
    Builder& AddRouter(std::string name, std::shared_ptr<RouterFactory> factory);
    // By the name in the `loadbalance` parameter.
    Builder& AddLoadBalance(std::shared_ptr<const LoadBalance> policy);

    // kAlreadyExists names every duplicate; kInvalidArgument when a null was added.
    absl::StatusOr<ExtensionRegistry> Build() const;

   private:
    friend class ExtensionRegistry;
    std::vector<std::shared_ptr<RegistryFactory>> registries_;
    std::vector<std::pair<std::string, std::shared_ptr<RouterFactory>>> routers_;
    std::vector<std::shared_ptr<const LoadBalance>> load_balances_;
  };

  ExtensionRegistry() = default;  // empty
  Builder ToBuilder() const;

  // kNotFound lists the names that are known.
  absl::StatusOr<std::shared_ptr<RegistryFactory>> Registry(std::string_view scheme) const;
  absl::StatusOr<std::shared_ptr<RouterFactory>> Router(std::string_view name) const;
  absl::StatusOr<std::shared_ptr<const LoadBalance>> Policy(std::string_view name) const;

 private:
  std::map<std::string, std::shared_ptr<RegistryFactory>, std::less<>> registries_;
  std::map<std::string, std::shared_ptr<RouterFactory>, std::less<>> routers_;
  std::map<std::string, std::shared_ptr<const LoadBalance>, std::less<>> load_balances_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_CLUSTER_EXTENSION_REGISTRY_H_
