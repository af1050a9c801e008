#ifndef FAIRLEAD_REGISTRY_CACHED_LISTS_H_
#define FAIRLEAD_REGISTRY_CACHED_LISTS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/registry/notification.h"
#include "fairlead/url/url.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {

// What stands in the list cache file, as text: a key for each service, and as its value the urls of all its
// categories, separated by blanks; `empty://` urls stand for categories without any. Pure.

// The key of a service's lists; there is no other under which they are looked up. Dubbo looks up no key that
// does not begin with a letter or `_` (a subscription to group `*` has one), so its files have no lists for
// those, and ours have them under a key where Dubbo does not look.
std::string CacheKey(std::string_view service_key);

// A url as the file has it: with its user, never with a password, nor with parameters that are called so.
// Reading it again gives an equal url (but for a parameter without a name), also when it holds blanks, which
// Dubbo would take for the end of the url; with those it has the parameter `fairlead.escaped`, its blanks are
// percent-encoded, and Dubbo reads them so.
std::string CachedText(const UrlParts& url);
// The opposite. Plain texts, as Dubbo writes them, too.
absl::StatusOr<Url> ParseCached(std::string_view text, UrlPool& pool);

// The pieces between white space.
std::vector<std::string_view> SplitCached(std::string_view value);

// `value` without the urls of those categories, whose bit is set.
std::string WithoutCategories(std::string_view value, std::uint32_t categories);
// Has `value` a url of a provider?
bool HasProviders(std::string_view value);

// The value of a service whose subscribers were last told this (null: nothing). Several subscriptions may
// know the same service, filtered in other ways: of a category the urls of all are written, each once.
// Linear.
struct KnownLists {
  Url consumer;
  std::array<std::shared_ptr<const Notification>, kCategoryCount> lists;
  // An empty list of providers is not to take the place of one that was not.
  bool keeps_providers = false;
};
std::string CachedValue(const std::vector<KnownLists>& subscriptions);

// What `value` says of a category of a subscription: kList or kEmpty. Absent: nothing. A url that does not
// match the subscription, as one pushed by a registry, or cannot be read counts as absent; `unreadable`
// counts the latter.
struct CachedList {
  ListKind kind = ListKind::kEmpty;
  std::vector<Url> urls;
};
struct CachedLists {
  std::array<std::optional<CachedList>, kCategoryCount> lists;
  int unreadable = 0;
};
CachedLists ReadCachedValue(std::string_view value, const Url& consumer, UrlPool& pool);

// Where a registry url's lists are kept: its parameter `file`, or else `fallback`. Empty: nowhere, as also
// `file-cache=false` (`file.cache` before Dubbo 3.2) asks for.
std::string CacheFilePath(const Url& registry, std::string_view fallback);
// Where Dubbo keeps them without being told, in its user's directory `home`. `application` is for a url
// without such a parameter. `place`: RegistryFactory::Place, which Dubbo forgets.
std::string DefaultCacheFile(const Url& registry, std::string_view home, std::string_view application,
                             std::string_view place = {});

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_CACHED_LISTS_H_
