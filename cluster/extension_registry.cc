#include "fairlead/cluster/extension_registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

template <class Value>
absl::StatusOr<Value> Find(const std::map<std::string, Value, std::less<>>& in, std::string_view what,
                           std::string_view name) {
  const auto at = in.find(name);
  if (at != in.end()) return at->second;
  const auto print = [](std::string* out, const auto& entry) { out->append(entry.first); };
  return absl::NotFoundError(absl::StrCat("no ", ToAbsl(what), " named '", ToAbsl(name), "'; known: ",
                                          in.empty() ? "none" : absl::StrJoin(in, ", ", print)));
}

}  // namespace

ExtensionRegistry::Builder& ExtensionRegistry::Builder::AddRegistry(std::shared_ptr<RegistryFactory> factory) {
  registries_.push_back(std::move(factory));
  return *this;
}

ExtensionRegistry::Builder& ExtensionRegistry::Builder::AddRouter(std::string name,
                                                                  std::shared_ptr<RouterFactory> factory) {
  routers_.emplace_back(std::move(name), std::move(factory));
  return *this;
}

ExtensionRegistry::Builder& ExtensionRegistry::Builder::AddLoadBalance(std::shared_ptr<const LoadBalance> policy) {
  load_balances_.push_back(std::move(policy));
  return *this;
}

absl::StatusOr<ExtensionRegistry> ExtensionRegistry::Builder::Build() const {
  const auto null = [](const auto& added) { return added == nullptr; };
  if (std::any_of(registries_.begin(), registries_.end(), null) ||
      std::any_of(load_balances_.begin(), load_balances_.end(), null) ||
      std::any_of(routers_.begin(), routers_.end(), [](const auto& added) { return added.second == nullptr; })) {
    return absl::InvalidArgumentError("a null extension was added; give each Add an object");
  }
  ExtensionRegistry built;
  std::vector<std::string> twice;
  for (const auto& factory : registries_) {
    if (!built.registries_.emplace(factory->scheme(), factory).second) {
      twice.push_back(absl::StrCat("registry ", ToAbsl(factory->scheme())));
    }
  }
  for (const auto& [name, factory] : routers_) {
    if (!built.routers_.emplace(name, factory).second) twice.push_back("router " + name);
  }
  for (const auto& policy : load_balances_) {
    if (!built.load_balances_.emplace(policy->name(), policy).second) {
      twice.push_back(absl::StrCat("load balance ", ToAbsl(policy->name())));
    }
  }
  if (!twice.empty()) {
    return absl::AlreadyExistsError(absl::StrCat("added twice: ", absl::StrJoin(twice, ", "), "; give each its own name"));
  }
  return built;
}

ExtensionRegistry::Builder ExtensionRegistry::ToBuilder() const {
  Builder builder;
  for (const auto& [scheme, factory] : registries_) builder.AddRegistry(factory);
  for (const auto& [name, factory] : routers_) builder.AddRouter(name, factory);
  for (const auto& [name, policy] : load_balances_) builder.AddLoadBalance(policy);
  return builder;
}

absl::StatusOr<std::shared_ptr<RegistryFactory>> ExtensionRegistry::Registry(std::string_view scheme) const {
  return Find(registries_, "registry", scheme);
}

absl::StatusOr<std::shared_ptr<RouterFactory>> ExtensionRegistry::Router(std::string_view name) const {
  return Find(routers_, "router", name);
}

absl::StatusOr<std::shared_ptr<const LoadBalance>> ExtensionRegistry::Policy(std::string_view name) const {
  return Find(load_balances_, "load balance", name);
}

}  // namespace fairlead
