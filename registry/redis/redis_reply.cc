#include "fairlead/registry/redis/redis_reply.h"

#include <hiredis/read.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"

namespace fairlead::internal {
namespace {

constexpr std::size_t kReservedItems = 1024;

// hiredis's own values.
RedisReply::Type TypeOf(int type) {
  switch (type) {
    case REDIS_REPLY_STRING:
      return RedisReply::Type::kString;
    case REDIS_REPLY_STATUS:
      return RedisReply::Type::kStatus;
    case REDIS_REPLY_ERROR:
      return RedisReply::Type::kError;
    case REDIS_REPLY_INTEGER:
      return RedisReply::Type::kInteger;
    case REDIS_REPLY_ARRAY:
      return RedisReply::Type::kArray;
    default:
      return RedisReply::Type::kNil;
  }
}

// The parser builds our replies in place: it hands each part the part it belongs to. An array grows as its parts come,
// for its head may promise any number; that moves only parts that are whole already. C code calls these, so that no
// exception may leave them; null makes the parser fail.
template <class Fill>
void* Make(const redisReadTask* task, const Fill& fill) {
  try {
    RedisReply* reply = nullptr;
    if (task->parent != nullptr) {
      auto* const parent = static_cast<RedisReply*>(task->parent->obj);
      reply = &parent->items.emplace_back();
    } else {
      reply = new RedisReply;
    }
    reply->type = TypeOf(task->type);
    try {
      fill(*reply);
    } catch (const std::exception&) {
      if (task->parent == nullptr) delete reply;
      return nullptr;
    }
    return reply;
  } catch (const std::exception&) {
    return nullptr;
  }
}

void* MakeString(const redisReadTask* task, char* text, size_t size) {
  return Make(task, [&](RedisReply& reply) { reply.text.assign(text, size); });
}
void* MakeArray(const redisReadTask* task, int size) {
  if (size < 0 || static_cast<std::size_t>(size) > RedisReplyReader::kMostItems) return nullptr;
  return Make(task, [&](RedisReply& reply) {
    reply.items.reserve(std::min(static_cast<std::size_t>(size), kReservedItems));
  });
}
void* MakeInteger(const redisReadTask* task, long long value) {
  return Make(task, [&](RedisReply& reply) { reply.integer = value; });
}
void* MakeNil(const redisReadTask* task) {
  // The parser says what was asked for: an array, or a string, that is not there.
  return Make(task, [](RedisReply& reply) { reply.type = RedisReply::Type::kNil; });
}
void Free(void* reply) { delete static_cast<RedisReply*>(reply); }

redisReplyObjectFunctions functions = {MakeString, MakeArray, MakeInteger, MakeNil, Free};

}  // namespace

bool RedisReply::IsError(std::string_view code) const {
  return is_error() && text.starts_with(code) && (text.size() == code.size() || text[code.size()] == ' ');
}

absl::Status RedisErrorStatus(const RedisReply& error, std::string_view subject) {
  const auto text = [&](std::string_view remedy) {
    return absl::StrCat("Redis, ", ToAbsl(subject), ": ", Shortened(error.text), ToAbsl(remedy));
  };
  if (error.IsError("WRONGTYPE")) {
    return absl::FailedPreconditionError(text("; somebody else's value stands under this key: delete or rename it"));
  }
  if (error.IsError("NOAUTH")) {
    return absl::UnauthenticatedError(text("; give the registry url a password, redis://:password@host:port"));
  }
  if (error.IsError("WRONGPASS")) {
    return absl::UnauthenticatedError(text("; correct the password of the registry url"));
  }
  if (error.IsError("DENIED")) {
    return absl::PermissionDeniedError(text("; the server takes clients from elsewhere only with a password"));
  }
  if (error.IsError("NOPERM")) {
    return absl::PermissionDeniedError(text("; the server's ACL must allow this key and channel"));
  }
  if (error.IsError("OOM")) return absl::ResourceExhaustedError(text("; the server has no memory left"));
  if (error.IsError("MOVED") || error.IsError("ASK") || error.IsError("CROSSSLOT")) {
    return absl::UnimplementedError(text("; Redis Cluster is not spoken here"));
  }
  return absl::UnavailableError(text(""));
}

void AppendRedisCommand(const std::vector<std::string>& words, std::string& out) {
  absl::StrAppend(&out, "*", words.size(), "\r\n");
  for (const std::string& word : words) {
    absl::StrAppend(&out, "$", word.size(), "\r\n");
    out.append(word).append("\r\n");
  }
}

RedisReplyReader::RedisReplyReader() : reader_(redisReaderCreateWithFunctions(&functions)) {}

RedisReplyReader::~RedisReplyReader() {
  if (reader_ != nullptr) redisReaderFree(reader_);
}

absl::Status RedisReplyReader::Feed(const char* bytes, std::size_t size, std::vector<RedisReply>& replies) {
  if (reader_ == nullptr) return absl::ResourceExhaustedError("no memory for a reader of Redis answers");
  const auto failed = [this] {
    return absl::DataLossError(absl::StrCat("what the server sends cannot be read: ",
                                            reader_->errstr[0] != '\0' ? reader_->errstr : "an answer is too large",
                                            "; is this a Redis server?"));
  };
  if (redisReaderFeed(reader_, bytes, size) != REDIS_OK) return failed();
  unfinished_ += size;
  while (true) {
    void* whole = nullptr;
    if (redisReaderGetReply(reader_, &whole) != REDIS_OK) return failed();
    if (whole == nullptr) break;
    const std::unique_ptr<RedisReply> reply(static_cast<RedisReply*>(whole));
    replies.push_back(std::move(*reply));
    unfinished_ = reader_->len - reader_->pos;
  }
  if (unfinished_ > kMostBytes) {
    return absl::DataLossError(absl::StrCat("an answer of the server is larger than ", kMostBytes, " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace fairlead::internal
