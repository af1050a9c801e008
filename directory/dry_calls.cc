#include "fairlead/directory/dry_calls.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/directory/rule_flags.h"
#include "fairlead/directory/rule_keys.h"
#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/condition/value_pattern.h"
#include "fairlead/routing/yaml/condition_document.h"
#include "fairlead/routing/yaml/mesh_document.h"
#include "fairlead/routing/yaml/tag_document.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/percent.h"

namespace fairlead::internal {
namespace {

// How often names of methods are compared with patterns.
constexpr std::size_t kMostPatternsTimesMethods = 20'000'000;

class Finder {
 public:
  explicit Finder(Compat compat) : compat_(compat) {}

  void OfUrl(const Url& url) {
    for (absl::string_view method : absl::StrSplit(ToAbsl(url.Param(names::kMethods)), ',')) AddMethod(FromAbsl(method));
    for (const auto& [key, value] : url.common().params) AddMethod(OwnMethod(key));
    AddTag(url.Param(names::kTag));
  }

  void OfRules(const RuleSet& rules) {
    for (const std::string& text : rules.rules) {
      const absl::StatusOr<UrlParts> url = UrlParts::ParseAny(text);
      if (!url.ok() || !IsConditionRule(*url)) continue;
      const absl::StatusOr<std::string> rule = PercentDecode(url->Param(names::kRule));
      if (!rule.ok()) continue;
      const absl::StatusOr<ConditionRule> read = ParseConditionRule(*rule, compat_);
      if (read.ok()) OfConditions(read->when);
    }
    for (const std::string& text : rules.overrides) {
      const absl::StatusOr<UrlParts> url = UrlParts::ParseAny(text);
      if (!url.ok()) continue;
      for (const auto& [key, value] : url->params) AddMethod(OwnMethod(key));
    }
    for (const auto& [name, text] : rules.documents) OfDocument(name, text);
  }

  FoundCalls Take(std::size_t most_methods, std::size_t most_tags) {
    std::vector<ValuePattern> patterns;
    for (const std::string& pattern : patterns_) patterns.push_back(ValuePattern::Glob(pattern));
    const auto hit = [](const ValuePattern& pattern, std::string_view name) { return pattern.Matches(name); };
    FoundCalls found;
    const std::vector<std::string> named(methods_.begin(), methods_.end());
    const std::size_t looked_at = std::min(patterns.size(), kMostPatternsTimesMethods / std::max<std::size_t>(named.size(), 1) + 1);
    for (std::size_t i = 0; i < looked_at; ++i) {
      if (std::any_of(named.begin(), named.end(), [&](const std::string& name) { return hit(patterns[i], name); })) continue;
      const std::string& text = patterns[i].text();
      const std::size_t star = text.rfind('*');
      AddMethod(text.substr(0, star) + text.substr(star + 1));
    }
    if (looked_at < patterns.size()) {
      found.left_out.push_back(absl::StrCat("methods for all but the first ", looked_at, " of ", patterns.size(), " patterns"));
    }
    for (int i = 0;; ++i) {
      found.other = absl::StrCat("otherMethod", i == 0 ? "" : std::to_string(i));
      const bool taken = methods_.contains(found.other) ||
                         std::any_of(patterns.begin(), patterns.end(), [&](const ValuePattern& one) { return hit(one, found.other); });
      if (!taken || i > 100) break;
    }
    found.methods = Some(methods_, most_methods, "methods", found);
    found.tags = Some(tags_, most_tags, "tags", found);
    return found;
  }

 private:
  using Names = std::set<std::string, std::less<>>;

  static std::vector<std::string> Some(const Names& names, std::size_t most, const char* what, FoundCalls& found) {
    if (names.size() > most) found.left_out.push_back(absl::StrCat("all but the first ", most, " of ", names.size(), " ", what));
    std::vector<std::string> some;
    for (const std::string& name : names) {
      if (some.size() == most) break;
      some.push_back(name);
    }
    return some;
  }

  void AddMethod(std::string_view name) {
    if (!name.empty() && name.find('*') == name.npos) methods_.emplace(name);
  }
  void AddTag(std::string_view tag) {
    if (!tag.empty()) tags_.emplace(tag);
  }

  void OfConditions(const Conditions& when) {
    for (const KeyPatterns& key : when) {
      if (key.key != "method" && key.key != "methods") continue;
      for (const auto* values : {&key.matches, &key.mismatches}) {
        for (const std::string& value : *values) {
          if (value.find('~') != value.npos || value == "*") continue;
          if (value.find('*') != value.npos) {
            patterns_.insert(value);
          } else {
            AddMethod(value);
          }
        }
      }
    }
  }

  // A regex names no method; one that another text names may fit it.
  void OfMesh(const MeshRule& rule) {
    for (const MeshRule::Route& route : rule.routes) {
      for (const MeshRule::Detail& detail : route.details) {
        for (const MeshMatch& match : detail.match) {
          if (!match.method.has_value()) continue;
          AddMethod(match.method->kinds().exact.value_or(""));
          AddMethod(match.method->kinds().wildcard.value_or(""));
          if (const auto& prefix = match.method->kinds().prefix) patterns_.insert(*prefix + "*");
        }
      }
    }
  }

  void OfDocument(std::string_view name, const std::string& text) {
    const auto parts = ParseRuleName(name);
    if (!parts.has_value()) return;
    if (parts->kind == RuleKind::kConditions) {
      const absl::StatusOr<ConditionDocument> document = ParseConditionDocument(text, compat_);
      if (!document.ok()) return;
      for (const ConditionRule& rule : document->rules) OfConditions(rule.when);
      for (const DestinationsRule& rule : document->destinations) OfConditions(rule.from);
    } else if (parts->kind == RuleKind::kMesh) {
      const absl::StatusOr<MeshDocument> document = ParseMeshDocument(text, compat_);
      if (document.ok()) OfMesh(document->rule);
    } else if (parts->kind == RuleKind::kTags) {
      const absl::StatusOr<TagDocument> document = ParseTagDocument(text, compat_);
      if (!document.ok()) return;
      for (const TagRule::Tag& tag : document->rule.tags) AddTag(tag.name.value_or(""));
    }
  }

  const Compat compat_;
  Names methods_, tags_, patterns_;
};

}  // namespace

FoundCalls FindCalls(const DryRunInput& input, std::size_t most_methods, std::size_t most_tags) {
  Finder finder(input.compat);
  finder.OfUrl(input.listing.consumer);
  for (const auto& provider : input.listing.providers) finder.OfUrl(provider.url);
  finder.OfRules(input.before);
  finder.OfRules(input.after);
  return finder.Take(most_methods, most_tags);
}

}  // namespace fairlead::internal
