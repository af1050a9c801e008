#ifndef FAIRLEAD_REGISTRY_REGISTRY_KEY_H_
#define FAIRLEAD_REGISTRY_REGISTRY_KEY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/url/url.h"

namespace fairlead {

// Where a url stands in a registry. How a product lays this out is its binding's business.
struct RegistryKey {
  std::string service;  // interface, without group and version
  Category category = Category::kProviders;

  bool operator==(const RegistryKey&) const = default;
  auto operator<=>(const RegistryKey&) const = default;
};

// kInvalidArgument, naming the url without its password: no interface, or a category that does not exist.
absl::StatusOr<RegistryKey> RegistryKeyOf(const UrlParts& url);

// The categories a subscription asks for: `category` is a comma list (default providers), `*` is all of them,
// `-name` takes one away (from all, when nothing else is named). Unknown names are ignored. In the order
// named, `*` in Dubbo's: providers, consumers, routers, configurators.
std::vector<Category> SubscribedCategories(const UrlParts& consumer);

// The text under which `url` is registered, credentials included. Providers lose parameters that only their
// own process reads (hidden ones, thread pools, qos, ...); with `simplified` providers and consumers keep
// only what Dubbo's default key lists name, and what decides where and whether they are seen.
std::string RegisteredText(const Url& url, const RegistryCallOptions& options);

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_REGISTRY_KEY_H_
