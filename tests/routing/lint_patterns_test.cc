#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/routing/lint/pattern_sets.h"

namespace fairlead::internal {
namespace {

const char* const kPatterns[] = {"a", "ab", "a*", "*b", "a*b", "ab*ba", "*", "1~5", "3~9", "5~1", "~7", "7~", "~", "x1*", "5"};
const char* const kValues[] = {"", "a", "b", "ab", "aab", "aba", "abba", "1", "3", "5", "7", "9", "x1", "x12", "-4"};

// What is said of sets holds for every value; strings are random, the values few.
TEST(PatternSetsTest, SayNothingThatAValueDenies) {
  Random random(7);
  for (const RuleSide side : {RuleSide::kWhen, RuleSide::kThen}) {
    const PatternContext of{side, Compat::kStrict};
    int covered = 0, disjoint = 0, never = 0;
    for (int i = 0; i < 20'000; ++i) {
      const auto key = [&] {
        KeyPatterns made{"k", {}, {}};
        for (auto n = random.Below(3); n > 0; --n) made.matches.emplace_back(kPatterns[random.Below(std::size(kPatterns))]);
        for (auto n = random.Below(3); n > 0; --n) made.mismatches.emplace_back(kPatterns[random.Below(std::size(kPatterns))]);
        return made;
      };
      const KeyPatterns a = key(), b = key();
      const auto holds = [&](const KeyPatterns& patterns, const char* value) {
        if (patterns.matches.empty() && patterns.mismatches.empty()) return false;
        bool match = patterns.matches.empty();
        for (const std::string& one : patterns.matches) match |= ValuePattern::Compile(one, side, Compat::kStrict).Matches(value);
        for (const std::string& one : patterns.mismatches) match &= !ValuePattern::Compile(one, side, Compat::kStrict).Matches(value);
        return match;
      };
      const bool says_covers = Covers(a, b, of), says_disjoint = Disjoint(a, b, of), says_never = NeverHolds(a, of);
      covered += says_covers;
      disjoint += says_disjoint;
      never += says_never;
      for (const char* value : kValues) {
        const bool in_a = holds(a, value), in_b = holds(b, value);
        ASSERT_FALSE(says_never && in_a) << value;
        ASSERT_FALSE(says_covers && in_b && !in_a) << value;
        ASSERT_FALSE(says_disjoint && in_a && in_b) << value;
      }
    }
    EXPECT_GT(covered, 500);
    EXPECT_GT(disjoint, 500);
    EXPECT_GT(never, 500);
  }
}

}  // namespace
}  // namespace fairlead::internal
