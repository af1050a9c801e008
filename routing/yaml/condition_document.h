#ifndef FAIRLEAD_ROUTING_YAML_CONDITION_DOCUMENT_H_
#define FAIRLEAD_ROUTING_YAML_CONDITION_DOCUMENT_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/condition/destinations_router.h"
#include "fairlead/routing/router.h"
#include "fairlead/routing/yaml/rule_head.h"
#include "fairlead/routing/yaml/yaml_parser.h"

namespace fairlead {

// A document of condition rules (`*.condition-router`), understood. Its `configVersion` says of what form it is:
// beginning with v3.1, rules with weighted destinations; any other up to that, or none, a list of rules as text;
// above it in the order of texts, one that is not understood and has no rules. A plain value.
struct ConditionDocument {
  enum class Form : std::uint8_t { kTexts, kDestinations, kTooNew };

  // What a document of that `configVersion` is.
  static Form FormOf(const std::optional<std::string>& version);

  RuleHead head;
  Form form = Form::kTexts;
  bool has_conditions = false;                  // `conditions` is a list
  std::vector<std::string> texts;               // kTexts: as given
  std::vector<ConditionRule> rules;             // of `texts`; of a disabled document their texts are not looked at
  std::vector<DestinationsRule> destinations;   // kDestinations
  // kInvalidArgument, with the place: `conditions` is no list. Dubbo has it for a document without conditions; who has a last
  // good version keeps that.
  absl::Status unusable;
  std::vector<YamlRemark> remarks;              // what does not do what its author may think

  // Without rules, or with `valid: false`, it is as if it were not there.
  bool empty() const { return !head.valid || (rules.empty() && destinations.empty()); }
};

// kInvalidArgument names the place and what was expected. One rule that cannot be read rejects the document, as in
// Dubbo: who wrote it has an error to mend, and half of a set of rules is another set.
absl::StatusOr<ConditionDocument> ParseConditionDocument(std::string_view yaml, Compat compat);

// The routers of a document, in its order, one of each rule, all at `order` in the chain. None when it is empty.
std::vector<std::shared_ptr<const Router>> MakeRouters(const ConditionDocument& document, int order, std::string name);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_CONDITION_DOCUMENT_H_
