#ifndef FAIRLEAD_TESTS_SUPPORT_ZOOKEEPER_SERVER_H_
#define FAIRLEAD_TESTS_SUPPORT_ZOOKEEPER_SERVER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "fairlead/tests/support/server_process.h"
#include "fairlead/tests/support/temp_directory.h"

namespace fairlead {

// A real ZooKeeper server of a test's own: Debian's package `zookeeper`, one process, a free port of the
// loopback interface, an empty private data directory. Sessions live between 400 ms and 4 s (a tick is 200
// ms).
//
//   ZookeeperServer server;
//   ASSERT_TRUE(server.Start().ok());
//   Connect(server.address());
//
// Not thread-safe.
class ZookeeperServer final : public ServerProcess {
 public:
  ZookeeperServer() = default;
  // Kills the process and deletes the data.
  ~ZookeeperServer() override;

  // Sessions are data, too.
  void Wipe() override;

  using ServerProcess::set_ipv6;
  // More words for the Java machine, from the next Start on, such as "-Dname=value".
  void set_java_options(std::vector<std::string> options) { options_ = std::move(options); }

  // What the running server says to a four-letter command: `cons` lists connections, `dump` sessions with their nodes.
  // Empty when it does not answer within a second.
  std::string Ask(std::string_view command) const;

 private:
  absl::Status Launch() override;
  bool Answers() const override;
  std::string Output() const override;

  TempDirectory directory_;
  std::vector<std::string> options_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_ZOOKEEPER_SERVER_H_
