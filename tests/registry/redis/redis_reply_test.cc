#include "fairlead/registry/redis/redis_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fairlead/base/random.h"

namespace fairlead::internal {
namespace {

using ::testing::HasSubstr;
using Type = RedisReply::Type;

template <std::size_t N>
std::string Bytes(const char (&text)[N]) {
  return std::string(text, N - 1);
}

std::vector<RedisReply> Parse(std::string_view bytes, std::size_t step) {
  RedisReplyReader reader;
  std::vector<RedisReply> replies;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    EXPECT_EQ(reader.Feed(bytes.data() + at, std::min(step, bytes.size() - at), replies), absl::OkStatus());
  }
  return replies;
}

TEST(RedisReplyTest, EveryKindInWholeAndInPieces) {
  const std::string bytes = Bytes("+OK\r\n-ERR no\r\n:42\r\n$-1\r\n*-1\r\n$3\r\n\0\r\n\r\n*3\r\n$1\r\na\r\n*2\r\n:1\r\n*0\r\n$1\r\nb\r\n");
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    const auto replies = Parse(bytes, step);
    ASSERT_EQ(replies.size(), 7u);
    EXPECT_EQ(replies[0].type, Type::kStatus);
    EXPECT_EQ(replies[0].text, "OK");
    EXPECT_TRUE(replies[1].is_error());
    EXPECT_EQ(replies[2].integer, 42);
    EXPECT_EQ(replies[3].type, Type::kNil);
    EXPECT_EQ(replies[4].type, Type::kNil);
    EXPECT_EQ(replies[5].text, std::string("\0\r\n", 3));
    ASSERT_EQ(replies[6].items.size(), 3u);
    EXPECT_EQ(replies[6].items[0].text, "a");
    ASSERT_EQ(replies[6].items[1].items.size(), 2u);
    EXPECT_EQ(replies[6].items[1].items[0].integer, 1);
    EXPECT_EQ(replies[6].items[1].items[1].type, Type::kArray);
    EXPECT_EQ(replies[6].items[2].text, "b");
  }
}

TEST(RedisReplyTest, ALargeArrayGrowsAsItComes) {
  std::string bytes = "*5000\r\n";
  for (int i = 0; i < 5000; ++i) bytes += "*2\r\n$1\r\nk\r\n:" + std::to_string(i) + "\r\n";
  const auto replies = Parse(bytes, 1000);
  ASSERT_EQ(replies.size(), 1u);
  ASSERT_EQ(replies[0].items.size(), 5000u);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(replies[0].items[static_cast<std::size_t>(i)].items[1].integer, i);
}

TEST(RedisReplyTest, WhatIsNoRedisIsAnError) {
  for (const std::string& bytes : {std::string("HTTP/1.1 400 Bad Request\r\n"), std::string("*99999999999999999999\r\n"), std::string("*2000000000\r\n"),
                                   std::string("$abc\r\n"), std::string("\0\0\0\0", 4)}) {
    RedisReplyReader reader;
    std::vector<RedisReply> replies;
    const absl::Status status = reader.Feed(bytes.data(), bytes.size(), replies);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << bytes;
    EXPECT_THAT(status.message(), HasSubstr("Redis"));
    EXPECT_TRUE(replies.empty());
  }
}

TEST(RedisReplyTest, AnyBytesAtAllDoNoHarm) {
  Random random(11);
  const std::string_view alphabet("+-:$*0123456789\r\n\r\n\r\nab", 23);
  for (int round = 0; round < 3000; ++round) {
    RedisReplyReader reader;
    std::vector<RedisReply> replies;
    for (int piece = 0; piece < 8; ++piece) {
      std::string bytes;
      for (std::uint64_t n = random.Below(20); n > 0; --n) bytes.push_back(alphabet[random.Below(alphabet.size())]);
      if (!reader.Feed(bytes.data(), bytes.size(), replies).ok()) break;
    }
  }
}

TEST(RedisReplyTest, ErrorsHaveCodesAndRemedies) {
  const auto status = [](const char* text) {
    RedisReply reply;
    reply.type = Type::kError;
    reply.text = text;
    return RedisErrorStatus(reply, "reading /k");
  };
  EXPECT_EQ(status("WRONGTYPE x").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status("NOAUTH x").code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(status("WRONGPASS x").code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(status("NOPERM x").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(status("MOVED 1 h:1").code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status("ERR x").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status("NOAUTHX x").code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status("ERR x").message(), HasSubstr("reading /k"));
}

TEST(RedisReplyTest, CommandsAreBytes) {
  std::string out;
  AppendRedisCommand({"SET", "", std::string("\0\r\n", 3)}, out);
  EXPECT_EQ(out, Bytes("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$3\r\n\0\r\n\r\n"));
}

}  // namespace
}  // namespace fairlead::internal
