#include "fairlead/url/redact.h"

#include <gtest/gtest.h>

#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

TEST(RedactTest, StarsForPasswords) {
  EXPECT_EQ(Redacted("zookeeper://u:secret@h:1/p?a=1"), "zookeeper://u:***@h:1/p?a=1");
  EXPECT_EQ(Redacted("u:secret@h:1"), "u:***@h:1");
  EXPECT_EQ(Redacted("zookeeper://u:se@cr:et@h:1"), "zookeeper://u:***@h:1");
  EXPECT_EQ(Redacted("zookeeper://u:se/cr?et@h:1?a=b"), "zookeeper://u:***@h:1?a=b");
  EXPECT_EQ(Redacted("d://h?user=u&password=secret&x=1"), "d://h?user=u&password=***&x=1");
  EXPECT_EQ(Redacted(PercentEncode("zookeeper://u:secret@h:1/p?password=secret&a=1")),
            "zookeeper%3A%2F%2Fu%3A***%40h%3A1%2Fp%3Fpassword%3D***%26a%3D1");
}

TEST(RedactTest, LeavesTheRest) {
  for (const char* text : {"", "dubbo://h:1/p?mail=a@b:c", "dubbo://u@h:1/p", "中"}) EXPECT_EQ(Redacted(text), text);
}

TEST(RedactTest, CutsLongTextAndControlCharacters) {
  EXPECT_EQ(Redacted("a\nb\x1b[0m"), "a?b?[0m");
  EXPECT_EQ(Redacted(std::string(1000, 'x')), std::string(256, 'x') + "... (1000 bytes)");
}

}  // namespace
}  // namespace fairlead
