#ifndef FAIRLEAD_CLUSTER_REGISTRY_RULE_SOURCE_H_
#define FAIRLEAD_CLUSTER_REGISTRY_RULE_SOURCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fairlead/base/executor.h"
#include "fairlead/directory/rule_source.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead::internal {

// The documents of group `dubbo` in a registry's config center, for all directories of that registry: each is watched
// once, for as long as anybody follows it. Executor only.
class RegistryRuleSource final : public RuleSource, public std::enable_shared_from_this<RegistryRuleSource> {
 public:
  static std::shared_ptr<RegistryRuleSource> Create(RegistryBackend& backend, std::shared_ptr<Executor> executor);

  RuleWatch Watch(const std::string& name, Told told) override;
  // Follows nothing any more, and asks nothing of the backend from here on. Watches may outlive it.
  void Close();

 private:
  struct Follower {
    std::shared_ptr<const Told> told;
    bool is_told = false;
  };
  struct Document {
    std::map<std::uint64_t, Follower> followers;
    std::optional<absl::StatusOr<std::optional<std::string>>> last;
  };

  RegistryRuleSource(RegistryBackend& backend, std::shared_ptr<Executor> executor)
      : backend_(&backend), executor_(std::move(executor)) {}
  void OnValue(const std::string& name, absl::StatusOr<std::optional<std::string>> value);
  void Tell(const std::string& name, std::uint64_t id);
  void End(const std::string& name, std::uint64_t id);

  RegistryBackend* backend_;  // nullptr: closed
  const std::shared_ptr<Executor> executor_;
  std::map<std::string, Document> documents_;
  std::uint64_t last_id_ = 0;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_CLUSTER_REGISTRY_RULE_SOURCE_H_
