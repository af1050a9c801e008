#ifndef FAIRLEAD_ROUTING_YAML_TAG_DOCUMENT_H_
#define FAIRLEAD_ROUTING_YAML_TAG_DOCUMENT_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/routing/tag/tag_rule.h"
#include "fairlead/routing/yaml/rule_head.h"
#include "fairlead/routing/yaml/yaml_parser.h"

namespace fairlead {

// A document of tags (`*.tag-router`), understood. A plain value.
struct TagDocument {
  RuleHead head;
  bool has_tags = false;            // `tags` is a list with something in it
  // kInvalidArgument, with the place: `tags` is no list. Dubbo has it for a document without tags; who has a last good
  // version keeps that.
  absl::Status unusable;
  TagRule rule;                     // without the tags that have no effect
  std::vector<YamlRemark> remarks;  // what does not do what its author may think

  // Whether it counts at all: if not, providers have the tags that they give themselves.
  bool empty() const { return !head.valid || !head.enabled || !has_tags; }
};

// kInvalidArgument names the place and what was expected. `match` is understood when configVersion begins with v3.0; there
// a tag must have addresses or `match`, as a document that has one with neither has no effect in Dubbo either. A regex that
// cannot be read or is over the budget rejects the document, also when no provider has the parameter. An address that can
// fit no host is only remarked, as Dubbo goes on without it.
absl::StatusOr<TagDocument> ParseTagDocument(std::string_view yaml, Compat compat);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_TAG_DOCUMENT_H_
