#ifndef FAIRLEAD_TESTS_SUPPORT_REDIS_SERVER_H_
#define FAIRLEAD_TESTS_SUPPORT_REDIS_SERVER_H_

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
// Not thread-safe.
class RedisServer final : public ServerProcess {
 public:
  RedisServer() = default;
  // Kills the process and deletes the data.
  ~RedisServer() override;

  void Wipe() override;
  // More words for the server's command line, from the next Start on, such as {"--requirepass", "secret"}.
  void set_options(std::vector<std::string> options) { options_ = std::move(options); }

 private:
  absl::Status Launch() override;
  bool Answers() const override;
  std::string Output() const override { return directory_.Read("output"); }

  TempDirectory directory_;
  std::vector<std::string> options_;
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
  // The parts of an array. What went wrong is the only part, "(error) ...".
  std::vector<std::string> AskAll(const std::vector<std::string>& words);
  // Sends many commands together, then reads that many answers. The first error among them, else empty.
  std::string AskMany(const std::vector<std::vector<std::string>>& commands);

 private:
  struct Context;
  Context* const context_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_REDIS_SERVER_H_
