#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_LINK_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_LINK_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "fairlead/base/random.h"
#include "fairlead/registry/redis/redis_connection.h"
#include "fairlead/registry/redis/redis_options.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead::internal {

// One server that is always reachable, or being sought: two connections, one for commands and one for subscriptions
// (a connection that has subscriptions takes no commands), that come and go together. Both are asked something every few
// seconds, so that one that is open at this end only is noticed. After a loss the waits grow as Dubbo's are meant to, up
// to about `reconnect.period`, with jitter. REQUIRES: executor.
class RedisLink final : private RedisConnection::Observer {
 public:
  using Answer = RedisConnection::Answer;

  // Calls come outside of the link's methods; none may destroy the link.
  class Observer {
   public:
    virtual ~Observer() = default;
    // Nothing is subscribed yet.
    virtual void OnUp(RedisLink& link) = 0;
    // Only after OnUp. Answers that are due do not come any more.
    virtual void OnDown(RedisLink& link) = 0;
    // An attempt to connect has failed, trouble() says why.
    virtual void OnNoConnection(RedisLink& link) = 0;
    virtual void OnMessage(RedisLink& link, const std::string& channel, const std::string& payload) = 0;
  };

  // `dial` and `observer` outlive the link.
  RedisLink(const RedisOptions& options, const RedisServer& server, const RegistryContext& context,
            std::uint64_t seed, const RedisDialer& dial, Observer& observer);

  void Start();
  // For good. Nothing is told any more.
  void Close();

  bool up() const { return up_; }
  const RedisServer& server() const { return server_; }
  // Which run of which server this is: another one may hold other data. Empty when the server does not say.
  const std::string& run_id() const { return run_id_; }
  // A copy of another server, mostly one that takes no writes.
  bool replica() const { return replica_; }
  // The server's clock minus this machine's, when they differ by more than delays explain; else zero.
  std::chrono::milliseconds clock_offset() const { return clock_offset_; }
  // Why it is not up; kCancelled until the first attempt has ended.
  const absl::Status& trouble() const { return trouble_; }
  // The server does not take this client, which time does not mend.
  bool refused() const;
  std::string Describe() const;

  // Answers come in order, never inside the call. What is asked while the link is down is never answered; what is asked
  // while too much waits for answers is answered with an error.
  void Command(const RedisWords& command, Answer answer);
  // `answer`: the server's confirmation, or its error.
  void Subscribe(const std::string& channel, bool pattern, Answer answer);
  void Unsubscribe(const std::string& channel, bool pattern);

 private:
  void OnOpen(RedisConnection& connection) override;
  void OnMessage(RedisConnection& connection, const std::string& channel, const std::string& payload) override;
  void OnLost(RedisConnection& connection, const absl::Status& why) override;

  void Connect();
  // A step of the greeting: `then` sees its answer unless that ended the link.
  void Greet(RedisConnection& connection, const RedisWords& command, Answer then);
  void OnGreeted();
  void Ask(RedisConnection& connection, const RedisWords& command, Answer answer);
  bool EndsTheLink(const RedisReply& reply) const;
  void OnInfo(const RedisReply& info);
  void AskTime();
  void OnTime(const RedisReply& time, Clock::SteadyTime asked);
  void CheckLater();
  void Lose(const absl::Status& why);
  std::chrono::milliseconds NextWait();

  const RedisOptions& options_;
  const RedisServer server_;
  const RegistryContext& context_;
  const RedisDialer& dial_;
  Observer& observer_;
  Random random_;

  std::unique_ptr<RedisConnection> commands_;
  std::unique_ptr<RedisConnection> messages_;
  int greetings_ = 0;  // answers that are still to come before the link is up
  bool up_ = false;
  bool closed_ = false;
  int attempt_ = 0;
  std::shared_ptr<int> link_life_;  // one object each time that it is up
  Clock::SteadyTime up_since_{};
  std::string run_id_;
  bool replica_ = false;
  bool skew_told_ = false;
  std::chrono::milliseconds clock_offset_{0};
  absl::Status trouble_;
  Timer next_step_;  // the next attempt, or the next look whether the connections live
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_LINK_H_
