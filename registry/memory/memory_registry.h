#ifndef FAIRLEAD_REGISTRY_MEMORY_MEMORY_REGISTRY_H_
#define FAIRLEAD_REGISTRY_MEMORY_MEMORY_REGISTRY_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "fairlead/registry/memory/memory_store.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead {

// Registries within the process, `memory://name`. The factory owns the stores: give one factory object to
// several Runtimes, and equal names are one registry between them. `group` (default `dubbo`) tells stores of
// one name apart. Lists follow at once, as events cost nothing here, unless `delay-notification` asks for a
// window.
//
// What a Runtime with DefaultExtensions() sees at `memory://test`, rules included, is said with
//
//   auto store = DefaultMemoryRegistry()->store("test");  // cluster/default_extensions.h
//   store->Put("dubbo://10.0.0.1:20880/com.acme.Orders");
//   store->SetConfig("dubbo", "orders.tag-router", "tags: [{name: gray, addresses: [10.0.0.1]}]");
//
// DefaultExtensions() has that factory and takes no second one (kAlreadyExists); one of your own goes into an
// ExtensionRegistry::Builder that starts empty, with whatever else is wanted:
//
//   auto memory = MakeMemoryRegistryFactory();
//   auto extensions = ExtensionRegistry::Builder().AddRegistry(memory).AddLoadBalance(
//       *DefaultExtensions().Policy("random")).Build();
//
// Thread-safe.
class MemoryRegistryFactory final : public RegistryFactory {
 public:
  std::string_view scheme() const override { return "memory"; }
  // It is there whenever the process is.
  bool CachesByDefault() const override { return false; }
  absl::StatusOr<std::unique_ptr<RegistryBackend>> Create(const Url& registry,
                                                          const RegistryContext& context) override;

  // Made when first named. Outlives the factory for as long as a registry uses it.
  std::shared_ptr<MemoryStore> store(std::string_view name, std::string_view group = "dubbo");

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<MemoryStore>> stores_;
};

std::shared_ptr<MemoryRegistryFactory> MakeMemoryRegistryFactory();

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_MEMORY_MEMORY_REGISTRY_H_
