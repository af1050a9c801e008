#ifndef FAIRLEAD_DIRECTORY_REGISTRY_UNION_H_
#define FAIRLEAD_DIRECTORY_REGISTRY_UNION_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/executor.h"
#include "fairlead/base/log.h"
#include "fairlead/directory/held_list.h"
#include "fairlead/directory/protection.h"
#include "fairlead/directory/provider_guard.h"
#include "fairlead/registry/notification.h"
#include "fairlead/registry/registry.h"

namespace fairlead {
class RegistryDirectory;
}

namespace fairlead::internal {

// Several registries before one directory: keeps what each has said, and tells the union. Nothing that one says, or
// fails to say, takes away what another has: a registry that cannot say contributes its last list, one that has not
// answered nothing, and each has an empty protection of its own. Equal urls are one, at the place of the first, with the
// newest timestamp. The order is that of the registries. Executor only.
class RegistryUnion : public std::enable_shared_from_this<RegistryUnion> {
 public:
  struct Source {
    std::string name;  // for people
    std::chrono::milliseconds protect_max_age{0};
  };
  struct Config {
    std::shared_ptr<void> keep;  // owns what the pointers below point to
    std::shared_ptr<Executor> executor;
    const Clock* clock = nullptr;
    Logger* log = nullptr;
    std::string service;
    std::vector<Source> sources;
  };
  static std::shared_ptr<RegistryUnion> Create(Config config);

  // Who is told. Before any notification.
  void Feed(std::weak_ptr<RegistryDirectory> directory) { directory_ = std::move(directory); }
  // What the registry of that number tells.
  std::shared_ptr<NotifyListener> Listener(std::size_t source);

  // Lines for Explain on registries that have not answered, or cannot say.
  std::vector<std::string> Remarks() const;
  // What is protected now: of several registries' providers, since the first until the last.
  std::optional<ProtectedList> protection() const;
  void ClearProtection();

 private:
  struct Lists {
    std::string name;
    std::unique_ptr<ProviderGuard> guard;
    std::vector<Url> providers;
    HeldList overrides, rules;
    std::array<bool, kCategoryCount> told{}, stale{}, cached{};
  };
  class FromSource;

  explicit RegistryUnion(Config config) : config_(std::move(config)) {}
  void Take(std::size_t source, Notification full);
  void Tell(Category category, const std::string& service);
  Notification Union(Category category) const;
  std::size_t InUse(const Lists& lists) const;

  const Config config_;
  std::weak_ptr<RegistryDirectory> directory_;
  std::vector<Lists> sources_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_REGISTRY_UNION_H_
