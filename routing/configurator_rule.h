#ifndef FAIRLEAD_ROUTING_CONFIGURATOR_RULE_H_
#define FAIRLEAD_ROUTING_CONFIGURATOR_RULE_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/address_match.h"
#include "fairlead/routing/parameter_match.h"
#include "fairlead/routing/string_match.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/url_parts.h"

namespace fairlead {

// Whom else a configurator is for, beyond what its url says: the `match` of a document's item. Every part that is there
// holds. Immutable in use; thread-safe.
struct ConfiguratorMatch {
  std::optional<AddressMatch> address = {};               // the host that the configurator's own is compared with
  std::optional<AddressMatch> provider_address = {};      // the target's host:port
  std::optional<std::vector<StringMatch>> services = {};  // one matches the target's [group/]interface[:version]
  std::optional<std::vector<StringMatch>> apps = {};      // one matches the target's `application`
  std::vector<ParameterMatch> params = {};                         // each matches that parameter of the target

  // `host`: this machine's address on the consumer's side, the target's host on the provider's. Linear in both.
  bool Matches(std::string_view host, const UrlParts& target) const;
  // On one line, for Explain.
  std::string ToString() const;
};

// One configurator that a document stands for: what its reader gives and a directory's Configurators take.
struct ConfiguratorRule {
  UrlParts url;                                    // override:// or absent://
  std::shared_ptr<const ConfiguratorMatch> match;  // nullptr: everybody the url is for
};

// Parameters of a configurator that say what it is and for whom; none is ever set in a target. The same goes for every
// `~key`.
inline constexpr std::array<std::string_view, 11> kConfiguratorControls = {
    names::kCategory,   names::kCheck,       names::kDynamic, names::kEnabled,       names::kGroup,
    names::kVersion,    names::kApplication, names::kSide,    names::kConfigVersion, names::kCompatibleConfig,
    names::kInterfaces,
};

// What documents do not set besides: who may write rules must not have files written or other code run.
inline constexpr std::array<std::string_view, 5> kNotFromDocuments = {"accesslog.fixed.path", names::kRouter, names::kRule,
                                                                      names::kRuntime, "type"};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_CONFIGURATOR_RULE_H_
