#ifndef FAIRLEAD_DIRECTORY_REGISTRY_MODE_H_
#define FAIRLEAD_DIRECTORY_REGISTRY_MODE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead {

// How several registries serve one consumer. The consumer's parameter `registry.mode` has these names.
enum class RegistryMode : std::uint8_t {
  // "merge": the providers of all of them in one list, under the rules of all of them. A provider that several list is
  // one, with one connection, until the last of them drops it.
  kMerge,
  // "zone-aware": each call goes to one registry that has a live provider, under that one's rules: the first with
  // `preferred=true`; else the first whose `zone` is the call's attachment `registry_zone`, or the consumer's parameter
  // of that name; else by `weight` (100). With `registry_zone_force=true` (attachment or parameter, where the zone is)
  // a zone without a live provider is an error.
  kZoneAware,
  // "failover": each call goes to the first registry in the order of the list that has a live provider.
  kFailover,
};

constexpr std::string_view RegistryModeName(RegistryMode mode) {
  switch (mode) {
    case RegistryMode::kMerge: return "merge";
    case RegistryMode::kZoneAware: return "zone-aware";
    case RegistryMode::kFailover: return "failover";
  }
  return {};
}

constexpr std::optional<RegistryMode> RegistryModeOf(std::string_view name) {
  for (const RegistryMode mode : {RegistryMode::kMerge, RegistryMode::kZoneAware, RegistryMode::kFailover}) {
    if (RegistryModeName(mode) == name) return mode;
  }
  return std::nullopt;
}

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_REGISTRY_MODE_H_
