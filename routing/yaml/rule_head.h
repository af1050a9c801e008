#ifndef FAIRLEAD_ROUTING_YAML_RULE_HEAD_H_
#define FAIRLEAD_ROUTING_YAML_RULE_HEAD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

#include "fairlead/routing/yaml/yaml_fields.h"

namespace fairlead {

// What the rule documents of all routers have in common, with Dubbo's defaults.
struct RuleHead {
  std::optional<std::string> version;  // configVersion
  std::optional<std::string> scope;    // "service" or "application"; what it says decides nothing, the document's key does
  std::optional<std::string> key;      // for people
  bool force = false;
  bool runtime = true;  // changes nothing: what a rule reads decides when it is asked
  bool enabled = true;
  bool valid = true;
  bool dynamic = false;
  std::int32_t priority = 0;  // changes nothing: a document has its place in the chain
};

// kInvalidArgument, with the place: configVersion, scope or key without quotes where YAML sees no text, or a priority
// that is no number.
absl::StatusOr<RuleHead> ReadRuleHead(YamlFields& fields);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_RULE_HEAD_H_
