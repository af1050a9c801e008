#include "fairlead/registry/redis/redis_connection.h"

#include "absl/strings/str_cat.h"

namespace fairlead::internal {
namespace {

constexpr int kSteps = 4;

// A message of a channel, or of a pattern; all else is the answer to a command.
bool IsMessage(const RedisReply& reply) {
  if (reply.type != RedisReply::Type::kArray || reply.items.size() < 3) return false;
  const RedisReply& kind = reply.items.front();
  if (kind.type != RedisReply::Type::kString) return false;
  return (kind.text == "message" && reply.items.size() == 3) || (kind.text == "pmessage" && reply.items.size() == 4);
}

}  // namespace

RedisConnection::RedisConnection(Executor& executor, const RedisDialer& dial, const RedisServer& server,
                                 const Limits& limits, Observer& observer)
    : executor_(executor), limits_(limits), observer_(observer) {
  stream_ = dial(server, *this);
  Await(limits_.connect, "no connection within ", kSteps);
}

RedisConnection::~RedisConnection() { *alive_ = false; }

bool RedisConnection::Send(const RedisWords& command, Answer&& answer) {
  std::size_t bytes = 0;
  for (const std::string& word : command) bytes += word.size() + 16;
  if (pending_bytes_ + bytes > limits_.bytes && !pending_.empty()) return false;
  pending_bytes_ += bytes;
  pending_.push_back({bytes, std::move(answer)});
  stream_->Send(command);
  if (open_ && pending_.size() == 1) AwaitAnswer();
  return true;
}

// Armed once for many answers: a heartbeat has thousands, and a timer for each would cost more than they do.
void RedisConnection::AwaitAnswer() {
  overdue_ = true;
  Await(limits_.answer, "the server said nothing for ", kSteps);
}

// In steps, each a turn of the executor: when this process was held up, what has come meanwhile is read before the server is
// taken for silent.
void RedisConnection::Await(std::chrono::milliseconds limit, const char* what, int steps) {
  limit_ = executor_.After(std::chrono::nanoseconds(limit) / kSteps, [this, limit, what, steps] {
    if (open_ && pending_.empty()) return;
    if (open_ && !overdue_) return AwaitAnswer();
    if (steps > 1) return Await(limit, what, steps - 1);
    Lose(absl::DeadlineExceededError(absl::StrCat(what, limit.count(), " ms")));
  });
}

void RedisConnection::OnOpen() {
  open_ = true;
  limit_.Cancel();
  if (!pending_.empty()) AwaitAnswer();
  observer_.OnOpen(*this);
}

void RedisConnection::OnReplies(std::vector<RedisReply> replies) {
  overdue_ = false;
  const std::shared_ptr<bool> alive = alive_;
  for (RedisReply& reply : replies) {
    if (IsMessage(reply)) {
      std::string payload = std::move(reply.items.back().text);
      const std::string channel = std::move(reply.items[reply.items.size() - 2].text);
      observer_.OnMessage(*this, channel, payload);
    } else if (pending_.empty()) {
      return Lose(absl::DataLossError(reply.is_error()
                                          ? absl::StrCat("the server refuses: ", reply.text.substr(0, 200))
                                          : "the server sent an answer to no question; is this a Redis server?"));
    } else {
      Answer answer = std::move(pending_.front().answer);
      pending_bytes_ -= pending_.front().bytes;
      pending_.pop_front();
      if (answer) answer(std::move(reply));
    }
    if (!*alive) return;
  }
  if (pending_.empty()) limit_.Cancel();
}

void RedisConnection::OnClosed(absl::Status why) { Lose(why); }

void RedisConnection::Lose(const absl::Status& why) {
  limit_.Cancel();
  observer_.OnLost(*this, why);
}

}  // namespace fairlead::internal
