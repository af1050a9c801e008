#ifndef FAIRLEAD_ROUTING_LINT_CONDITION_LINT_H_
#define FAIRLEAD_ROUTING_LINT_CONDITION_LINT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/lint/finding.h"
#include "fairlead/routing/router.h"

namespace fairlead::internal {

// How the rule around a condition is applied.
struct ConditionFrame {
  Compat compat = Compat::kStrict;
  bool enabled = true;
  bool force = false;
  // What it says of `runtime`; nullopt: nothing, which a client of Dubbo 2.x takes for false in a url and for true in a
  // document.
  std::optional<bool> runtime = std::nullopt;
  bool in_document = false;
  const LintWorld* world = nullptr;
  // Where byte `byte` of the condition's text is in the whole text.
  std::function<YamlMark(std::size_t byte)> mark;
};

// One rule of several that are applied one after the other, each to what the last one left.
struct SequencedRule {
  Conditions when;                 // empty: every call
  std::optional<Conditions> then;  // nullopt: nobody
  bool force = false;
  YamlMark mark;
  std::string name;                // "conditions[2]", for texts
};

// What a rule `when => then` is worth saying about by itself. nullopt when it cannot be read, which then is a finding; of a
// disabled one only a warning.
std::optional<SequencedRule> LintConditionRule(std::string_view text, const ConditionFrame& frame, LintReport& report);

// The same of one side that a document keeps apart. `any`: the text that stands for every one.
std::optional<Conditions> LintConditionSide(std::string_view text, RuleSide side, std::string_view any,
                                            const ConditionFrame& frame, LintReport& report);

// Rules that an earlier one makes superfluous or leaves nobody for. Compares the first ones with each other, this many of
// them and with this many words at most, and says so when there are more: the work is their square.
inline constexpr std::size_t kMostSequenced = 300, kMostSequencedWords = 3000;
// Which pairs of them, and for whom what is found holds.
struct SequenceScope {
  std::size_t later_from = 1;                  // rules before it are not looked at as the later one
  std::size_t earlier_to = SIZE_MAX;           // nor rules from it on as the earlier one
  std::string only = {};                       // "for calls of a.B"; if so there are calls that it does not hold for, and it is info
};
// `report_of` says where what concerns a rule is said.
void LintSequence(const std::vector<SequencedRule>& rules, Compat compat,
                  const std::function<LintReport&(std::size_t which)>& report_of, const SequenceScope& scope = {});

// A condition that reads of a call what a client of Dubbo 2.x asks once per method: `reads` of a CallMatcher.
void LintRuntime(Reads reads, const ConditionFrame& frame, YamlMark mark, LintReport& report);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_ROUTING_LINT_CONDITION_LINT_H_
