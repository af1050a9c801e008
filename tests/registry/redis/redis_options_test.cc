#include "fairlead/registry/redis/redis_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fairlead/url/url_pool.h"

namespace fairlead::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class RedisOptionsTest : public ::testing::Test {
 protected:
  absl::StatusOr<RedisOptions> Parse(const std::string& url) { return RedisOptions::Parse(*Url::Parse(url, pool_)); }
  UrlPool pool_;
};

TEST_F(RedisOptionsTest, Defaults) {
  const auto options = Parse("redis://10.0.0.1");
  ASSERT_TRUE(options.ok()) << options.status();
  ASSERT_THAT(options->servers, SizeIs(1));
  EXPECT_EQ(options->servers[0].address, "10.0.0.1:6379");
  EXPECT_EQ(options->cluster, RedisOptions::Cluster::kFailover);
  EXPECT_EQ(options->root, "/dubbo/");
  EXPECT_EQ(options->password, "");
  EXPECT_EQ(options->db, 0);
  EXPECT_EQ(options->session.count(), 60000);
  EXPECT_EQ(options->reconnect_period.count(), 3000);
}

TEST_F(RedisOptionsTest, Everything) {
  const auto options = Parse(
      "redis://u:s3cret@h1:1?backup=h2:2,[::1]:3,h4&cluster=replicate&db.index=5&group=/g&session=600&reconnect.period=7"
      "&so.timeout=8&connection.timeout=9&redis-client=mono");
  ASSERT_TRUE(options.ok()) << options.status();
  ASSERT_THAT(options->servers, SizeIs(4));
  EXPECT_EQ(options->servers[1].address, "h2:2");
  EXPECT_EQ(options->servers[2].host, "::1");
  EXPECT_EQ(options->servers[2].address, "[::1]:3");
  EXPECT_EQ(options->servers[3].port, 6379);
  EXPECT_EQ(options->cluster, RedisOptions::Cluster::kReplicate);
  EXPECT_EQ(options->password, "s3cret");
  EXPECT_EQ(options->db, 5);
  EXPECT_EQ(options->root, "/g/");
  EXPECT_EQ(options->session.count(), 600);
  EXPECT_EQ(options->reconnect_period.count(), 7);
  EXPECT_EQ(options->answer_timeout.count(), 8);
  EXPECT_EQ(options->connection_timeout.count(), 9);
  EXPECT_THAT(options->address, Not(HasSubstr("s3cret")));
}

TEST_F(RedisOptionsTest, WhatCannotBeIsNamed) {
  const std::pair<const char*, const char*> bad[] = {
      {"redis://h?cluster=forkjoin", "cluster=forkjoin: expected failover or replicate"},
      {"redis://h?redis-client=jedis", "redis-client=jedis: expected mono"},
      {"redis://h?db.index=-1", "db.index=-1"},
      {"redis://h?db.index=x", "db.index"},
      {"redis://h?session=0", "session=0"},
      {"redis://h?reconnect.period=0", "reconnect.period=0"},
      {"redis://h:70000", "70000"},
      {"redis://u:s3cret@h?backup=a:b", "\"a:b\""},
      {"redis:///x", "host:port"},
  };
  for (const auto& [url, text] : bad) {
    const auto options = Parse(url);
    EXPECT_EQ(options.status().code(), absl::StatusCode::kInvalidArgument) << url;
    EXPECT_THAT(options.status().message(), HasSubstr(text));
    EXPECT_THAT(options.status().message(), Not(HasSubstr("s3cret")));
  }
}

TEST_F(RedisOptionsTest, SentinelAndClusterAreRefusedWithTheWayOut) {
  for (const char* client : {"sentinel", "cluster"}) {
    const auto options = Parse(std::string("redis://h?redis-client=") + client);
    EXPECT_EQ(options.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(options.status().message(), HasSubstr("cluster=failover"));
  }
}

}  // namespace
}  // namespace fairlead::internal
