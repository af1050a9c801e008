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

}  // namespace
}  // namespace fairlead
