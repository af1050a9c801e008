#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_REPLY_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_REPLY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

struct redisReader;

namespace fairlead::internal {

// One answer of a server. Bytes of any kind.
struct RedisReply {
  enum class Type : std::uint8_t { kNil, kString, kStatus, kError, kInteger, kArray };

  Type type = Type::kNil;
  long long integer = 0;
  std::string text;                // kString, kStatus, kError
  std::vector<RedisReply> items{};  // kArray

  bool is_error() const { return type == Type::kError; }
  // An error whose first word is `code`, as WRONGTYPE.
  bool IsError(std::string_view code) const;
};

// What an error answer means: the code by its first word, the text with `subject` (without secrets) and a remedy.
// REQUIRES: is_error()
absl::Status RedisErrorStatus(const RedisReply& error, std::string_view subject);

// The bytes of one command.
void AppendRedisCommand(const std::vector<std::string>& words, std::string& out);

// Makes replies of what a server sends, with hiredis's parser. Whatever comes in, nothing worse happens than an error:
// answers of more than kMostItems parts or kMostBytes are refused. Not thread-safe.
class RedisReplyReader {
 public:
  static constexpr std::size_t kMostItems = 4 * 1024 * 1024;
  static constexpr std::size_t kMostBytes = std::size_t{512} * 1024 * 1024;

  RedisReplyReader();
  ~RedisReplyReader();
  RedisReplyReader(const RedisReplyReader&) = delete;
  RedisReplyReader& operator=(const RedisReplyReader&) = delete;

  // Appends what is complete to `replies`. Not OK: this is no Redis, or it sends too much; nothing more can be read.
  absl::Status Feed(const char* bytes, std::size_t size, std::vector<RedisReply>& replies);

 private:
  redisReader* const reader_;  // null: no memory
  std::size_t unfinished_ = 0;  // bytes since the last whole reply
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_REPLY_H_
