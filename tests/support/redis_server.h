#ifndef FAIRLEAD_TESTS_SUPPORT_REDIS_SERVER_H_
#define FAIRLEAD_TESTS_SUPPORT_REDIS_SERVER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "fairlead/tests/support/server_process.h"
#include "fairlead/tests/support/temp_directory.h"

namespace fairlead {

// A real Redis server of a test's own: Debian's package `redis-server`, one process, a free port of the loopback
// interface, an empty private directory. Debian's own service, on port 6379, is never touched.
//
//   RedisServer server;
//   ASSERT_TRUE(server.Start().ok());
//   Connect(server.address());
//
// The process dies with the thread that called Start (in tests the main thread). Not thread-safe.
class RedisServer : public ServerProcess {
 public:
  RedisServer() = default;
  // Kills the process and deletes the data.
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  // Returns when the server answers. The first Start picks the port, later ones use it, and the data, again.
  // kUnavailable tells what the server printed, kNotFound what to install.
  absl::Status Start();
  // Deletes all data. REQUIRES: not running
  void Wipe();

  absl::Status Restart() {
    Stop();
    return Start();
  }

  // More words for the server's command line, from the next Start on, such as {"--requirepass", "secret"}.
  void set_options(std::vector<std::string> options) { options_ = std::move(options); }

  std::uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // A port of the loopback interface that nothing listens on.
  static std::uint16_t FreePort();

 private:
  absl::Status Launch();
  bool WaitUntilServing(std::chrono::milliseconds limit);

  TempDirectory directory_;
  std::vector<std::string> options_;
  std::uint16_t port_ = 0;
  bool port_proved_ = false;
};

// A blocking client for tests: one command, one answer, as text. Arrays are joined by single blanks, nil is "(nil)",
// errors begin with "(error) ". Not thread-safe.
class RedisTestClient {
 public:
  explicit RedisTestClient(std::uint16_t port);
  ~RedisTestClient();
  RedisTestClient(const RedisTestClient&) = delete;
  RedisTestClient& operator=(const RedisTestClient&) = delete;

  std::string Ask(const std::vector<std::string>& words);
  // The parts of an array.
  std::vector<std::string> AskAll(const std::vector<std::string>& words);
  // Sends many commands together, then reads that many answers.
  void AskMany(const std::vector<std::vector<std::string>>& commands);

 private:
  struct Context;
  Context* const context_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_REDIS_SERVER_H_
