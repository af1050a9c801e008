#ifndef FAIRLEAD_ROUTING_LINT_SIDE_LINT_H_
#define FAIRLEAD_ROUTING_LINT_SIDE_LINT_H_

#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/lint/condition_lint.h"
#include "fairlead/routing/lint/finding.h"

namespace fairlead::internal {

// What is worth saying of one side of a rule: of its words, of each key, and of keys that leave each other nothing. `words`
// are those of both sides. n log n in them, but for the comparison of a key's values, which is bounded.
void LintSide(const Conditions& conditions, const std::vector<ConditionWord>& words, RuleSide side,
              const ConditionFrame& frame, LintReport& report);

// A word of a rule as a finding shows it.
std::string QuotedWord(std::string_view text);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_ROUTING_LINT_SIDE_LINT_H_
