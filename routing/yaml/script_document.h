#ifndef FAIRLEAD_ROUTING_YAML_SCRIPT_DOCUMENT_H_
#define FAIRLEAD_ROUTING_YAML_SCRIPT_DOCUMENT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/routing/yaml/rule_head.h"
#include "fairlead/routing/yaml/yaml_parser.h"

namespace fairlead {

// What there is to say of a script rule, whether a document or a url.
inline constexpr std::string_view kScriptsAreNotRun =
    "scripts are not run here, so every provider passes; write the rule as conditions, tags or a mesh rule";

// A script rule (`{application}.script-router`), understood but for its script: scripts are not run here, every provider
// passes, and the first remark of an active one says so. A plain value.
struct ScriptDocument {
  RuleHead head;
  std::string type = "javascript";
  std::string script;
  std::vector<YamlRemark> remarks;

  // Would Dubbo run it? If so its consumers may choose among other providers than we do.
  bool active() const { return head.valid && head.enabled && !script.empty(); }
};

// kInvalidArgument names the place and what was expected. The script itself is not looked at.
absl::StatusOr<ScriptDocument> ParseScriptDocument(std::string_view yaml);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_SCRIPT_DOCUMENT_H_
