#include "fairlead/cluster/consumer_url.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/cluster/local_address.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {

std::string OwnAddress(const Url& registry, const Options& options) {
  if (!options.local_address.empty()) return options.local_address;
  return LocalAddressTowards(registry.host(), registry.port());
}

absl::StatusOr<Url> CompleteConsumer(const std::string& text, const Url& registry, const Options& options, UrlPool& pool,
                                     std::vector<std::string>& unused) {
  absl::StatusOr<UrlParts> parts = UrlParts::Parse(text);
  if (!parts.ok()) return parts.status();
  if (parts->ServiceInterface().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "consumer ", Shortened(parts->ToString()), " names no service; write it as path, consumer://host/com.acme.Orders"));
  }
  if (parts->ServiceInterface() == "*") {
    return absl::InvalidArgumentError(absl::StrCat(
        "consumer ", Shortened(parts->ToString()), " names all services; a Directory has the providers of one: name it"));
  }
  if (!parts->protocol || parts->protocol->empty()) parts->protocol = "consumer";
  if (!parts->host || parts->host->empty() || *parts->host == "0.0.0.0") parts->host = OwnAddress(registry, options);
  const std::pair<std::string_view, std::string> defaults[] = {
      {names::kInterface, parts->ServiceInterface()},
      {names::kSide, "consumer"},
      {names::kCategory, "providers,configurators,routers"},
      {names::kPid, std::to_string(getpid())},
      {names::kTimestamp, std::to_string(options.clock->SystemMillis())}};
  for (const auto& [name, value] : defaults) parts->params.emplace(name, value);
  const std::vector<Category> categories = SubscribedCategories(*parts);
  if (std::find(categories.begin(), categories.end(), Category::kProviders) == categories.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "consumer category '", ToAbsl(parts->Param(names::kCategory)),
        "' has no providers; leave it out, or name providers,configurators,routers"));
  }
  for (const auto& [key, value] : parts->params) {
    const bool names_policy = PolicyKey(key) == names::kLoadBalance;
    if (!names_policy || value.empty()) continue;
    if (const auto policy = options.extensions.Policy(value); !policy.ok()) {
      return absl::Status(policy.status().code(), absl::StrCat("consumer parameter ", key, ": ", policy.status().message()));
    }
  }
  const auto policies = [&](std::string_view name) { return options.extensions.Policy(name); };
  unused = TakeOutUnusable(parts->params, [&](std::string_view key, std::string_view value) {
    return PolicyKey(key).empty() ? std::string() : OwnValueExpected(key, value, policies);
  });
  return Url::Of(*std::move(parts), pool);
}

}  // namespace fairlead::internal
