#include "fairlead/directory/rule_keys.h"

#include <algorithm>
#include <initializer_list>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {
namespace {

std::string_view EndOf(RuleKind kind) {
  switch (kind) {
    case RuleKind::kConfigurators:
      return ".configurators";
    case RuleKind::kConditions:
      return ".condition-router";
    case RuleKind::kTags:
      return ".tag-router";
    case RuleKind::kAffinity:
      return ".affinity-router";
    case RuleKind::kMesh:
      return ".MESHAPPRULE";
    case RuleKind::kScript:
      return ".script-router";
  }
  return {};
}

// An owner comes from urls, which anybody registers: with these it would name some other node or file, or none.
bool CanOwn(std::string_view owner) {
  return !owner.empty() && std::none_of(owner.begin(), owner.end(), [](char c) {
    return c == '/' || c == '?' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

void Add(RuleScope scope, std::string_view owner, std::initializer_list<RuleKind> kinds, std::vector<RuleKey>& keys) {
  if (!CanOwn(owner)) return;
  for (const RuleKind kind : kinds) keys.push_back({scope, kind, std::string(owner)});
}

}  // namespace

std::optional<RuleName> ParseRuleName(std::string_view name) {
  for (const RuleKind kind : {RuleKind::kConfigurators, RuleKind::kConditions, RuleKind::kTags, RuleKind::kAffinity,
                              RuleKind::kMesh, RuleKind::kScript}) {
    if (name.ends_with(EndOf(kind))) return RuleName{name.substr(0, name.size() - EndOf(kind).size()), kind};
  }
  return std::nullopt;
}

std::string RuleKey::name() const { return absl::StrCat(owner, ToAbsl(EndOf(kind))); }

std::vector<RuleKey> RuleKeysOf(const UrlParts& consumer) {
  std::vector<RuleKey> keys;
  if (const std::string service = consumer.ServiceInterface(); !service.empty()) {
    // The places of an absent version and group stay.
    Add(RuleScope::kService,
        absl::StrCat(service, ":", ToAbsl(consumer.Param(names::kVersion)), ":", ToAbsl(consumer.Param(names::kGroup))),
        {RuleKind::kConfigurators, RuleKind::kConditions, RuleKind::kAffinity}, keys);
  }
  Add(RuleScope::kConsumerApplication, consumer.Param(names::kApplication),
      {RuleKind::kConfigurators, RuleKind::kConditions}, keys);
  return keys;
}

std::vector<RuleKey> RuleKeysOfProviders(std::string_view application, const UrlParts& consumer) {
  std::vector<RuleKey> keys;
  if (application != consumer.Param(names::kApplication)) {
    Add(RuleScope::kProviderApplication, application, {RuleKind::kConditions}, keys);
  }
  Add(RuleScope::kProviderApplication, application, {RuleKind::kTags, RuleKind::kAffinity, RuleKind::kMesh, RuleKind::kScript}, keys);
  return keys;
}

}  // namespace fairlead::internal
