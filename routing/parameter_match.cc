#include "fairlead/routing/parameter_match.h"

namespace fairlead {

std::optional<std::string_view> ParameterOf(const Url& url, std::string_view key) {
  if (const std::string* text = url.common().Find(key)) return *text;
  const std::string_view own = url.Param(key);  // pid and timestamp
  return own.empty() ? std::nullopt : std::optional(own);
}

std::optional<std::string_view> ParameterOf(const UrlParts& url, std::string_view key) {
  const std::string* text = url.Find(key);
  return text == nullptr ? std::nullopt : std::optional<std::string_view>(*text);
}

}  // namespace fairlead
