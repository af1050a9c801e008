#ifndef FAIRLEAD_DIRECTORY_RULE_KEYS_H_
#define FAIRLEAD_DIRECTORY_RULE_KEYS_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/url/url_parts.h"

namespace fairlead::internal {

enum class RuleKind : std::uint8_t { kConfigurators, kConditions, kTags, kAffinity, kMesh, kScript };
enum class RuleScope : std::uint8_t { kService, kConsumerApplication, kProviderApplication };

// Names one document of the config center, and says what it is to a directory.
struct RuleKey {
  RuleScope scope;
  RuleKind kind;
  std::string owner;  // interface:version:group, or an application

  // As consoles write it: "com.acme.Orders:1.0:.condition-router", "shop.configurators".
  std::string name() const;
  auto operator<=>(const RuleKey&) const = default;
};

// The parts of a document's name; nullopt when it has none of these ends. The owner may be anything.
struct RuleName {
  std::string_view owner;
  RuleKind kind;
};
std::optional<RuleName> ParseRuleName(std::string_view name);

// Documents that say something of every provider of a consumer: of its service and of its own application.
std::vector<RuleKey> RuleKeysOf(const UrlParts& consumer);

// Documents about the providers of one application. The conditions of the consumer's own application are among
// RuleKeysOf already, for all providers, and so are not here, as in Dubbo.
std::vector<RuleKey> RuleKeysOfProviders(std::string_view application, const UrlParts& consumer);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_RULE_KEYS_H_
