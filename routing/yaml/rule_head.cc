#include "fairlead/routing/yaml/rule_head.h"

#include "fairlead/base/status_macros.h"

namespace fairlead {

absl::StatusOr<RuleHead> ReadRuleHead(YamlFields& fields) {
  RuleHead head;
  FAIRLEAD_ASSIGN_OR_RETURN(head.version, fields.Text("configVersion"));
  FAIRLEAD_ASSIGN_OR_RETURN(head.scope, fields.Text("scope"));
  FAIRLEAD_ASSIGN_OR_RETURN(head.key, fields.Text("key"));
  head.force = fields.Flag("force", head.force);
  head.runtime = fields.Flag("runtime", head.runtime);
  head.enabled = fields.Flag("enabled", head.enabled);
  head.valid = fields.Flag("valid", head.valid);
  head.dynamic = fields.Flag("dynamic", head.dynamic);
  FAIRLEAD_ASSIGN_OR_RETURN(head.priority, fields.Int("priority", head.priority));
  return head;
}

}  // namespace fairlead
