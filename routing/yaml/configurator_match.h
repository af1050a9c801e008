#ifndef FAIRLEAD_ROUTING_YAML_CONFIGURATOR_MATCH_H_
#define FAIRLEAD_ROUTING_YAML_CONFIGURATOR_MATCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/routing/configurator_rule.h"
#include "fairlead/routing/string_match.h"
#include "fairlead/routing/yaml/yaml_parser.h"
#include "fairlead/routing/yaml/yaml_value.h"
#include "fairlead/rpc/compat.h"

namespace fairlead {

// The `match` of a configurator document's item:
//
//   match:
//     address: {cird: 10.0.0.0/8}                  # or wildcard, exact
//     providerAddress: {wildcard: "10.0.0.1:*"}
//     service: {oneof: [{prefix: com.acme.}]}      # exact, prefix, regex, wildcard, empty, noempty
//     app: {oneof: [{exact: shop}]}
//     param: [{key: region, value: {exact: hz}}]
//
// kInvalidArgument, with the place, for what is of another type or cannot be understood: Dubbo reads it as if it were not
// there, and so changes providers that its author meant to leave alone. Remarked: unknown fields, what can never match.
// Its regexes count to `budget`, the
// document's. `what` names it in errors.
absl::StatusOr<ConfiguratorMatch> ReadConfiguratorMatch(const YamlValue& value, const std::string& what, Compat compat,
                                                        StringMatch::Budget* budget, std::vector<YamlRemark>* remarks);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_CONFIGURATOR_MATCH_H_
