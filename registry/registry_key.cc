#include "fairlead/registry/registry_key.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

constexpr std::array kAllCategories = {Category::kProviders, Category::kConsumers, Category::kRouters,
                                       Category::kConfigurators};

// Sorted: looked up by binary search.
constexpr std::array<std::string_view, 21> kProcessLocal = {"alive",
                                                            "anyhost",
                                                            "background",
                                                            "bind.ip",
                                                            "bind.port",
                                                            "corethreads",
                                                            "executor-management-mode",
                                                            "file-cache",
                                                            "interfaces",
                                                            "monitor",
                                                            "pid",
                                                            "qos.accept.foreign.ip",
                                                            "qos.enable",
                                                            "qos.host",
                                                            "qos.port",
                                                            "queues",
                                                            "register-mode",
                                                            "threadname",
                                                            "threadpool",
                                                            "threads",
                                                            "validation"};
constexpr std::array<std::string_view, 24> kSimpleProvider = {
    "application",   "category", "cluster",   "codec",     "connections", "deprecated", "disabled", "dubbo",
    "dynamic",       "enabled",  "exchanger", "group",     "loadbalance", "mock",       "path",     "release",
    "serialization", "side",     "timeout",   "timestamp", "token",       "version",    "warmup",   "weight"};
constexpr std::array<std::string_view, 7> kSimpleConsumer = {"application", "category", "check",  "dubbo",
                                                             "group",       "release",  "version"};
static_assert(std::is_sorted(kProcessLocal.begin(), kProcessLocal.end()));
static_assert(std::is_sorted(kSimpleProvider.begin(), kSimpleProvider.end()));
static_assert(std::is_sorted(kSimpleConsumer.begin(), kSimpleConsumer.end()));

template <class Names>
bool Contains(const Names& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

bool StaysWithProvider(const UrlParts& url, std::string_view key, bool simplified) {
  if (!simplified)
    return !key.starts_with('.') && !key.starts_with("triple.") && !Contains(kProcessLocal, key);
  // An interface that the path does not say must be said.
  if (key == names::kInterface) return url.path != url.Param(key);
  return Contains(kSimpleProvider, key);
}

}  // namespace

absl::StatusOr<RegistryKey> RegistryKeyOf(const UrlParts& url) {
  RegistryKey key;
  key.service = url.ServiceInterface();
  if (key.service.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Shortened(url.ToString()), ": expected a service interface as path or `interface` parameter"));
  }
  const std::string_view name = url.Param(names::kCategory, CategoryName(Category::kProviders));
  const std::optional<Category> category = CategoryOf(name);
  if (!category) {
    return absl::InvalidArgumentError(
        absl::StrCat(Shortened(url.ToString()), ": category=", Shortened(name, 60),
                     " is none of providers, consumers, configurators, routers"));
  }
  key.category = *category;
  return key;
}

std::vector<Category> SubscribedCategories(const UrlParts& consumer) {
  std::array<bool, kCategoryCount> removed{};
  bool all = true;
  std::vector<Category> named;
  const auto add = [&named](Category category) {
    if (std::find(named.begin(), named.end(), category) == named.end()) named.push_back(category);
  };
  for (const std::string_view element : SplitCommaList(consumer.Param(names::kCategory, "providers"))) {
    if (element.starts_with('-')) {
      if (const auto category = CategoryOf(element.substr(1)))
        removed[static_cast<std::size_t>(*category)] = true;
      continue;
    }
    all = false;
    if (element == "*") {
      for (const Category category : kAllCategories) add(category);
    } else if (const auto category = CategoryOf(element)) {
      add(*category);
    }
  }
  if (all) named.assign(kAllCategories.begin(), kAllCategories.end());
  std::erase_if(named, [&removed](Category category) { return removed[static_cast<std::size_t>(category)]; });
  return named;
}

std::string RegisteredText(const Url& url, const RegistryCallOptions& options) {
  const UrlParts whole = url.parts();
  UrlParts parts = whole;
  const bool consumer = parts.protocol == "consumer";
  if (consumer && options.simplified) {
    parts.params.EraseIf(
        [](std::string_view key, std::string_view) { return !Contains(kSimpleConsumer, key); });
  } else if (!consumer && url.category() == Category::kProviders) {
    parts.params.EraseIf([&](std::string_view key, std::string_view) {
      return !StaysWithProvider(whole, key, options.simplified);
    });
  }
  return parts.ToFullString();
}

}  // namespace fairlead
