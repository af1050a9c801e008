#ifndef FAIRLEAD_ROUTING_LINT_PATTERN_SETS_H_
#define FAIRLEAD_ROUTING_LINT_PATTERN_SETS_H_

#include <cstdint>
#include <string_view>

#include "fairlead/routing/condition/condition_rule.h"
#include "fairlead/routing/condition/value_pattern.h"

// What can be said of patterns without a value to compare: whether one hits all that another does, or nothing of it. All
// of these say true only when it is certain. Pure; thread-safe.
namespace fairlead::internal {

// Of one side of one rule.
struct PatternContext {
  RuleSide side = RuleSide::kWhen;
  Compat compat = Compat::kStrict;
};

// A reference to a consumer's value, which may be anything.
bool IsReferenceOn(std::string_view pattern, RuleSide side);

bool HitsNothing(std::string_view pattern, PatternContext of);
bool HitsEverything(std::string_view pattern, PatternContext of);
// Every value that `part` hits is one that `whole` hits.
bool Covers(std::string_view whole, std::string_view part, PatternContext of);
// No value is hit by both.
bool Disjoint(std::string_view a, std::string_view b, PatternContext of);

// No value satisfies the key.
bool NeverHolds(const KeyPatterns& key, PatternContext of);
// Each value that satisfies `part` satisfies `whole`, a key of the same name.
bool Covers(const KeyPatterns& whole, const KeyPatterns& part, PatternContext of);
bool Disjoint(const KeyPatterns& a, const KeyPatterns& b, PatternContext of);

// The same of whole sides, taken as conjunctions; one without keys holds for everything.
bool NeverHolds(const Conditions& side, PatternContext of);
bool Covers(const Conditions& whole, const Conditions& part, PatternContext of);
bool Disjoint(const Conditions& a, const Conditions& b, PatternContext of);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_ROUTING_LINT_PATTERN_SETS_H_
