#ifndef FAIRLEAD_ROUTING_PARAMETER_MATCH_H_
#define FAIRLEAD_ROUTING_PARAMETER_MATCH_H_

#include <optional>
#include <string>
#include <string_view>

#include "fairlead/routing/string_match.h"
#include "fairlead/url/url.h"
#include "fairlead/url/url_parts.h"

namespace fairlead {

// A parameter of a url. Absent and empty are not the same here, as they are for Url::Param.
std::optional<std::string_view> ParameterOf(const Url& url, std::string_view key);
std::optional<std::string_view> ParameterOf(const UrlParts& url, std::string_view key);

// A condition on one parameter, as rule documents state it: `{key: region, value: {prefix: hz}}`. A plain value.
struct ParameterMatch {
  std::string key;
  StringMatch value;

  bool Matches(const Url& url) const { return value.Matches(ParameterOf(url, key)); }
  bool Matches(const UrlParts& url) const { return value.Matches(ParameterOf(url, key)); }
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_PARAMETER_MATCH_H_
