#ifndef FAIRLEAD_TESTS_REGISTRY_REDIS_FAKE_REDIS_H_
#define FAIRLEAD_TESTS_REGISTRY_REDIS_FAKE_REDIS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fairlead/base/executor.h"
#include "fairlead/registry/redis/redis_stream.h"
#include "fairlead/tests/support/fake_clock.h"

namespace fairlead {

// Redis servers in the test's own process and time, each known by its port: they answer on the executor as it runs, so
// that a minute of heartbeats takes no time. They know the few commands that the registry uses.
class FakeRedis {
 public:
  struct Server {
    std::map<std::string, std::map<std::string, std::string>> hashes;
    std::map<std::string, std::string> strings;
    bool listens = true;
    bool silent = false;           // takes connections and commands, answers nothing
    bool silent_messages = false;  // the same for connections with subscriptions only
    std::string password;
    std::string run_id = "run-1";
    std::string mode = "standalone";
    std::string role = "master";
    std::chrono::milliseconds clock_offset{0};
    std::chrono::milliseconds answer_delay{0};  // on the way back; messages have none
    std::map<std::string, std::string> errors;     // command -> what it is answered with
    std::map<std::string, std::int64_t> lengths;   // key -> what HLEN says instead of the truth
    std::vector<internal::RedisWords> commands;    // as they came, greetings and questions for signs of life left out
    std::size_t connections = 0;
    std::size_t dials = 0;

    std::size_t count(const std::string& command) const {
      std::size_t found = 0;
      for (const auto& words : commands) found += words.front() == command ? 1 : 0;
      return found;
    }
  };

  FakeRedis(Executor& executor, const FakeClock& clock) : executor_(executor), clock_(clock) {}

  Server& server(std::uint16_t port = 6379) { return servers_[port]; }
  internal::RedisDialer dialer();
  // Closes every connection of the server.
  void Cut(std::uint16_t port = 6379);
  // The server ends and another one begins, with the same data unless told so.
  void Restart(bool wipe, std::uint16_t port = 6379);
  // As a client of another process would.
  void Set(const std::string& key, const std::string& field, std::int64_t expires, std::uint16_t port = 6379);
  void Delete(const std::string& key, const std::string& field, std::uint16_t port = 6379);
  void Publish(const std::string& channel, const std::string& message, std::uint16_t port = 6379);
  std::size_t subscriptions(std::uint16_t port = 6379) const;

 private:
  class Connection;
  friend class Connection;
  internal::RedisReply Answer(Server& server, Connection& connection, const internal::RedisWords& words,
                              std::uint16_t port);

  Executor& executor_;
  const FakeClock& clock_;
  std::map<std::uint16_t, Server> servers_;
  std::set<Connection*> connections_;
  int runs_ = 1;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_REDIS_FAKE_REDIS_H_
