#include "fairlead/routing/yaml/condition_document.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/yaml/never_drawn.h"
#include "fairlead/routing/yaml/yaml_fields.h"

namespace fairlead {
namespace {

constexpr std::int32_t kDefaultWeight = 100;

absl::Status ReadTexts(const YamlValue& list, Compat compat, ConditionDocument* document) {
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    const YamlValue& item = list.items()[i];
    document->texts.push_back(item.JavaText());
    if (!document->head.enabled) {
      document->rules.push_back({document->texts.back(), {}, Conditions(), compat});
      continue;
    }
    absl::StatusOr<ConditionRule> rule = ParseConditionRule(document->texts.back(), compat);
    if (!rule.ok()) return YamlError(item, absl::StrCat("conditions[", i, "]"), rule.status());
    document->rules.push_back(*std::move(rule));
  }
  return absl::OkStatus();
}

// One side of a rule, kept apart from the other. Blank, and the texts that say so, mean "any".
absl::StatusOr<Conditions> ReadSide(const std::string& text, std::string_view any) {
  if (IsJavaBlank(text) || JavaTrim(text) == any) return Conditions();
  return ParseConditions(text);
}

absl::Status ReadDestination(const YamlValue& item, const std::string& what, DestinationsRule* rule,
                             std::vector<YamlRemark>* remarks) {
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(item, what));
  DestinationsRule::Destination destination;
  const std::string text = fields.AnyText("match").value_or("");
  absl::StatusOr<Conditions> match = ReadSide(text, "false");
  if (!match.ok()) return YamlError(item, what, match.status());
  destination.match = *std::move(match);
  FAIRLEAD_ASSIGN_OR_RETURN(const std::int32_t weight, fields.Int("weight", kDefaultWeight));
  if (weight <= 0) {
    remarks->push_back({item.mark(), absl::StrCat(what, ": a weight of ", weight, " counts as ", kDefaultWeight),
                        "weight-as-default"});
  }
  destination.weight = static_cast<std::uint32_t>(weight > 0 ? weight : kDefaultWeight);
  rule->to.push_back(std::move(destination));
  fields.RemarkUnknown(remarks);
  return absl::OkStatus();
}

absl::Status ReadDestinations(const YamlValue& list, Compat compat, ConditionDocument* document) {
  for (std::size_t i = 0; i < list.items().size(); ++i) {
    const YamlValue& item = list.items()[i];
    const std::string what = absl::StrCat("conditions[", i, "]");
    FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(item, what));
    DestinationsRule rule;
    rule.compat = compat;
    if (const YamlValue* from = fields.Value("from")) {
      FAIRLEAD_ASSIGN_OR_RETURN(YamlFields of_from, YamlFields::Of(*from, what + ".from"));
      rule.from_text = of_from.AnyText("match").value_or("");
      absl::StatusOr<Conditions> side = ReadSide(rule.from_text, "true");
      if (!side.ok()) return YamlError(*from, what + ".from", side.status());
      rule.from = *std::move(side);
      of_from.RemarkUnknown(&document->remarks);
    }
    FAIRLEAD_ASSIGN_OR_RETURN(const YamlValue* to, fields.List("to"));
    for (std::size_t j = 0; to != nullptr && j < to->items().size(); ++j) {
      FAIRLEAD_RETURN_IF_ERROR(ReadDestination(to->items()[j], absl::StrCat(what, ".to[", j, "]"), &rule,
                                               &document->remarks));
    }
    if (rule.to.empty()) {
      document->remarks.push_back({item.mark(), what + " has no destination: calls that it is about reach nobody",
                                    "no-destination"});
    }
    if (!rule.to.empty()) {
      const std::size_t last = rule.to.size() - 1;
      RemarkNeverDrawn(to->items()[last].mark(), absl::StrCat(what, ".to[", last, "]"), rule.to.size(), rule.to[last].weight, compat,
                       &document->remarks);
    }
    fields.RemarkUnknown(&document->remarks);
    document->destinations.push_back(std::move(rule));
  }
  return absl::OkStatus();
}

}  // namespace

ConditionDocument::Form ConditionDocument::FormOf(const std::optional<std::string>& version) {
  if (!version.has_value()) return Form::kTexts;
  const std::string lower = absl::AsciiStrToLower(*version);
  if (absl::StartsWith(lower, "v3.1")) return Form::kDestinations;
  return lower > "v3.1" ? Form::kTooNew : Form::kTexts;
}

absl::StatusOr<ConditionDocument> ParseConditionDocument(std::string_view yaml, Compat compat) {
  FAIRLEAD_ASSIGN_OR_RETURN(const YamlDocument parsed, ParseYamlDocument(yaml));
  FAIRLEAD_ASSIGN_OR_RETURN(YamlFields fields, YamlFields::Of(parsed.root, "the document"));
  ConditionDocument document;
  document.remarks = parsed.remarks;
  FAIRLEAD_ASSIGN_OR_RETURN(document.head.version, fields.Text("configVersion"));
  document.form = ConditionDocument::FormOf(document.head.version);
  // Dubbo looks at nothing else then.
  if (document.form == ConditionDocument::Form::kTooNew) {
    document.remarks.push_back({parsed.root.mark(), absl::StrCat("configVersion ", Shortened(*document.head.version, 40),
                                                                 " is newer than v3.1; its rules are not understood "
                                                                 "and have no effect"),
                                "too-new"});
    return document;
  }
  FAIRLEAD_ASSIGN_OR_RETURN(document.head, ReadRuleHead(fields));
  const YamlValue* conditions = fields.Value("conditions");
  document.has_conditions = conditions != nullptr && conditions->kind() == YamlValue::Kind::kList;
  if (document.has_conditions) {
    FAIRLEAD_RETURN_IF_ERROR(document.form == ConditionDocument::Form::kTexts
                                 ? ReadTexts(*conditions, compat, &document)
                                 : ReadDestinations(*conditions, compat, &document));
  }
  if (conditions != nullptr && !document.has_conditions) {
    document.unusable = fields.Error(*conditions, absl::StrCat("conditions: expected a list, found ", conditions->Description()));
    document.remarks.push_back({conditions->mark(), absl::StrCat("conditions: expected a list, found ", conditions->Description()),
                                "unreadable"});
  } else if (document.rules.empty() && document.destinations.empty()) {
    document.remarks.push_back({parsed.root.mark(), "there are no conditions, so it has no effect", "no-conditions"});
  }
  fields.RemarkUnknown(&document.remarks);
  return document;
}

std::vector<std::shared_ptr<const Router>> MakeRouters(const ConditionDocument& document, int order, std::string name) {
  std::vector<std::shared_ptr<const Router>> routers;
  if (document.empty()) return routers;
  const ConditionOptions options{document.head.force, document.head.enabled, order, std::move(name)};
  for (const ConditionRule& rule : document.rules) {
    routers.push_back(std::make_shared<const ConditionRouter>(rule, options));
  }
  for (const DestinationsRule& rule : document.destinations) {
    routers.push_back(std::make_shared<const DestinationsRouter>(rule, options));
  }
  return routers;
}

}  // namespace fairlead
