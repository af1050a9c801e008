#include "fairlead/url/percent.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/base/random.h"
#include "fairlead/url/utf8.h"

namespace fairlead {
namespace {

using ::testing::HasSubstr;

TEST(PercentTest, EncodesAsJavasUrlEncoder) {
  EXPECT_EQ(PercentEncode("azAZ09.-*_"), "azAZ09.-*_");
  EXPECT_EQ(PercentEncode("a b~!'():/$[]%+"), "a+b%7E%21%27%28%29%3A%2F%24%5B%5D%25%2B");
  EXPECT_EQ(PercentEncode("中"), "%E4%B8%AD");
  EXPECT_EQ(PercentEncode(std::string_view("\0", 1)), "%00");
}

TEST(PercentTest, DecodesEitherCaseAndLeavesOtherBytes) {
  EXPECT_EQ(PercentDecode("%3a%3A+%E4%b8%AD中").value(), ":: 中中");
}

TEST(PercentTest, NamesTheOffsetOfABadEscape) {
  for (const char* text : {"abc%", "abc%4", "abc%zz", "abc%4z", "abc%%41"}) {
    const auto decoded = PercentDecode(text);
    ASSERT_FALSE(decoded.ok()) << text;
    EXPECT_THAT(std::string(decoded.status().message()), HasSubstr("offset 3")) << text;
  }
}

TEST(PercentTest, MalformedUtf8IsReplacedOrRejected) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  EXPECT_EQ(PercentDecode("a%FFb").value(), "a" + std::string(kReplacement) + "b");
  EXPECT_EQ(PercentDecode("%E4%B8").value(), kReplacement);
  EXPECT_EQ(PercentDecode("%ED%A0%80").value(), kReplacement) << "a surrogate is one piece";
  EXPECT_EQ(PercentDecode("%C0%80").value(), std::string(kReplacement) + std::string(kReplacement));
  EXPECT_FALSE(PercentDecode("a%FFb", MalformedUtf8::kReject).ok());
  EXPECT_EQ(PercentDecode("%E4%B8%AD", MalformedUtf8::kReject).value(), "中");
}

TEST(PercentTest, PropertyDecodeInvertsEncode) {
  Random random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (auto left = random.Below(20); left > 0; --left) {
      constexpr std::string_view kPieces[] = {"a", " ", "%", "+", "&", "中", "\xF0\x9F\x98\x80", "/", "=", "\n"};
      text += kPieces[random.Below(std::size(kPieces))];
    }
    EXPECT_EQ(PercentDecode(PercentEncode(text)).value(), text);
    EXPECT_TRUE(IsUtf8(text));
  }
}

TEST(Utf8Test, AcceptsShortestFormsOnly) {
  EXPECT_TRUE(IsUtf8("\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));
  for (const char* text : {"\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE4\xB8", "\xF0\x8F\xBF\xBF",
                           "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_FALSE(IsUtf8(text));
  }
}

TEST(Utf8Test, Utf16OrderPutsSurrogatesBelowTheEndOfThePlane) {
  EXPECT_TRUE(Utf16Less("\xF0\x9F\x98\x80", "\xEF\xBD\x9E"));
  EXPECT_FALSE(Utf16Less("\xEF\xBD\x9E", "\xF0\x9F\x98\x80"));
  EXPECT_TRUE(Utf16Less("\xED\x9F\xBF", "\xF0\x9F\x98\x80"));
  EXPECT_TRUE(Utf16Less("a", "ab"));
  EXPECT_FALSE(Utf16Less("ab", "a"));
  EXPECT_FALSE(Utf16Less("a", "a"));
}

}  // namespace
}  // namespace fairlead
