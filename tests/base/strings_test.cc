#include "fairlead/base/strings.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <unordered_map>

namespace fairlead {
namespace {

TEST(Strings, BridgesKeepAddressAndLength) {
  const std::string text("a\0b", 3);
  const absl::string_view there = ToAbsl(text);
  EXPECT_EQ(there.data(), text.data());
  EXPECT_EQ(there.size(), 3u);
  const std::string_view back = FromAbsl(there);
  EXPECT_EQ(back.data(), text.data());
  EXPECT_EQ(back.size(), 3u);
  EXPECT_TRUE(FromAbsl(ToAbsl({})).empty());
}

TEST(StringHash, FindsByViewWithoutAKey) {
  std::unordered_map<std::string, int, StringHash, std::equal_to<>> map{{"providers", 1}, {"routers", 2}};
  const std::string_view path = "dubbo/providers/x";
  EXPECT_EQ(map.find(path.substr(6, 9))->second, 1);
  EXPECT_EQ(map.find(std::string_view("consumers")), map.end());
  EXPECT_EQ(StringHash()("abc"), HashBytes("abc"));
}

TEST(SameText, SeesEveryByteOfTextsOfAnySize) {
  for (std::size_t size = 0; size <= 40; ++size) {
    const std::string text(size, 'x');
    EXPECT_TRUE(SameText(text, std::string(size, 'x'))) << size;
    EXPECT_FALSE(SameText(text, text + "x")) << size;
    for (std::size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = 'y';
      EXPECT_FALSE(SameText(text, other)) << size << ", " << i;
    }
  }
}

TEST(Shortened, KeepsWhatIsShortAndSaysTheLengthOfTheRest) {
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("abcd", 3), "abc... (4 bytes)");
  EXPECT_EQ(Shortened("", 0), "");
  EXPECT_EQ(Shortened("a", 0), "... (1 bytes)");
  EXPECT_EQ(Shortened(std::string(1 << 20, 'x')).size(), kShownBytes + std::string("... (1048576 bytes)").size());
}

TEST(Shortened, CutsBetweenCharacters) {
  const std::string text = "a\xe4\xb8\xad\xe6\x96\x87";  // a and two characters of three bytes
  EXPECT_EQ(Shortened(text, 3), "a... (7 bytes)");
  EXPECT_EQ(Shortened(text, 4), "a\xe4\xb8\xad... (7 bytes)");
  // What is no UTF-8 is not searched through to its beginning.
  EXPECT_EQ(Shortened(std::string(100, '\x80'), 50).substr(0, 47), std::string(47, '\x80'));
}

}  // namespace
}  // namespace fairlead
