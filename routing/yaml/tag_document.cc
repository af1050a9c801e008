#include "fairlead/routing/yaml/tag_document.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/yaml/string_match.h"
#include "fairlead/routing/yaml/yaml_fields.h"

namespace fairlead {
namespace {

// The only versions for which Dubbo looks at `match`.
bool HasMatch(const RuleHead& head) { return head.version && head.version->starts_with("v3.0"); }

void ReadAddresses(const YamlValue& list, const std::string& what, Compat compat, TagAddresses* addresses,
                   std::vector<YamlRemark>* remarks) {
  if (list.kind() != YamlValue::Kind::kList) {
    remarks->push_back({list.mark(), absl::StrCat(what, ": addresses: expected a list, found ", list.Description(),
                                                  "; it has no effect"),
                        "not-a-list"});
    return;
  }
  for (const YamlValue& item : list.items()) {
    const std::string text = item.JavaText();
    const AddressPattern pattern(text, compat);
    if (!pattern.status().ok()) {
      remarks->push_back({item.mark(), absl::StrCat(what, " can have no provider by ", pattern.status().message()),
                          "address-never"});
    }
    addresses->Add(text, compat);
  }
}

absl::Status ReadMatch(const YamlValue& list, const std::string& what, StringMatch::Budget* budget,
                       std::vector<ParameterMatch>* match, std::vector<YamlRemark>* remarks) {
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    const YamlValue& item = list.items()[i];
    const std::string which = absl::StrCat(what, ".match[", i, "]");
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(item, which));
    ParameterMatch one;
    FAIRLEAD_ASSIGN_OR_RETURN(const std::optional<std::string> key, fields.Text("key"));
    one.key = key.value_or("");
    if (one.key.empty()) remarks->push_back({item.mark(), which + " has no key", "no-key"});
    if (const YamlValue* value = fields.Value("value")) {
      FAIRLEAD_ASSIGN_OR_RETURN(one.value, ReadStringMatch(*value, which + ".value", budget, remarks));
    } else {
      remarks->push_back({item.mark(), which + " has no value, so no provider fits it", "no-kind"});
    }
    fields.RemarkUnknown(remarks);
    match->push_back(std::move(one));
  }
  return absl::OkStatus();
}

absl::Status ReadTag(const YamlValue& item, const std::string& what, Compat compat, StringMatch::Budget* budget,
                     TagDocument* document) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(item, what));
  TagRule::Tag tag;
  FAIRLEAD_ASSIGN_OR_RETURN(tag.name, fields.Text("name"));
  // Nobody looks for its providers then; that it is a map and has a name Dubbo has seen before it asks.
  if (!document->head.valid) return absl::OkStatus();
  if (!tag.name) document->remarks.push_back({item.mark(), what + " has no name, so no call can ask for it", "tag-without-name"});
  if (const YamlValue* addresses = fields.Value("addresses")) {
    ReadAddresses(*addresses, what, compat, &tag.addresses, &document->remarks);
  }
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlValue* match, fields.List("match"));
  fields.RemarkUnknown(&document->remarks);
  const bool understood = HasMatch(document->head);
  if (!tag.addresses.empty() || !understood) {
    if (match != nullptr) {
      document->remarks.push_back(
          {match->mark(), absl::StrCat(what, ": match has no effect ",
                                       understood ? "beside addresses" : "unless configVersion begins with v3.0"),
           "match-ignored"});
    }
    if (tag.addresses.empty()) {
      document->remarks.push_back({item.mark(), what + " has no addresses, so it has no effect", "tag-without-providers"});
      return absl::OkStatus();
    }
  } else if (match == nullptr) {
    return fields.Error(item, "expected addresses or match");
  } else {
    FAIRLEAD_RETURN_IF_ERROR(ReadMatch(*match, what, budget, &tag.match, &document->remarks));
    if (tag.match.empty()) {
      document->remarks.push_back({match->mark(), what + ": an empty match fits every provider", "match-all"});
    }
  }
  document->rule.tags.push_back(std::move(tag));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TagDocument> ParseTagDocument(std::string_view yaml, Compat compat) {
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlDocument parsed, ParseYamlDocument(yaml));
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(parsed.root, "the document"));
  TagDocument document;
  document.remarks = parsed.remarks;
  FAIRLEAD_ASSIGN_OR_RETURN(document.head, ReadRuleHead(fields));
  document.rule.force = document.head.force;
  document.rule.compat = compat;
  const YamlValue* tags = fields.Value("tags");
  document.has_tags = tags != nullptr && tags->kind() == YamlValue::Kind::kList && !tags->items().empty();
  if (tags != nullptr && tags->kind() != YamlValue::Kind::kList) {
    document.unusable = fields.Error(*tags, absl::StrCat("tags: expected a list, found ", tags->Description()));
    document.remarks.push_back({tags->mark(), absl::StrCat("tags: expected a list, found ", tags->Description()), "unreadable"});
  } else if (document.has_tags) {
    StringMatch::Budget budget;
    for (std::size_t i = 0; i < tags->items().size(); ++i) {
      FAIRLEAD_RETURN_IF_ERROR(ReadTag(tags->items()[i], absl::StrCat("tags[", i, "]"), compat, &budget, &document));
    }
  } else {
    document.remarks.push_back({parsed.root.mark(), "there are no tags, so it has no effect", "no-tags"});
  }
  fields.RemarkUnknown(&document.remarks);
  return document;
}

}  // namespace fairlead
