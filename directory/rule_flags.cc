#include "fairlead/directory/rule_flags.h"

#include <span>
#include <string_view>

#include "fairlead/url/parameter_check.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

// `enabled` first: what is not enabled has no other flag that matters.
constexpr ParameterRule kRuleFlags[] = {BoolRule(names::kEnabled), BoolRule(names::kForce), BoolRule(names::kRuntime),
                                        IntRule(names::kPriority, "0")};
constexpr ParameterRule kOverrideFlags[] = {BoolRule(names::kEnabled), BoolRule(names::kDisabled)};

}  // namespace

std::string_view RouterName(const UrlParts& url) {
  return url.Param(names::kRouter, url.protocol.has_value() ? std::string_view(*url.protocol) : "");
}

bool IsScript(std::string_view router) { return router == "script" || router == "file"; }

bool IsScriptRule(const UrlParts& url) { return IsScript(RouterName(url)); }

bool IsConditionRule(const UrlParts& url) {
  const std::string_view name = RouterName(url);
  return name == "condition" || name == "route";
}

std::vector<std::string> UnreadableFlags(const UrlParts& url) {
  std::span<const ParameterRule> flags = kOverrideFlags;
  if (IsConditionRule(url)) flags = kRuleFlags;
  if (!BoolParam(url, names::kEnabled, true)) flags = flags.first(1);
  return UnreadableParameters(url, flags);
}

}  // namespace fairlead::internal
