#include "fairlead/routing/yaml/affinity_document.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/yaml/yaml_fields.h"

namespace fairlead {

absl::StatusOr<AffinityDocument> ParseAffinityDocument(std::string_view yaml) {
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlDocument parsed, ParseYamlDocument(yaml));
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(parsed.root, "the document"));
  AffinityDocument document;
  document.remarks = parsed.remarks;
  FAIRLEAD_ASSIGN_OR_RETURN(document.head, ReadRuleHead(fields));
  YamlMark mark = parsed.root.mark();
  if (const YamlValue* aware = fields.Value("affinityAware")) {
    mark = aware->mark();
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields of_aware, YamlFields::Of(*aware, "affinityAware"));
    FAIRLEAD_ASSIGN_OR_RETURN(const std::optional<std::string> key, of_aware.Text("key"));
    if (!IsJavaBlank(key.value_or(""))) document.key = *key;
    FAIRLEAD_ASSIGN_OR_RETURN(document.ratio, of_aware.Int("ratio", document.ratio));
    of_aware.RemarkUnknown(&document.remarks);
  }
  if (document.key.empty()) {
    document.remarks.push_back({mark, "there is no affinityAware with a key, so it has no effect", "no-affinity"});
  } else if (document.ratio < 0 || document.ratio > 100) {
    document.remarks.push_back({mark, absl::StrCat("a ratio of ", document.ratio,
                                                   " is not from 0 to 100, so it has no effect"),
                                "ratio-out-of-range"});
  }
  fields.RemarkUnknown(&document.remarks);
  return document;
}

std::shared_ptr<const Router> MakeRouter(const AffinityDocument& document, int order, std::string name) {
  if (document.empty()) return nullptr;
  return std::make_shared<const AffinityRouter>(
      AffinityRule{document.key, document.ratio, document.head.enabled, order, std::move(name)});
}

}  // namespace fairlead
