#ifndef FAIRLEAD_URL_MATCH_H_
#define FAIRLEAD_URL_MATCH_H_

#include <string_view>

#include "fairlead/url/url.h"

namespace fairlead {

// Dubbo's isMatchGlobPattern: only the last '*' is a wildcard, text before it a prefix, text after it a
// suffix, which may overlap. Linear.
bool MatchesGlob(std::string_view pattern, std::string_view value);

// Is a url of `category` wanted by someone who asks for `wanted` (a comma list, `*`, or `-removed`)? As Dubbo
// does: any '*' takes everything, any '-' takes everything but what follows a '-', else `category` need only
// be a substring of `wanted`. Empty `wanted` asks for providers.
bool MatchesCategory(std::string_view category, std::string_view wanted);

// Does `provider` (any category) answer the subscription `consumer`? Interface, category, enabled, group,
// version and classifier, by the rules of Dubbo's UrlUtils.isMatch.
bool Matches(const UrlParts& consumer, const UrlParts& provider);
// The same for a provider found by a registry push, where the path already says interface and category, and
// the consumer's parameters stand before the provider's.
bool MatchesPushed(const UrlParts& consumer, const UrlParts& provider);

// What a url in a push is, by protocol or category. A url may be none of them.
bool IsConfigurator(const UrlParts& url);
bool IsRoute(const UrlParts& url);
bool IsProvider(const UrlParts& url);

// The rule an application-level subscription is matched by: interface, version, group and protocol of a
// consumer against those of an instance. Unlike Matches: no interface `*`, version and group may be comma
// lists (an empty element stands for none), and absent equals empty.
struct ProtocolServiceKey {
  std::string_view interface_name, version, group, protocol;
};
bool Matches(const ProtocolServiceKey& consumer, const ProtocolServiceKey& instance);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_MATCH_H_
