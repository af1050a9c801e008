#include "fairlead/cluster/registry_rule_source.h"

#include <utility>
#include <vector>

namespace fairlead::internal {
namespace {

constexpr std::string_view kGroup = "dubbo";

}  // namespace

std::shared_ptr<RegistryRuleSource> RegistryRuleSource::Create(RegistryBackend& backend,
                                                               std::shared_ptr<Executor> executor) {
  return std::shared_ptr<RegistryRuleSource>(new RegistryRuleSource(backend, std::move(executor)));
}

RuleWatch RegistryRuleSource::Watch(const std::string& name, Told told) {
  if (backend_ == nullptr) return RuleWatch();
  const std::uint64_t id = ++last_id_;
  const auto [at, fresh] = documents_.try_emplace(name);
  at->second.followers[id] = {std::make_shared<const Told>(std::move(told))};
  if (fresh) {
    backend_->WatchConfig(kGroup, name, [alive = weak_from_this(), name](absl::StatusOr<std::optional<std::string>> value) {
      const auto self = alive.lock();
      // A copy, as who is told may end the watch and this callback with it.
      if (self != nullptr) self->OnValue(std::string(name), std::move(value));
    });
  } else if (at->second.last.has_value()) {
    executor_->Post([alive = weak_from_this(), name, id] {
      const auto self = alive.lock();
      if (self == nullptr) return;
      const auto document = self->documents_.find(name);
      if (document == self->documents_.end()) return;
      const auto follower = document->second.followers.find(id);
      // What is newer may have been told meanwhile.
      if (follower != document->second.followers.end() && !follower->second.is_told) self->Tell(name, id);
    });
  }
  return RuleWatch([alive = weak_from_this(), name, id] {
    if (const auto self = alive.lock()) self->End(name, id);
  });
}

void RegistryRuleSource::OnValue(const std::string& name, absl::StatusOr<std::optional<std::string>> value) {
  const auto at = documents_.find(name);
  if (at == documents_.end()) return;
  at->second.last = std::move(value);
  std::vector<std::uint64_t> ids;
  for (const auto& [id, follower] : at->second.followers) ids.push_back(id);
  for (const std::uint64_t id : ids) Tell(name, id);
}

void RegistryRuleSource::Tell(const std::string& name, std::uint64_t id) {
  const auto at = documents_.find(name);
  if (at == documents_.end()) return;
  const auto follower = at->second.followers.find(id);
  if (follower == at->second.followers.end()) return;
  follower->second.is_told = true;
  // Both are kept, as who is told may end any watch.
  const std::shared_ptr<const Told> told = follower->second.told;
  const absl::StatusOr<std::optional<std::string>> value = *at->second.last;
  (*told)(value);
}

void RegistryRuleSource::End(const std::string& name, std::uint64_t id) {
  const auto at = documents_.find(name);
  if (at == documents_.end() || at->second.followers.erase(id) == 0 || !at->second.followers.empty()) return;
  documents_.erase(at);
  if (backend_ != nullptr) backend_->UnwatchConfig(kGroup, name);
}

void RegistryRuleSource::Close() {
  RegistryBackend* const backend = std::exchange(backend_, nullptr);
  if (backend == nullptr) return;
  for (const auto& [name, document] : std::exchange(documents_, {})) backend->UnwatchConfig(kGroup, name);
}

}  // namespace fairlead::internal
