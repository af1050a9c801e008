#ifndef FAIRLEAD_ROUTING_YAML_MESH_MATCH_H_
#define FAIRLEAD_ROUTING_YAML_MESH_MATCH_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/routing/mesh/mesh_rule.h"
#include "fairlead/routing/string_match.h"
#include "fairlead/routing/yaml/yaml_fields.h"
#include "fairlead/routing/yaml/yaml_parser.h"
#include "fairlead/routing/yaml/yaml_value.h"

namespace fairlead {

// One entry of `routedetail[].match` of a VirtualService:
//
//   method: {name_match: {prefix: find}, argc: 1, args: [{index: 0, num_value: {oneof: [{range: {start: 1, end: 10}}]}}]}
//   sourceLabels: {env: gray}
//   attachments: {dubboContext: {user: {exact: vip}}}
//
// kInvalidArgument, with the place, for what is of another type. Remarked: unknown fields, and what no call here can fit
// (`argp`, `tracingContext`). Its regexes count to `budget`, the document's.
// `what` names it in errors.
absl::StatusOr<MeshMatch> ReadMeshMatch(const YamlValue& value, const std::string& what, StringMatch::Budget* budget,
                                        std::vector<YamlRemark>* remarks);

// The entries of a map of texts such as `labels: {version: "1"}`; none when it is absent. Numbers and booleans count as
// their texts.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadLabels(YamlFields& fields, std::string_view name);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_MESH_MATCH_H_
