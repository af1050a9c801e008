#include "fairlead/routing/string_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fairlead {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

StringMatch Compiled(StringMatch::Kinds kinds) {
  absl::StatusOr<StringMatch> match = StringMatch::Compile(std::move(kinds));
  EXPECT_TRUE(match.ok()) << match.status();
  return match.ok() ? *std::move(match) : StringMatch();
}
std::string RegexError(std::string regex) {
  const absl::StatusOr<StringMatch> match = StringMatch::Compile({.regex = std::move(regex)});
  return match.ok() ? "no error" : std::string(match.status().message());
}

TEST(StringMatchTest, EachKindComparesInItsWay) {
  EXPECT_TRUE(Compiled({.exact = "a"}).Matches("a"));
  EXPECT_FALSE(Compiled({.exact = "a"}).Matches("ab"));
  EXPECT_TRUE(Compiled({.prefix = "a"}).Matches("ab"));
  EXPECT_FALSE(Compiled({.prefix = "a"}).Matches("ba"));
  EXPECT_TRUE(Compiled({.wildcard = "*"}).Matches(""));
  EXPECT_TRUE(Compiled({.wildcard = "a*"}).Matches("a*"));
  EXPECT_FALSE(Compiled({.wildcard = "a*"}).Matches("ab")) << "only a lone * is a wildcard";
  EXPECT_TRUE(Compiled({.empty = "x"}).Matches(""));
  EXPECT_FALSE(Compiled({.empty = "false"}).Matches("a"));
  EXPECT_TRUE(Compiled({.noempty = "x"}).Matches("a"));
  EXPECT_FALSE(Compiled({.noempty = "x"}).Matches(""));
  EXPECT_FALSE(StringMatch().Matches("a"));
}

TEST(StringMatchTest, AnAbsentTextIsEmptyAndNothingElse) {
  EXPECT_FALSE(Compiled({.exact = ""}).Matches(std::nullopt));
  EXPECT_FALSE(Compiled({.prefix = ""}).Matches(std::nullopt));
  EXPECT_FALSE(Compiled({.regex = ".*"}).Matches(std::nullopt));
  EXPECT_FALSE(Compiled({.wildcard = "*"}).Matches(std::nullopt));
  EXPECT_TRUE(Compiled({.empty = "x"}).Matches(std::nullopt));
  EXPECT_FALSE(Compiled({.noempty = "x"}).Matches(std::nullopt));
  EXPECT_TRUE(Compiled({.exact = "a", .empty = "x"}).Matches(std::nullopt)) << "exact needs a text";
}

TEST(StringMatchTest, TheFirstKindDecides) {
  const StringMatch match = Compiled({.exact = "a", .prefix = "b"});
  EXPECT_TRUE(match.Matches("a"));
  EXPECT_FALSE(match.Matches("b"));
  EXPECT_EQ(match.ToString(), "exact \"a\", prefix \"b\"");
}

TEST(StringMatchTest, ARegexMustFitTheWholeText) {
  const StringMatch match = Compiled({.regex = "hz|b."});
  EXPECT_TRUE(match.Matches("hz"));
  EXPECT_TRUE(match.Matches("bj"));
  EXPECT_FALSE(match.Matches("hzx"));
  EXPECT_FALSE(match.Matches("xhz"));
}

TEST(StringMatchTest, ARegexThatCannotBeReadOrIsTooLargeIsNamed) {
  EXPECT_THAT(RegexError("("), AllOf(HasSubstr("\"(\""), HasSubstr("cannot be read")));
  EXPECT_THAT(RegexError("a(?=b)"), HasSubstr("a(?=b)")) << "Java reads it, RE2 does not";
  EXPECT_THAT(RegexError("((a{100}){100}){10}"), HasSubstr("{10}"));
  EXPECT_THAT(RegexError("((\\pL{30}){30})"), AllOf(HasSubstr("\\pL"), HasSubstr("1048576 bytes")));
  EXPECT_THAT(RegexError(std::string(5000, 'a')), HasSubstr("longer than 4096"));
  EXPECT_EQ(RegexError(std::string(4096, 'a')), "no error");
}

}  // namespace
}  // namespace fairlead
