#include "fairlead/routing/condition/value_pattern.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

struct Row {
  const char* pattern;
  const char* value;
  bool matches;
};

TEST(ValuePatternTest, GlobsHaveOneWildcardTheLast) {
  for (const Row& row : {Row{"*", "", true}, Row{"*", "x", true}, Row{"", "", true}, Row{"", "x", false}, Row{"x", "", false},
                         Row{"abc", "abc", true}, Row{"abc", "ABC", false}, Row{"a*", "abc", true}, Row{"*c", "abc", true},
                         Row{"a*c", "abc", true}, Row{"a*a", "a", true}, Row{"ab*ba", "aba", true}, Row{"a*b*c", "a*bxc", true},
                         Row{"a*b*c", "axbxc", false}, Row{"*a*", "*ab", true}, Row{"*a*", "ab", false}, Row{"a*", "", false}}) {
    EXPECT_EQ(ValuePattern(row.pattern, false).Matches(row.value), row.matches) << row.pattern << " against '" << row.value << "'";
  }
}

TEST(ValuePatternTest, RangesAreDigitsAndFallToTheSidesDefault) {
  for (const Row& row : {Row{"1~5", "1", true}, Row{"1~5", "5", true}, Row{"1~5", "6", false}, Row{"~5", "0", true},
                         Row{"~5", "abc", true}, Row{"1~5", "-3", false}, Row{"0~5", "-3", true}, Row{"1~5~9", "7", false},
                         Row{"abc~1", "3", false}}) {
    EXPECT_EQ(ValuePattern(row.pattern, true).Matches(row.value), row.matches) << row.pattern << " against " << row.value;
    EXPECT_EQ(ValuePattern(row.pattern, false).Matches(row.value), row.matches) << row.pattern << " against " << row.value;
  }
  for (const char* unreadable : {"~", "1~", "~~5", "1~2147483648"}) {
    EXPECT_FALSE(ValuePattern(unreadable, true).Matches("3")) << unreadable;
    EXPECT_TRUE(ValuePattern(unreadable, false).Matches("3")) << unreadable;
  }
  EXPECT_TRUE(ValuePattern("1~5", false).Matches("99999999999")) << "a value that is no Java int: the default";
  EXPECT_FALSE(ValuePattern("1~5", true).Matches("99999999999"));
}

TEST(ValuePatternTest, ReferencesAreTextOnTheWhenSide) {
  EXPECT_TRUE(ValuePattern("$region", true).Matches("$region"));
  const ValuePattern reference("$region", false);
  ASSERT_TRUE(reference.reference().has_value());
  EXPECT_EQ(*reference.reference(), "region");
  EXPECT_TRUE(reference.WithReference("hz").Matches("hz"));
  EXPECT_FALSE(reference.WithReference("hz").Matches("sh"));
  EXPECT_TRUE(reference.WithReference("h*").Matches("hz"));
  EXPECT_FALSE(reference.WithReference(std::nullopt).Matches("hz"));
  EXPECT_TRUE(reference.WithReference(std::nullopt).Matches(""));
}

}  // namespace
}  // namespace fairlead
