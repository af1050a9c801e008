#include "fairlead/tests/support/redis_server.h"

#include <hiredis/hiredis.h>
#include <sys/time.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fairlead {
namespace {

std::string TextOf(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply.integer);
    case REDIS_REPLY_NIL:
      return "(nil)";
    case REDIS_REPLY_ERROR:
      return "(error) " + std::string(reply.str, reply.len);
    case REDIS_REPLY_ARRAY: {
      std::string text;
      for (std::size_t i = 0; i < reply.elements; ++i) text += (i > 0 ? " " : "") + TextOf(*reply.element[i]);
      return text;
    }
    default:
      return std::string(reply.str, reply.len);
  }
}

}  // namespace

RedisServer::~RedisServer() { Kill(); }

absl::Status RedisServer::Launch() {
  std::vector<std::string> words = {"redis-server", "--port",         std::to_string(port()), "--bind", "127.0.0.1",
                                    "--dir",        directory_.path(), "--save",              "3600 1", "--daemonize",
                                    "no",           "--appendonly",    "no"};
  words.insert(words.end(), options_.begin(), options_.end());
  return Run(std::move(words), directory_ / "output");
}

// The process's number tells it from others. A server that wants a password, or is busy loading, answers with an error.
bool RedisServer::Answers() const {
  const std::string info = RedisTestClient(port()).Ask({"INFO", "server"});
  return info.find(absl::StrCat("process_id:", process(), "\r")) != std::string::npos ||
         info.starts_with("(error) NOAUTH");
}

void RedisServer::Wipe() { directory_.Remove("dump.rdb"); }

struct RedisTestClient::Context {
  redisContext* redis = nullptr;
};

RedisTestClient::RedisTestClient(std::uint16_t port) : context_(new Context) {
  const timeval limit{5, 0};
  context_->redis = redisConnectWithTimeout("127.0.0.1", port, limit);
  if (context_->redis != nullptr && context_->redis->err == 0) redisSetTimeout(context_->redis, limit);
}

RedisTestClient::~RedisTestClient() {
  if (context_->redis != nullptr) redisFree(context_->redis);
  delete context_;
}

namespace {

using Reply = std::unique_ptr<redisReply, void (*)(void*)>;

void Append(redisContext* context, const std::vector<std::string>& words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  redisAppendCommandArgv(context, static_cast<int>(words.size()), texts.data(), sizes.data());
}

Reply Next(redisContext* context) {
  void* reply = nullptr;
  if (context == nullptr || context->err != 0 || redisGetReply(context, &reply) != REDIS_OK) reply = nullptr;
  return {static_cast<redisReply*>(reply), freeReplyObject};
}

}  // namespace

std::string RedisTestClient::Ask(const std::vector<std::string>& words) {
  if (context_->redis == nullptr || context_->redis->err != 0) return "(error) not connected";
  Append(context_->redis, words);
  const Reply reply = Next(context_->redis);
  return reply == nullptr ? "(error) no answer" : TextOf(*reply);
}

std::vector<std::string> RedisTestClient::AskAll(const std::vector<std::string>& words) {
  if (context_->redis == nullptr || context_->redis->err != 0) return {"(error) not connected"};
  Append(context_->redis, words);
  const Reply reply = Next(context_->redis);
  if (reply == nullptr) return {"(error) no answer"};
  if (reply->type == REDIS_REPLY_ERROR) return {TextOf(*reply)};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < reply->elements; ++i) parts.push_back(TextOf(*reply->element[i]));
  return parts;
}

std::string RedisTestClient::AskMany(const std::vector<std::vector<std::string>>& commands) {
  if (context_->redis == nullptr || context_->redis->err != 0) return "(error) not connected";
  for (const auto& words : commands) Append(context_->redis, words);
  std::string error;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const Reply reply = Next(context_->redis);
    if (!error.empty()) continue;
    if (reply == nullptr) return "(error) no answer";
    if (reply->type == REDIS_REPLY_ERROR) error = TextOf(*reply);
  }
  return error;
}

}  // namespace fairlead
