#include "fairlead/directory/connection_key.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "fairlead/base/hash.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

// Sorted, for binary search.
constexpr std::array kPolicyKeys = std::to_array<std::string_view>({
    "actives",
    "anyhost",
    "category",
    "check",
    "cluster",
    "disabled",
    "dubbo.force.tag",
    "dubbo.tag",
    "dynamic",
    "enabled",
    "force",
    "forks",
    "loadbalance",
    "mock",
    "pid",
    "priority",
    "providerAddresses",
    "remote.timestamp",
    "retries",
    "router",
    "rule",
    "runtime",
    "sticky",
    "tag",
    "timeout",
    "timestamp",
    "warmup",
    "weight",
});
static_assert(std::is_sorted(kPolicyKeys.begin(), kPolicyKeys.end()));

// These look like the method form of a policy key.
constexpr std::array kTransportKeys = std::to_array<std::string_view>({
    "close.timeout",
    "connect.timeout",
    "heartbeat.timeout",
    "idle.timeout",
    "send.timeout",
    "shutdown.timeout",
});
static_assert(std::is_sorted(kTransportKeys.begin(), kTransportKeys.end()));

bool IsPlainPolicyKey(std::string_view key) {
  return key.starts_with("hash.") || key.starts_with('~') ||
         std::binary_search(kPolicyKeys.begin(), kPolicyKeys.end(), key);
}

// An exact element of the comma list.
bool Lists(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == name) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

bool IsPolicyKey(std::string_view key, std::string_view methods) {
  constexpr std::string_view kDefault = "default.";
  if (key.starts_with(kDefault)) key.remove_prefix(kDefault.size());
  if (IsPlainPolicyKey(key)) return true;
  if (std::binary_search(kTransportKeys.begin(), kTransportKeys.end(), key)) return false;
  const std::size_t dot = key.find('.');
  if (dot == 0 || dot == std::string_view::npos || !IsPlainPolicyKey(key.substr(dot + 1))) return false;
  return methods.empty() || Lists(methods, key.substr(0, dot));
}

// The length in front keeps texts that hold separators apart.
void Append(std::string& key, std::string_view text) {
  absl::StrAppend(&key, text.size(), ":", ToAbsl(text));
}

void Append(std::string& key, const std::optional<std::string>& text) {
  if (text.has_value()) {
    Append(key, std::string_view(*text));
  } else {
    key += '-';
  }
}

std::string Fingerprint(const std::optional<std::string>& username,
                        const std::optional<std::string>& password) {
  std::string both;
  Append(both, username);
  Append(both, password);
  return absl::StrCat(absl::Hex(HashBytes(both, 1), absl::kZeroPad16),
                      absl::Hex(HashBytes(both, 2), absl::kZeroPad16));
}

}  // namespace

std::string ConnectionKey(const UrlParts& effective) {
  std::string key;
  Append(key, effective.host);
  absl::StrAppend(&key, effective.port, ";", TransportKey(effective));
  return key;
}

std::string TransportKey(const UrlParts& effective) {
  std::string key;
  Append(key, effective.protocol);
  if (effective.username.has_value() || effective.password.has_value()) {
    Append(key, std::string_view(Fingerprint(effective.username, effective.password)));
  } else {
    key += '-';
  }
  Append(key, effective.path);
  const std::string_view methods = effective.Param(names::kMethods);
  for (const auto& [name, value] : effective.params) {
    if (IsPolicyKey(name, methods)) continue;
    Append(key, std::string_view(name));
    Append(key, std::string_view(value));
  }
  return key;
}

bool IsDisabled(const UrlParts& effective) {
  if (!effective.Param(names::kDisabled).empty()) return BoolParam(effective, names::kDisabled, false);
  return !BoolParam(effective, names::kEnabled, true);
}

}  // namespace fairlead
