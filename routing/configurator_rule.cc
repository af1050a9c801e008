#include "fairlead/routing/configurator_rule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

bool AnyMatches(const std::vector<StringMatch>& matches, std::optional<std::string_view> text) {
  return std::any_of(matches.begin(), matches.end(), [&](const StringMatch& match) { return match.Matches(text); });
}

std::string OneOf(const std::vector<StringMatch>& matches) {
  if (matches.empty()) return "nothing";
  return absl::StrJoin(matches, " or ", [](std::string* text, const StringMatch& match) { *text += match.ToString(); });
}

}  // namespace

bool ConfiguratorMatch::Matches(std::string_view host, const UrlParts& target) const {
  if (address.has_value() && !address->Matches(host)) return false;
  if (provider_address.has_value() && !provider_address->Matches(target.Address())) return false;
  if (services.has_value() && !AnyMatches(*services, target.ServiceKey())) return false;
  if (apps.has_value() && !AnyMatches(*apps, ParameterOf(target, names::kApplication))) return false;
  return std::all_of(params.begin(), params.end(),
                     [&](const ParameterMatch& param) { return param.Matches(target); });
}

std::string ConfiguratorMatch::ToString() const {
  std::vector<std::string> parts;
  if (address.has_value()) parts.push_back("address " + address->ToString());
  if (provider_address.has_value()) parts.push_back("providerAddress " + provider_address->ToString());
  if (services.has_value()) parts.push_back("service " + OneOf(*services));
  if (apps.has_value()) parts.push_back("app " + OneOf(*apps));
  for (const ParameterMatch& param : params) parts.push_back(absl::StrCat("param ", param.key, " ", param.value.ToString()));
  return parts.empty() ? "always" : absl::StrJoin(parts, " and ");
}

}  // namespace fairlead
