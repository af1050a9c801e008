#include "fairlead/url/parameter_check.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

constexpr std::size_t kShownValue = 60;

}  // namespace

bool internal::ReadsAsInt(std::string_view value) { return ParseJavaInt(value).has_value(); }

bool internal::ReadsAsCount(std::string_view value) { return ParseJavaInt(value).value_or(-1) >= 0; }

bool internal::ReadsAsBool(std::string_view value) {
  return ParseJavaBool(value) || absl::EqualsIgnoreCase(ToAbsl(value), "false");
}

std::vector<std::string> UnreadableParameters(const UrlParts& url, std::span<const ParameterRule> rules) {
  std::vector<std::string> remarks;
  for (const ParameterRule& rule : rules) {
    const std::string_view value = url.Param(rule.key);
    if (value.empty() || rule.readable(value)) continue;
    remarks.push_back(absl::StrCat(ToAbsl(rule.key), "=", Shortened(value, kShownValue), ": expected ",
                                   ToAbsl(rule.expected), "; ", ToAbsl(rule.instead), " holds instead"));
  }
  return remarks;
}

}  // namespace fairlead
