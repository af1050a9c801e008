#include "fairlead/registry/redis/redis_layout.h"

#include <gtest/gtest.h>

namespace fairlead::internal {
namespace {

TEST(RedisLayoutTest, RootHasASlashAtBothEnds) {
  EXPECT_EQ(RedisRoot(""), "/dubbo/");
  EXPECT_EQ(RedisRoot("g"), "/g/");
  EXPECT_EQ(RedisRoot("/g"), "/g/");
  EXPECT_EQ(RedisRoot("g/"), "/g/");
  EXPECT_EQ(RedisRoot("/a/b/"), "/a/b/");
  EXPECT_EQ(RedisRoot("/"), "/");
}

TEST(RedisLayoutTest, KeysAndTheirParts) {
  EXPECT_EQ(RedisServicePath("/dubbo/", "a.B"), "/dubbo/a.B");
  EXPECT_EQ(RedisCategoryKey("/dubbo/", "a.B", "routers"), "/dubbo/a.B/routers");
  EXPECT_EQ(RedisConfigKey("/dubbo/", "dubbo", "a.B::.tag-router"), "/dubbo/config/dubbo/a.B::.tag-router");
  EXPECT_EQ(RedisServicePathOfKey("/dubbo/", "/dubbo/a.B/routers"), "/dubbo/a.B");
  EXPECT_EQ(RedisServiceOfKey("/dubbo/", "/dubbo/a.B/routers"), "a.B");
  EXPECT_EQ(RedisServiceOfKey("/dubbo/", "/dubbo/a.B"), "a.B");
  EXPECT_EQ(RedisCategoryOfKey("/dubbo/a.B/routers"), "routers");
  EXPECT_EQ(RedisServiceOfKey("/dubbo/", "/other/a.B/routers"), "/other/a.B/routers");
  EXPECT_EQ(RedisServiceOfKey("/dubbo/", "x/y"), "x");
  EXPECT_EQ(RedisCategoryOfKey("plain"), "plain");
}

TEST(RedisLayoutTest, OnlyListsHaveAService) {
  EXPECT_EQ(RedisListedService("/dubbo/", "/dubbo/a.B/providers"), "a.B");
  EXPECT_EQ(RedisListedService("/a/b/", "/a/b/a.B/consumers"), "a.B");
  EXPECT_EQ(RedisListedService("/", "/a.B/providers"), "a.B");
  for (const char* key : {"/dubbo/a.B", "/dubbo/a.B/", "/dubbo/a.B/nonsense", "/dubbo/config/dubbo/providers", "/dubbo//providers",
                          "/dubbo2/a.B/providers", "", "/dubbo/"}) {
    EXPECT_EQ(RedisListedService("/dubbo/", key), std::nullopt) << key;
  }
}

TEST(RedisLayoutTest, PatternsTakeThePrefixLiterally) {
  EXPECT_EQ(RedisPrefixPattern("/dubbo/"), "/dubbo/*");
  EXPECT_EQ(RedisPrefixPattern("/a*[b]?\\/"), "/a\\*\\[b\\]\\?\\\\/*");
}

TEST(RedisLayoutTest, ExpiryIsAJavaLong) {
  EXPECT_EQ(RedisExpiry("1700000060000"), 1700000060000);
  EXPECT_EQ(RedisExpiry("+5"), 5);
  EXPECT_EQ(RedisExpiry("-5"), -5);
  EXPECT_EQ(RedisExpiry("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", " 5", "5 ", "5.0", "abc", "9223372036854775808", "+-5", "-", "+", "0x5", "true"}) {
    EXPECT_EQ(RedisExpiry(text), std::nullopt) << text;
  }
}

TEST(RedisLayoutTest, LifeOfAField) {
  const char* url = "dubbo://h:1/a.B";
  EXPECT_EQ(RedisLifeOf(url, "1000", 1000), RedisLife::kLive);
  EXPECT_EQ(RedisLifeOf(url, "999", 1000), RedisLife::kExpired);
  EXPECT_EQ(RedisLifeOf(url, "abc", 1000), RedisLife::kUnreadable);
  EXPECT_EQ(RedisLifeOf("dubbo://h:1/a.B?dynamic=false", "1", 1000), RedisLife::kLive);
  EXPECT_EQ(RedisLifeOf("dubbo://h:1/a.B?dynamic=false", "abc", 1000), RedisLife::kLive);
  EXPECT_EQ(RedisLifeOf("dubbo://h:1/a.B?dynamic=TRUE", "1", 1000), RedisLife::kExpired);
  EXPECT_EQ(RedisLifeOf("dubbo://h:1/a.B?dynamic=no", "1", 1000), RedisLife::kLive) << "anything but true is false";
  EXPECT_EQ(RedisLifeOf("dubbo://h:1/a.B?my.dynamic=false", "1", 1000), RedisLife::kExpired);
  EXPECT_EQ(RedisLifeOf("", "1", 1000), RedisLife::kExpired);
}

TEST(RedisLayoutTest, SkippedRoundsAreDubbos) {
  EXPECT_EQ(RedisSkippedRounds(1, 5), 0);
  EXPECT_EQ(RedisSkippedRounds(2, 5), 1);
  EXPECT_EQ(RedisSkippedRounds(10, 5), 9);
  EXPECT_EQ(RedisSkippedRounds(11, 0), 10);
  EXPECT_EQ(RedisSkippedRounds(2000, 9), 19);
}

}  // namespace
}  // namespace fairlead::internal
