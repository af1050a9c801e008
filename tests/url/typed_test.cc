#include "fairlead/url/typed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TypedTest, ParsesIntegersAsJava) {
  EXPECT_EQ(ParseJavaInt("+5"), 5);
  EXPECT_EQ(ParseJavaInt("-2147483648"), -2147483648);
  EXPECT_EQ(ParseJavaInt("00020"), 20);
  EXPECT_EQ(ParseJavaLong("1700000000000"), 1700000000000);
  for (const char* text : {"", "+", "-", "+-1", "-+1", "--1", " 5", "5 ", "5.0", "0x5", "2147483648", "1e3", "5\n"}) {
    EXPECT_EQ(ParseJavaInt(text), std::nullopt) << text;
  }
}

TEST(TypedTest, OnlyTheWordTrueIsTrue) {
  EXPECT_TRUE(ParseJavaBool("tRuE"));
  for (const char* text : {"1", "yes", "on", " true", "t", ""}) EXPECT_FALSE(ParseJavaBool(text)) << text;
}

TEST(TypedTest, GettersFallBackOnAbsentAndEmpty) {
  const UrlParts url = *UrlParts::Parse("d://h?a=&b=7&c=-1&d=x&m.b=9&m.t=true");
  EXPECT_EQ(*IntParam(url, "a", 3), 3);
  EXPECT_EQ(*IntParam(url, "z", 3), 3);
  EXPECT_EQ(*IntParam(url, "b", 3), 7);
  EXPECT_EQ(*PositiveParam(url, "c", 3), 3);
  EXPECT_EQ(*MethodIntParam(url, "m", "b", 3), 9);
  EXPECT_EQ(*MethodPositiveParam(url, "n", "c", 4), 4);
  EXPECT_EQ(IntParam(url, "d", 3).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(BoolParam(url, "a", true));
  EXPECT_FALSE(BoolParam(url, "b", true));
  EXPECT_TRUE(MethodBoolParam(url, "m", "t", false));
}

TEST(TypedTest, SplitsCommaListsAsDubbo) {
  EXPECT_THAT(SplitCommaList("a , b"), ElementsAre("a", "b"));
  EXPECT_THAT(SplitCommaList("a,,b,"), ElementsAre("a", "b"));
  EXPECT_THAT(SplitCommaList(",a"), ElementsAre("", "a"));
  EXPECT_THAT(SplitCommaList("  a b,c "), ElementsAre("  a b", "c "));
  EXPECT_THAT(SplitCommaList(" , "), IsEmpty());
  EXPECT_THAT(SplitCommaList(""), IsEmpty());
  EXPECT_THAT(SplitCommaList("a, ,b"), ElementsAre("a", "", "b"));
}

}  // namespace
}  // namespace fairlead
