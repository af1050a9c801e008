#include "fairlead/routing/yaml/script_document.h"

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/yaml/yaml_fields.h"

namespace fairlead {

absl::StatusOr<ScriptDocument> ParseScriptDocument(std::string_view yaml) {
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlDocument parsed, ParseYamlDocument(yaml));
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(parsed.root, "the document"));
  ScriptDocument document;
  FAIRLEAD_ASSIGN_OR_RETURN(document.head, ReadRuleHead(fields));
  FAIRLEAD_ASSIGN_OR_RETURN(const std::optional<std::string> type, fields.Text("type"));
  FAIRLEAD_ASSIGN_OR_RETURN(const std::optional<std::string> script, fields.Text("script"));
  if (type) document.type = *type;
  document.script = script.value_or("");
  if (document.active()) {
    document.remarks.push_back({fields.Value("script")->mark(),
                                absl::StrCat("script (", Shortened(document.type, 40), "): ", ToAbsl(kScriptsAreNotRun))});
  } else if (document.script.empty()) {
    document.remarks.push_back({parsed.root.mark(), "there is no script, so it has no effect"});
  }
  document.remarks.insert(document.remarks.end(), parsed.remarks.begin(), parsed.remarks.end());
  fields.RemarkUnknown(&document.remarks);
  return document;
}

}  // namespace fairlead
