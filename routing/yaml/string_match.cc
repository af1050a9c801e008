#include "fairlead/routing/yaml/string_match.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/yaml/yaml_fields.h"

namespace fairlead {

absl::StatusOr<StringMatch> ReadStringMatch(const YamlValue& value, const std::string& what, StringMatch::Budget* budget,
                                            std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(value, what));
  StringMatch::Kinds kinds;
  const std::pair<const char*, std::optional<std::string>*> named[] = {
      {"exact", &kinds.exact},       {"prefix", &kinds.prefix}, {"regex", &kinds.regex},
      {"wildcard", &kinds.wildcard}, {"empty", &kinds.empty},   {"noempty", &kinds.noempty}};
  const char* first = nullptr;
  for (const auto& [name, text] : named) {
    FAIRLEAD_ASSIGN_OR_RETURN(*text, fields.Scalar(name));
    if (!*text) continue;
    if (first == nullptr) {
      first = name;
    } else {
      remarks->push_back({fields.Value(name)->mark(), absl::StrCat(what, ": ", name, " is beside ", first, ", which decides"), "second-kind"});
    }
  }
  if (first == nullptr) remarks->push_back({value.mark(), what + " has no kind of match, so nothing matches it", "no-kind"});
  if (kinds.wildcard && *kinds.wildcard != "*" && kinds.wildcard->find('*') != std::string::npos) {
    remarks->push_back({value.mark(), absl::StrCat(what, ": the wildcard \"", Shortened(*kinds.wildcard, 80),
                                                   "\" is compared as it is; only \"*\" alone stands for any text"),
                        "wildcard-literal"});
  }
  const YamlValue* regex = fields.Value("regex");
  absl::StatusOr<StringMatch> match = StringMatch::Compile(std::move(kinds), budget);
  if (!match.ok()) return fields.Error(regex != nullptr ? *regex : value, match.status());
  fields.RemarkUnknown(remarks);
  return match;
}

}  // namespace fairlead
