#ifndef FAIRLEAD_DIRECTORY_RULE_SET_H_
#define FAIRLEAD_DIRECTORY_RULE_SET_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fairlead {

// All rules that a registry and its config center have for a service, as texts. Plain value.
struct RuleSet {
  std::map<std::string, std::string> documents;  // by name: "shop.tag-router", "com.acme.Orders::.configurators"
  std::vector<std::string> rules;                // urls of category `routers`, in the registry's order
  std::vector<std::string> overrides;            // urls of category `configurators`

  bool operator==(const RuleSet&) const = default;
};

// What somebody means to change of it.
struct RuleChange {
  std::map<std::string, std::optional<std::string>> documents;  // the new text; nullopt: deleted
  std::vector<std::string> set;      // urls: in place of the one that is the same rule, else at the end
  std::vector<std::string> removed;  // urls: the equal one goes, else those that are the same rule
};

// `rules` after the change. Two urls are the same rule when they are equal but for what they decide: overrides by
// ConfiguratorIdentity, router urls by address, service, group, version and `name`, without which each is a rule of its
// own. A url that cannot be read is equal to the same text alone. Linear in `rules` for each url of the change.
RuleSet Changed(RuleSet rules, const RuleChange& change);

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_RULE_SET_H_
