#ifndef FAIRLEAD_URL_MATCH_H_
#define FAIRLEAD_URL_MATCH_H_

#include <string_view>

#include "fairlead/url/url.h"

namespace fairlead {

// Dubbo's isMatchGlobPattern: only the last '*' is a wildcard, text before it a prefix, text after it a
// suffix, which may overlap. Linear.
bool MatchesGlob(std::string_view pattern, std::string_view value);

// Does `provider` (any category) answer the subscription `consumer`? Interface, category, enabled, group,
// version and classifier, by the rules of Dubbo's UrlUtils.isMatch.
bool Matches(const UrlParts& consumer, const UrlParts& provider);
// The same for a provider found by a registry push, where the path already says interface and category.
bool MatchesPushed(const UrlParts& consumer, const UrlParts& provider);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_MATCH_H_
