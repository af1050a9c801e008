#include "fairlead/routing/lint/condition_lint.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/condition/condition_matcher.h"
#include "fairlead/routing/lint/field_lint.h"
#include "fairlead/routing/lint/pattern_sets.h"
#include "fairlead/routing/lint/side_lint.h"
#include "fairlead/routing/rule_place.h"

namespace fairlead::internal {
namespace {

using Role = ConditionWord::Role;

// Occurrences of the prefixes that are erased although no key begins there.
void LintPrefixes(std::string_view text, const std::vector<ConditionWord>& words, const ConditionFrame& frame, LintReport& report) {
  if (frame.compat != Compat::kStrict) return;
  std::set<std::size_t> keys;
  for (const ConditionWord& word : words) {
    if (word.role == Role::kKey) keys.insert(word.offset);
  }
  for (const std::string_view prefix : {std::string_view("consumer."), std::string_view("provider.")}) {
    for (std::size_t at = 0; (at = text.find(prefix, at)) != text.npos; at += prefix.size()) {
      if (keys.contains(at + prefix.size()) && (at == 0 || absl::StrContains(" \t\n\r&=>", absl::string_view(&text[at - 1], 1)))) continue;
      report.Add("prefix-erased", frame.mark(at), absl::StrCat("`", ToAbsl(prefix), "` is erased everywhere in a rule, also here, where "
                                                               "it is part of a word"));
    }
  }
}

// What the rule does among the providers and for the consumer that there are.
void LintInWorld(const Conditions* when, const Conditions* then, const ConditionFrame& frame, YamlMark mark, LintReport& report) {
  if (frame.world == nullptr || !frame.enabled) return;
  const LintWorld& world = *frame.world;
  const UrlParts consumer = world.consumer.empty() ? UrlParts() : world.consumer.parts();
  if (when != nullptr && !world.consumer.empty() && !CallMatcher(*when, frame.compat).MatchesConsumer(consumer)) {
    return report.Add("not-for-consumer", mark, "it is not about this consumer");
  }
  if (then == nullptr || then->empty()) return;
  bool refers = false;
  for (const KeyPatterns& key : *then) {
    for (const auto* values : {&key.matches, &key.mismatches}) {
      for (const std::string& value : *values) {
        if (!IsReferenceOn(value, RuleSide::kThen)) continue;
        refers = true;
        if (world.consumer.empty() || !ResolveReference(consumer, std::string_view(value).substr(1)).empty()) continue;
        report.Add("reference-missing", mark, absl::StrCat("the consumer has nothing that ", QuotedWord(value), " refers to"));
      }
    }
  }
  if (world.providers.empty() || (refers && world.consumer.empty())) return;
  const ProviderMatcher matcher(*then, consumer, frame.compat);
  const bool somebody = std::any_of(world.providers.begin(), world.providers.end(),
                                    [&](const Url& provider) { return matcher.Matches(provider.parts()); });
  if (somebody) return;
  report.Add("no-provider-now", mark, absl::StrCat("none of the ", world.providers.size(), " providers satisfies it now",
                                                   frame.force ? ", and `force` leaves nobody" : ""));
}

void AddError(const absl::Status& error, const ConditionFrame& frame, LintReport& report) {
  const RulePlace place = PlaceOf(error).value_or(RulePlace());
  const YamlMark mark = frame.mark(place.byte.value_or(0));
  if (frame.enabled) {
    report.AddError(error, mark);
  } else {
    report.Add("condition-syntax", mark, absl::StrCat(Shortened(FromAbsl(error.message())), " (read only when it is enabled)"),
               Severity::kWarning);
  }
}

}  // namespace

void LintRuntime(Reads reads, const ConditionFrame& frame, YamlMark mark, LintReport& report) {
  const bool asks = Has(reads, Reads::kArguments) || Has(reads, Reads::kAttachments);
  if (!asks || frame.runtime.value_or(frame.in_document)) return;
  report.Add("runtime-ignored", mark,
             absl::StrCat("it reads ", Has(reads, Reads::kArguments) ? "arguments" : "attachments", " of calls, and `runtime` is false",
                          frame.runtime.has_value() ? "" : " when nothing is said",
                          ": without effect here and in Dubbo 3.3, but a 2.x client decides once and keeps that for all calls"),
             frame.runtime.has_value() ? Severity::kWarning : Severity::kInfo);
}

std::optional<SequencedRule> LintConditionRule(std::string_view text, const ConditionFrame& frame, LintReport& report) {
  std::vector<ConditionWord> words;
  const absl::StatusOr<ConditionRule> rule = ParseConditionRule(text, frame.compat, &words);
  if (!rule.ok()) {
    AddError(rule.status(), frame, report);
    return std::nullopt;
  }
  LintPrefixes(text, words, frame, report);
  LintSide(rule->when, words, RuleSide::kWhen, frame, report);
  const std::size_t arrow = text.find("=>");
  const YamlMark begin = frame.mark(arrow == text.npos ? 0 : arrow);
  if (arrow == text.npos) {
    report.Add("no-arrow", begin, "there is no `=>`, so the whole text says which providers every call may reach");
  }
  if (!rule->then.has_value()) {
    if (rule->when.empty()) {
      report.Add("blocks-all", begin, "it is about every call and leaves nobody: the service has no provider");
    } else if (!frame.force) {
      report.Add("blacklist-without-force", begin, "nobody is left whatever `force` says, here and in Dubbo; dubbo-go obeys such a "
                                                   "rule only with `force: true`");
    }
  } else if (rule->then->empty()) {
    report.Add("then-without-key", begin, "no key stands after `=>`, so no provider satisfies the rule");
  } else {
    LintSide(*rule->then, words, RuleSide::kThen, frame, report);
    const bool refers = std::any_of(words.begin(), words.end(), [](const ConditionWord& word) {
      return word.role == Role::kMatch && IsReferenceOn(word.text, word.side);
    });
    if (frame.force && refers) {
      report.Add("force-on-reference", begin, "with `force` a consumer without the parameter that `$` refers to has no provider left");
    }
  }
  const CallMatcher matcher(rule->when, frame.compat);
  LintRuntime(matcher.reads(), frame, begin, report);
  LintInWorld(&rule->when, rule->then.has_value() ? &*rule->then : nullptr, frame, begin, report);
  return SequencedRule{rule->when, rule->then, frame.force, frame.mark(0), {}};
}

std::optional<Conditions> LintConditionSide(std::string_view text, RuleSide side, std::string_view any,
                                            const ConditionFrame& frame, LintReport& report) {
  if (IsJavaBlank(text) || JavaTrim(text) == any) return Conditions();
  std::vector<ConditionWord> words;
  const absl::StatusOr<Conditions> parsed = ParseConditions(text, &words, side);
  if (!parsed.ok()) {
    AddError(parsed.status(), frame, report);
    return std::nullopt;
  }
  LintSide(*parsed, words, side, frame, report);
  for (const ConditionWord& word : words) {
    if (word.role == Role::kKey) LintKeptPrefix(word.text, "the key", frame.mark(word.offset), report);
    if (IsReferenceOn(word.text, side)) LintKeptPrefix(std::string_view(word.text).substr(1), "what `$` refers to", frame.mark(word.offset), report);
  }
  if (const std::size_t arrow = text.find("=>"); arrow != text.npos) {
    report.Add("second-arrow", frame.mark(arrow), "here a text is one side of a rule; `=>` does not divide it");
  }
  if (side == RuleSide::kWhen) LintRuntime(CallMatcher(*parsed, frame.compat).reads(), frame, frame.mark(0), report);
  LintInWorld(side == RuleSide::kWhen ? &*parsed : nullptr, side == RuleSide::kThen ? &*parsed : nullptr, frame, frame.mark(0),
              report);
  return *parsed;
}

void LintSequence(const std::vector<SequencedRule>& rules, Compat compat,
                  const std::function<LintReport&(std::size_t which)>& report_of, const SequenceScope& scope) {
  const PatternContext when{RuleSide::kWhen, compat}, then{RuleSide::kThen, compat};
  std::size_t count = 0;
  for (std::size_t words = 0; count < rules.size() && count < kMostSequenced; ++count) {
    for (const Conditions* side : {&rules[count].when, rules[count].then.has_value() ? &*rules[count].then : nullptr}) {
      if (side == nullptr) continue;
      for (const KeyPatterns& key : *side) words += 1 + key.matches.size() + key.mismatches.size();
    }
    if (words > kMostSequencedWords) break;
  }
  const std::string begin = scope.only.empty() ? "" : scope.only + ", ";
  for (std::size_t j = std::max<std::size_t>(scope.later_from, 1); j < count; ++j) {
    const SequencedRule& later = rules[j];
    if (NeverHolds(later.when, when)) continue;
    const auto say = [&](std::string_view code, std::string text) {
      text = absl::StrCat(begin, later.name, ": ", text);
      if (scope.only.empty()) return report_of(j).Add(code, later.mark, std::move(text));
      report_of(j).Add(code, later.mark, std::move(text), Severity::kInfo);
    };
    for (std::size_t i = 0; i < std::min(j, scope.earlier_to); ++i) {
      const SequencedRule& earlier = rules[i];
      if (!Covers(earlier.when, later.when, when)) continue;
      const std::string by = absl::StrCat(earlier.name, " (", earlier.mark.ToString(), ")");
      if (!earlier.then.has_value()) {
        say("rule-unreachable", absl::StrCat(by, " leaves nobody for all its calls"));
        break;
      }
      if (later.then == earlier.then) {
        const bool weaker = later.force && !earlier.force;
        if (!weaker) say("rule-repeated", absl::StrCat(by, " asks the same of all its calls already"));
        break;
      }
      if (!later.then.has_value()) continue;
      if (Disjoint(*earlier.then, *later.then, then) && !NeverHolds(*earlier.then, then) && !NeverHolds(*later.then, then)) {
        say("rule-contradicts", absl::StrCat("no provider satisfies both it and ", by, ", which all its calls meet first: ",
                                             later.force ? "nobody is left" : "it is taken back for them"));
        break;
      }
      if (earlier.force && !later.then->empty() && Covers(*later.then, *earlier.then, then)) {
        say("rule-repeated", absl::StrCat(by, " leaves only providers that satisfy it"));
        break;
      }
    }
  }
  if (rules.size() > count) {
    const std::size_t at = std::max(count, scope.later_from);
    report_of(at).Add("not-compared", rules[at].mark,
                      absl::StrCat("only the first ", count, " of ", rules.size(), " rules were compared with each other"));
  }
}

}  // namespace fairlead::internal
