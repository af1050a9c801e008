// What a Redis server sends: however it is cut into pieces, the replies are the same.
#include <functional>

#include "fairlead/registry/redis/redis_reply.h"
#include "fairlead/tests/fuzz/fuzz.h"

namespace fairlead::fuzz {
namespace {

struct Read {
  absl::Status status;
  std::vector<internal::RedisReply> replies;
};

Read InPieces(std::string_view bytes, std::size_t piece) {
  internal::RedisReplyReader reader;
  Read read;
  for (std::size_t at = 0; at < bytes.size() && read.status.ok(); at += piece) {
    const std::string_view part = bytes.substr(at, piece);
    read.status = reader.Feed(part.data(), part.size(), read.replies);
  }
  return read;
}

std::string Print(const internal::RedisReply& reply) {
  std::string text = std::to_string(static_cast<int>(reply.type)) + ":" + std::to_string(reply.integer) + ":" + reply.text + "(";
  for (const auto& item : reply.items) text += Print(item) + ",";
  return text + ")";
}

std::string Print(const Read& read) {
  std::string text;
  for (const auto& reply : read.replies) text += Print(reply) + "\n";
  return text;
}

}  // namespace

void Try(std::string_view input) {
  const std::string text(input);
  const Read whole = InPieces(text, text.size() + 1);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}}) {
    const Read cut = InPieces(text, piece);
    FUZZ_EXPECT(cut.status.ok() == whole.status.ok(), cut.status.ToString() + "\n" + whole.status.ToString());
    if (whole.status.ok()) FUZZ_EXPECT(Print(cut) == Print(whole), Print(cut) + "\n" + Print(whole));
  }
  for (const internal::RedisReply& reply : whole.replies) {
    if (!reply.is_error()) continue;
    FUZZ_EXPECT(!internal::RedisErrorStatus(reply, "a test").ok() && !reply.IsError("\r\n"), text);
  }
  // A command is an array of its words.
  std::string command;
  const std::vector<std::string> words = {"HSET", text, ""};
  internal::AppendRedisCommand(words, command);
  const Read back = InPieces(command, 5);
  FUZZ_EXPECT(back.status.ok() && back.replies.size() == 1 && back.replies[0].items.size() == 3 && back.replies[0].items[1].text == text, command);
}

}  // namespace fairlead::fuzz
