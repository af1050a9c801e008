#ifndef FAIRLEAD_ROUTING_YAML_MESH_DOCUMENT_H_
#define FAIRLEAD_ROUTING_YAML_MESH_DOCUMENT_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/routing/mesh/mesh_rule.h"
#include "fairlead/routing/yaml/yaml_parser.h"
#include "fairlead/rpc/compat.h"

namespace fairlead {

// The mesh rules of an application (`{application}.MESHAPPRULE`), understood: VirtualServices and DestinationRules, each a
// document of its own in the text. A plain value.
struct MeshDocument {
  bool has_virtual_services = false, has_destination_rules = false;
  MeshRule rule;
  std::vector<YamlRemark> remarks;  // what does not do what its author may think

  // Without one of each it is as if it were not there, as in Dubbo.
  bool empty() const { return !has_virtual_services || !has_destination_rules; }
};

// kInvalidArgument names the place and what was expected. Documents of other kinds, without `metadata`, and those whose
// `metadata.name` has a dot, which belong to mesh routers that are not on, are left out and remarked.
absl::StatusOr<MeshDocument> ParseMeshDocument(std::string_view yaml, Compat compat);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_MESH_DOCUMENT_H_
