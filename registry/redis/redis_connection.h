#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_CONNECTION_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_CONNECTION_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "fairlead/base/clock.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/redis/redis_stream.h"

namespace fairlead::internal {

// One connection as questions and answers, with the limits of time that neither Redis nor its clients have: one to
// connect, and one for the server to say anything at all while it owes an answer, however many. REQUIRES: executor.
class RedisConnection final : private RedisStream::Events {
 public:
  // Called once, or never when the connection was lost.
  using Answer = absl::AnyInvocable<void(RedisReply)>;

  // Calls come outside of the connection's methods; each may destroy it.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void OnOpen(RedisConnection& connection) = 0;
    // A message of a subscribed channel.
    virtual void OnMessage(RedisConnection& connection, const std::string& channel, const std::string& payload) = 0;
    // The last call.
    virtual void OnLost(RedisConnection& connection, const absl::Status& why) = 0;
  };

  struct Limits {
    std::chrono::milliseconds connect;
    std::chrono::milliseconds answer;
    std::size_t bytes = 64 * 1024 * 1024;  // of commands without an answer
  };

  RedisConnection(Executor& executor, const RedisDialer& dial, const RedisServer& server, const Limits& limits,
                  Observer& observer);
  ~RedisConnection() override;

  // False, nothing is sent and `answer` is as it was, when more waits for answers than Limits::bytes. Commands go out, and
  // answers come, in order. A subscription is one command with one channel: its answer is the server's confirmation.
  [[nodiscard]] bool Send(const RedisWords& command, Answer&& answer);

  std::size_t pending() const { return pending_.size(); }

 private:
  struct Pending {
    std::size_t bytes;
    Answer answer;
  };

  void OnOpen() override;
  void OnReplies(std::vector<RedisReply> replies) override;
  void OnClosed(absl::Status why) override;
  void AwaitAnswer();
  void Await(std::chrono::milliseconds limit, const char* what, int steps);
  void Lose(const absl::Status& why);

  Executor& executor_;
  const Limits limits_;
  Observer& observer_;
  std::unique_ptr<RedisStream> stream_;
  std::deque<Pending> pending_;
  std::size_t pending_bytes_ = 0;
  bool open_ = false;
  bool overdue_ = false;  // no answer since `limit_` was armed
  Timer limit_;
  // Says to what runs that the connection is gone.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_CONNECTION_H_
