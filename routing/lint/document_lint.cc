#include "fairlead/routing/lint/document_lint.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/condition/condition_matcher.h"
#include "fairlead/routing/lint/condition_lint.h"
#include "fairlead/routing/lint/field_lint.h"
#include "fairlead/routing/rule_place.h"
#include "fairlead/routing/yaml/affinity_document.h"
#include "fairlead/routing/yaml/condition_document.h"
#include "fairlead/routing/yaml/mesh_document.h"
#include "fairlead/routing/yaml/script_document.h"
#include "fairlead/routing/yaml/tag_document.h"
#include "fairlead/routing/yaml/yaml_fields.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

// What a document says of itself as a whole.
void LintHead(const RuleHead& head, const YamlValue& root, LintReport& report) {
  const auto mark = [&](std::string_view field) { return MarkOfField(root, field); };
  if (!head.valid) report.Add("not-valid", mark("valid"), "`valid` is false, so the document counts for nothing");
  if (!head.enabled) report.Add("disabled", mark("enabled"), "`enabled` is false, so its rules decide nothing");
  if (root.Find("priority") != nullptr) {
    report.Add("priority-ignored", mark("priority"), "`priority` changes nothing: a document has its place in the chain");
  }
}

// How the fields are written that LintHead only knows as they were understood.
void LintHeadFields(const YamlValue& root, LintReport& report) {
  LintControls(root, "; it changes nothing, as its name says whom a document is for", report);
  LintFlag(root, "force", false, report);
  LintFlag(root, "runtime", true, report);
  LintFlag(root, "valid", true, report);
  LintFlag(root, "dynamic", false, report);
}

const char* NameOf(YamlValue::Kind kind) {
  using Kind = YamlValue::Kind;
  return kind == Kind::kMap ? "a map" : kind == Kind::kList ? "a list" : kind == Kind::kNull ? "nothing" : "no text";
}

std::size_t WordsIn(const Conditions& side) {
  std::size_t words = 0;
  for (const KeyPatterns& key : side) words += 1 + key.matches.size() + key.mismatches.size();
  return words;
}

class ConditionDocumentLint {
 public:
  ConditionDocumentLint(std::string_view text, const YamlValue& root, Compat compat, const LintWorld& world,
                        LintReport& report)
      : lines_(text), root_(root), report_(report) {
    frame_.compat = compat;
    frame_.in_document = true;
    frame_.world = &world;
    frame_.enabled = Flag("enabled", true);
    frame_.force = Flag("force", false);
    frame_.runtime = Flag("runtime", true);
  }

  std::vector<SequencedRule> Run() {
    const YamlValue* version = root_.Find("configVersion");
    const ConditionDocument::Form form = ConditionDocument::FormOf(
        version == nullptr || version->text() == nullptr ? std::nullopt : std::optional(*version->text()));
    const YamlValue* conditions = root_.Find("conditions");
    if (conditions == nullptr || form == ConditionDocument::Form::kTooNew) return {};
    for (std::size_t i = 0; i < conditions->items().size(); ++i) {
      const YamlValue& item = conditions->items()[i];
      const std::string name = absl::StrCat("conditions[", i, "]");
      std::optional<SequencedRule> rule = form == ConditionDocument::Form::kTexts ? Text(item, name) : Destinations(item, name);
      if (!rule.has_value()) continue;
      rule->name = name;
      rule->mark = item.mark();
      sequence_.push_back(*std::move(rule));
    }
    LintSequence(sequence_, frame_.compat, [this](std::size_t) -> LintReport& { return report_; });
    return std::move(sequence_);
  }

 private:
  bool Flag(std::string_view name, bool when_absent) const {
    absl::StatusOr<YamlFields> fields = YamlFields::Of(root_, "the document");
    return fields.ok() ? fields->Flag(name, when_absent) : when_absent;
  }

  std::optional<SequencedRule> Text(const YamlValue& item, const std::string& name) {
    const std::string text = item.JavaText();
    // What could be said of the text of a map would only hide that it is one.
    if (item.text() == nullptr && (!frame_.enabled || ParseConditionRule(text, frame_.compat).ok())) {
      report_.Add("condition-no-text", item.mark(),
                  absl::StrCat(name, " is ", NameOf(item.kind()), ", and `configVersion` is not v3.1, so its text is taken for a condition: ",
                               Shortened(text, 80)));
      return std::nullopt;
    }
    return LintConditionRule(text, At(item, text), report_);
  }

  ConditionFrame At(const YamlValue& value, std::string_view text) const {
    ConditionFrame frame = frame_;
    frame.mark = lines_.InScalar(value.mark(), text);
    return frame;
  }

  std::optional<Conditions> Side(const YamlValue& of, RuleSide side, std::string_view any) {
    const YamlValue* match = of.Find("match");
    if (match == nullptr || match->is_null()) return Conditions();
    const std::string text = match->JavaText();
    return LintConditionSide(text, side, any, At(*match, text), report_);
  }

  static bool IsMapOrNone(const YamlValue* value) {
    return value == nullptr || value->is_null() || value->kind() == YamlValue::Kind::kMap;
  }

  std::optional<SequencedRule> Destinations(const YamlValue& item, const std::string& name) {
    const YamlValue* to = item.Find("to");
    // What refuses the whole document has been said, and such an entry leaves nobody out.
    const bool refused = item.kind() != YamlValue::Kind::kMap || !IsMapOrNone(item.Find("from")) ||
                         (to != nullptr && !to->is_null() && to->kind() != YamlValue::Kind::kList);
    if (refused) return std::nullopt;
    SequencedRule rule;
    rule.force = frame_.force;
    if (const YamlValue* from = item.Find("from")) {
      std::optional<Conditions> when = Side(*from, RuleSide::kWhen, "true");
      if (!when.has_value()) return std::nullopt;
      rule.when = *std::move(when);
    }
    if (to == nullptr || to->items().empty()) {
      if (rule.when.empty()) {
        report_.Add("blocks-all", item.mark(), name + " is about every call and leaves nobody: the service has no provider");
      }
      return rule;  // nobody
    }
    std::vector<Conditions> seen;
    std::vector<YamlMark> marks;
    std::size_t words = 0;
    bool weightless = true;
    for (const YamlValue& destination : to->items()) {
      if (destination.kind() != YamlValue::Kind::kMap) return std::nullopt;
      std::optional<Conditions> match = Side(destination, RuleSide::kThen, "false");
      if (!match.has_value()) return std::nullopt;
      const YamlValue* weight = destination.Find("weight");
      weightless &= weight != nullptr && weight->AsJavaInt().value_or(1) <= 0;
      words += 1 + WordsIn(*match);
      if (words <= kMostSequencedWords) {
        if (const auto same = std::find(seen.begin(), seen.end(), *match); same != seen.end()) {
          report_.Add("destination-repeated", destination.mark(),
                      absl::StrCat("the destination at ", marks[static_cast<std::size_t>(same - seen.begin())].ToString(),
                                   " has the same providers; their weights add up"));
        }
      }
      seen.push_back(*std::move(match));
      marks.push_back(destination.mark());
    }
    if (weightless && to->items().size() > 1) {
      report_.Add("weights-zero", to->mark(), "no weight is above 0, so all destinations are drawn alike, none is left out");
    }
    // Several destinations are a choice, of which nothing is compared but the whole.
    if (seen.size() > 1) return std::nullopt;
    if (seen.front().empty()) return std::nullopt;
    rule.then = std::move(seen.front());
    return rule;
  }

  const TextLines lines_;
  const YamlValue& root_;
  ConditionFrame frame_;
  LintReport& report_;
  std::vector<SequencedRule> sequence_;
};

// Tags beside each other, and what in their addresses no provider can have although it can be read.
class TagsLint {
 public:
  TagsLint(Compat compat, LintReport& report) : compat_(compat), report_(report) {}

  void Run(const YamlValue& tags) {
    for (const YamlValue& tag : tags.items()) {
      const YamlValue* name = tag.Find("name");
      if (name != nullptr && name->text() != nullptr) LintName(*name);
      const std::string of = name == nullptr ? "" : name->JavaText();
      LintMatch(tag);
      const YamlValue* addresses = tag.Find("addresses");
      if (addresses == nullptr) continue;
      for (const YamlValue& address : addresses->items()) LintAddress(address, of);
    }
  }

 private:
  void LintMatch(const YamlValue& tag) {
    const YamlValue* match = tag.Find("match");
    if (match == nullptr) return;
    for (const YamlValue& one : match->items()) {
      const YamlValue* key = one.Find("key");
      if (key != nullptr && key->text() != nullptr) LintKeptPrefix(*key->text(), "`key`", key->mark(), report_);
    }
  }

  void LintName(const YamlValue& name) {
    if (name.text()->empty()) return report_.Add("tag-without-name", name.mark(), "a tag's name is empty, so no call can ask for it");
    const auto [at, fresh] = names_.try_emplace(*name.text(), name.mark());
    if (fresh) return;
    report_.Add("tag-repeated", name.mark(), absl::StrCat("the tag ", Shortened(*name.text(), 80), " is there already, ",
                                                          at->second.ToString(), "; the last of one name decides, and one by "
                                                          "`match` that fits somebody before one by addresses"));
  }

  void LintAddress(const YamlValue& item, const std::string& tag) {
    const std::string text = item.JavaText();
    const AddressPattern pattern(text, compat_);
    if (!pattern.status().ok()) return;  // the document's reader has said so
    const std::string shown = Shortened(text, 80);
    if (text == "*" || text == "*.*.*.*") {
      report_.Add("tags-everybody", item.mark(), absl::StrCat("`", shown, "` puts every provider in the tag, so calls without a tag have "
                                                              "nobody"));
    }
    if (compat_ == Compat::kStrict && pattern.literal() && !text.starts_with("0.0.0.0:")) {
      const auto literals = pattern.literals();
      const bool hidden = std::any_of(literals.begin(), literals.end(), [](const std::optional<IpAddress>& host) {
        return host.has_value() && host->AnyOrLoopbackV4();
      });
      if (hidden) {
        report_.Add("address-never", item.mark(), absl::StrCat("`", shown, "` fits nobody: Dubbo takes the host for IPv6; a network such "
                                                               "as 127.0.0.0/8 fits it"));
      }
    }
    const std::size_t colon = text.rfind(':');
    const bool has_port = colon != text.npos && (text.find(':') == colon || (colon > 0 && text[colon - 1] == ']'));
    const std::optional<std::int32_t> port = has_port ? ParseJavaInt(std::string_view(text).substr(colon + 1)) : std::nullopt;
    if (port.has_value() && (*port < 1 || *port > 65535)) {
      report_.Add("address-never", item.mark(), absl::StrCat("`", shown, "` has a port that no url has, so it fits nobody"));
    }
    const auto [at, fresh] = addresses_.try_emplace(text, std::pair(tag, item.mark()));
    if (fresh) return;
    const bool same_tag = at->second.first == tag;
    report_.Add(same_tag ? "address-repeated" : "address-in-two-tags", item.mark(),
                absl::StrCat("`", shown, "` is in ", same_tag ? "this tag" : absl::StrCat("the tag ", Shortened(at->second.first, 80)),
                             " already, ", at->second.second.ToString()));
  }

  const Compat compat_;
  LintReport& report_;
  std::map<std::string, YamlMark, std::less<>> names_;
  std::map<std::string, std::pair<std::string, YamlMark>, std::less<>> addresses_;  // the tag they were first in
};

void LintTagsInWorld(const TagDocument& document, const YamlValue& tags, const LintWorld& world, LintReport& report) {
  if (world.providers.empty() || document.empty()) return;
  for (const TagRule::Tag& tag : document.rule.tags) {
    const bool as_addresses = document.rule.compat == Compat::kStrict && tag.by_match();
    const bool somebody = std::any_of(world.providers.begin(), world.providers.end(), [&](const Url& url) {
      const Provider provider{url, url};
      if (!tag.Fits(provider)) return false;
      if (!as_addresses) return true;
      MatchedAddresses own;
      own.Add(provider);
      return own.Has(provider);
    });
    if (somebody || !tag.name.has_value()) continue;
    YamlMark mark = tags.mark();
    for (const YamlValue& item : tags.items()) {
      const YamlValue* name = item.Find("name");
      if (name != nullptr && name->text() != nullptr && *name->text() == *tag.name) mark = name->mark();
    }
    report.Add("no-provider-now", mark, absl::StrCat("none of the ", world.providers.size(), " providers is in the tag ",
                                                     Shortened(*tag.name, 80), " now"));
  }
}

void LintAffinityInWorld(const AffinityDocument& document, const YamlValue& root, const LintWorld& world, LintReport& report) {
  if (world.consumer.empty()) return;
  const YamlMark mark = MarkOfField(root, "affinityAware");
  const std::string own = ResolveReference(world.consumer.parts(), document.key);
  if (own.empty()) {
    return report.Add("reference-missing", mark, absl::StrCat("the consumer has no ", Shortened(document.key, 80), ", so all stay"));
  }
  if (world.providers.empty()) return;
  const ProviderMatcher like({{document.key, {"$" + document.key}, {}}}, world.consumer.parts(), Compat::kStrict);
  const auto count = static_cast<std::size_t>(std::count_if(world.providers.begin(), world.providers.end(), [&](const Url& url) {
    return like.Matches(url.parts());
  }));
  if (count == 0 || count * 100 < static_cast<std::size_t>(document.ratio) * world.providers.size()) {
    report.Add("no-provider-now", mark, absl::StrCat(count, " of the ", world.providers.size(), " providers are like the consumer, fewer than ",
                                                     count == 0 ? 1 : document.ratio, count == 0 ? "" : " percent", ", so all stay now"));
  }
}

}  // namespace

std::vector<SequencedRule> LintConditionDocument(std::string_view text, Compat compat, const LintWorld& world, LintReport& report) {
  const absl::StatusOr<YamlDocument> yaml = ParseYamlDocument(text);
  if (!yaml.ok()) {
    report.AddError(yaml.status(), {1, 1});
    return {};
  }
  LintHeadFields(yaml->root, report);
  const absl::StatusOr<ConditionDocument> document = ParseConditionDocument(text, compat);
  if (document.ok()) {
    report.AddRemarks(document->remarks);
    LintHead(document->head, yaml->root, report);
  } else if (PlaceOf(document.status()).value_or(RulePlace()).code != "condition-syntax") {
    // An error of a condition comes with all conditions, of which not only the first one may be wrong.
    report.AddError(document.status(), yaml->root.mark());
  }
  std::vector<SequencedRule> rules = ConditionDocumentLint(text, yaml->root, compat, world, report).Run();
  if (!document.ok() || !document->head.enabled || document->empty()) rules.clear();
  return rules;
}

void LintTagDocument(std::string_view text, Compat compat, const LintWorld& world, LintReport& report) {
  const absl::StatusOr<YamlDocument> yaml = ParseYamlDocument(text);
  if (!yaml.ok()) return report.AddError(yaml.status(), {1, 1});
  LintHeadFields(yaml->root, report);
  const absl::StatusOr<TagDocument> document = ParseTagDocument(text, compat);
  if (!document.ok()) {
    report.AddError(document.status(), yaml->root.mark());
  } else {
    report.AddRemarks(document->remarks);
    LintHead(document->head, yaml->root, report);
  }
  const YamlValue* tags = yaml->root.Find("tags");
  if (tags == nullptr) return;
  TagsLint(compat, report).Run(*tags);
  if (document.ok()) LintTagsInWorld(*document, *tags, world, report);
  const bool by_match_only = document.ok() && document->rule.force && !document->rule.tags.empty() &&
                             std::all_of(document->rule.tags.begin(), document->rule.tags.end(),
                                         [](const TagRule::Tag& tag) { return tag.by_match(); });
  if (by_match_only) {
    report.Add("force-without-addresses", MarkOfField(yaml->root, "force"),
               "`force` of a rule is asked only for tags with `addresses`, and no tag has any");
  }
}

void LintAffinityDocument(std::string_view text, const LintWorld& world, LintReport& report) {
  const absl::StatusOr<YamlDocument> yaml = ParseYamlDocument(text);
  if (!yaml.ok()) return report.AddError(yaml.status(), {1, 1});
  LintHeadFields(yaml->root, report);
  const absl::StatusOr<AffinityDocument> document = ParseAffinityDocument(text);
  if (!document.ok()) return report.AddError(document.status(), yaml->root.mark());
  report.AddRemarks(document->remarks);
  LintHead(document->head, yaml->root, report);
  if (document->head.force) {
    report.Add("force-without-effect", MarkOfField(yaml->root, "force"), "`force` of an affinity rule changes nothing: whom it "
                                                                       "leaves too few for keeps all");
  }
  LintKeptPrefix(document->key, "`key`", MarkOfField(yaml->root, "affinityAware"), report);
  if (!document->empty()) LintAffinityInWorld(*document, yaml->root, world, report);
  if (!document->empty() && document->ratio == 0) {
    report.Add("ratio-zero", MarkOfField(yaml->root, "affinityAware"),
               "with a ratio of 0 Dubbo leaves nobody when no provider is like the consumer; here all stay then");
  }
}

void LintScriptDocument(std::string_view text, LintReport& report) {
  const absl::StatusOr<YamlDocument> yaml = ParseYamlDocument(text);
  if (!yaml.ok()) return report.AddError(yaml.status(), {1, 1});
  LintHeadFields(yaml->root, report);
  const absl::StatusOr<ScriptDocument> document = ParseScriptDocument(text);
  if (!document.ok()) return report.AddError(document.status(), yaml->root.mark());
  report.AddRemarks(document->remarks);
  LintHead(document->head, yaml->root, report);
  if (document->active()) {
    report.Add("script-not-run", MarkOfField(yaml->root, "script"), "scripts are not run here: every provider passes");
  }
}

void LintMeshDocument(std::string_view text, Compat compat, LintReport& report) {
  const absl::StatusOr<MeshDocument> document = ParseMeshDocument(text, compat);
  if (!document.ok()) return report.AddError(document.status(), {1, 1});
  report.AddRemarks(document->remarks);
}

}  // namespace fairlead::internal
