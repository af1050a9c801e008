#ifndef FAIRLEAD_ROUTING_YAML_STRING_MATCH_H_
#define FAIRLEAD_ROUTING_YAML_STRING_MATCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/routing/string_match.h"
#include "fairlead/routing/yaml/yaml_parser.h"

namespace fairlead {

// A map such as `{prefix: "a"}`. Numbers and booleans count as their texts. kInvalidArgument, with the place, when it is no
// map, holds a list or map, or a regex that cannot be read or is over its budget or `budget`, which is the document's. Remarked: unknown fields, a kind that
// another one hides, a map without any, a `wildcard` with a `*` that is compared as it is. `what` names it: "tags[0].match[1].value".
absl::StatusOr<StringMatch> ReadStringMatch(const YamlValue& value, const std::string& what, StringMatch::Budget* budget,
                                            std::vector<YamlRemark>* remarks);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_STRING_MATCH_H_
