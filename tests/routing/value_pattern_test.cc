#include "fairlead/routing/condition/value_pattern.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead {
namespace {

struct Row {
  const char* pattern;
  const char* value;
  bool matches;
};

TEST(ValuePatternTest, GlobsHaveOneWildcardTheLast) {
  for (const Row& row : {Row{"*", "", true},          Row{"*", "x", true},          Row{"", "", true},
                         Row{"", "x", false},         Row{"x", "", false},          Row{"abc", "abc", true},
                         Row{"abc", "ABC", false},    Row{"a*", "abc", true},       Row{"a*", "a", true},
                         Row{"*c", "abc", true},      Row{"a*c", "abc", true},      Row{"a*c", "ac", true},
                         Row{"a*c", "a", false},      Row{"a*a", "a", true},        Row{"ab*ba", "aba", true},
                         Row{"a*b*c", "a*bxc", true}, Row{"a*b*c", "axbxc", false}, Row{"*a*", "*ab", true},
                         Row{"*a*", "ab", false},     Row{"a*", "", false},         Row{"**", "x", false},
                         Row{"**", "*x", true},       Row{"**", "", false},         Row{"?", "x", false},
                         Row{"杭*", "杭州", true}}) {
    EXPECT_EQ(ValuePattern::Glob(row.pattern).Matches(row.value), row.matches)
        << row.pattern << " against '" << row.value << "'";
  }
}

TEST(ValuePatternTest, RangesAreDigitsAndTheRestReadsAsZero) {
  for (const Row& row : {Row{"1~5", "1", true},
                         Row{"1~5", "5", true},
                         Row{"1~5", "6", false},
                         Row{"1~5", "0", false},
                         Row{"1~5", "003", true},
                         Row{"~5", "0", true},
                         Row{"~5", "6", false},
                         Row{"~5", "abc", true},
                         Row{"~5", "", true},
                         Row{"1~5", "-3", false},
                         Row{"0~5", "-3", true},
                         Row{"0~5", "+9", true},
                         Row{"1~5~9", "7", false},
                         Row{"abc~1", "0", true},
                         Row{"abc~1", "3", false},
                         Row{"0~1.5", "1", false},
                         Row{"1~~5", "9", true},
                         Row{"5~1", "3", false},
                         Row{"0~2147483647", "2147483647", true},
                         Row{"007~0000000000000008", "8", true},
                         Row{"1~5*", "0", false},
                         Row{"$a~5", "4", true}}) {
    for (const RuleSide side : {RuleSide::kWhen, RuleSide::kThen}) {
      EXPECT_EQ(ValuePattern::Compile(row.pattern, side, Compat::kStrict).Matches(row.value), row.matches)
          << row.pattern << " against '" << row.value << "'";
    }
  }
}

TEST(ValuePatternTest, WhatIsNoRangeIsFalseOnWhenAndTrueOnThen) {
  const auto check = [](const char* pattern, const char* value) {
    EXPECT_FALSE(ValuePattern::Compile(pattern, RuleSide::kWhen, Compat::kStrict).Matches(value)) << pattern;
    EXPECT_TRUE(ValuePattern::Compile(pattern, RuleSide::kThen, Compat::kStrict).Matches(value)) << pattern;
  };
  for (const char* pattern :
       {"~", "~~", "1~", "1~~", "~~5", "1~2147483648", "99999999999~1", "~99999999999"}) {
    check(pattern, "3");
    check(pattern, "");
  }
  check("1~5", "2147483648");
  check("1~5", "99999999999999999999999999");
}

TEST(ValuePatternTest, FixedReadsAnOpenUpperEnd) {
  for (const RuleSide side : {RuleSide::kWhen, RuleSide::kThen}) {
    const ValuePattern from = ValuePattern::Compile("10~", side, Compat::kFixed);
    EXPECT_TRUE(from.Matches("10"));
    EXPECT_TRUE(from.Matches("2147483647"));
    EXPECT_FALSE(from.Matches("9"));
    EXPECT_FALSE(from.Matches("abc"));
    EXPECT_EQ(ValuePattern::Compile("~", side, Compat::kFixed).Matches("1"), side == RuleSide::kThen);
  }
}

TEST(ValueMatcherTest, MismatchesWinAndNeitherNeverHolds) {
  const auto make = [](std::vector<const char*> matches, std::vector<const char*> mismatches) {
    ValueMatcher matcher;
    for (const char* text : matches) matcher.AddMatch(ValuePattern::Glob(text));
    for (const char* text : mismatches) matcher.AddMismatch(ValuePattern::Glob(text));
    matcher.Finish();
    return matcher;
  };
  EXPECT_TRUE(make({"b", "a", "b"}, {}).Matches("a"));
  EXPECT_FALSE(make({"b", "c*"}, {}).Matches("a"));
  EXPECT_TRUE(make({"b", "c*"}, {}).Matches("cx"));
  EXPECT_TRUE(make({}, {"b"}).Matches("a"));
  EXPECT_FALSE(make({}, {"b", "a*"}).Matches("ax"));
  EXPECT_FALSE(make({"a*"}, {"ab"}).Matches("ab"));
  EXPECT_TRUE(make({"a*"}, {"ab"}).Matches("ac"));
  EXPECT_FALSE(make({"a*"}, {"ab"}).Matches("x"));
  EXPECT_FALSE(make({}, {}).Matches("x"));
  EXPECT_TRUE(make({}, {}).empty());
}

}  // namespace
}  // namespace fairlead
