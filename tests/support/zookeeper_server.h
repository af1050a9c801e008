#ifndef FAIRLEAD_TESTS_SUPPORT_ZOOKEEPER_SERVER_H_
#define FAIRLEAD_TESTS_SUPPORT_ZOOKEEPER_SERVER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
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
// The process dies with the thread that called Start (in tests the main thread). Not thread-safe.
class ZookeeperServer : public ServerProcess {
 public:
  ZookeeperServer() = default;
  // Kills the process and deletes the data.
  ~ZookeeperServer();
  ZookeeperServer(const ZookeeperServer&) = delete;
  ZookeeperServer& operator=(const ZookeeperServer&) = delete;

  // Returns when the server answers. The first Start picks the port, later ones use it, and the data, again.
  // kUnavailable tells what the server printed, kNotFound what to install.
  absl::Status Start();
  // Deletes all data, sessions too. REQUIRES: not running
  void Wipe();

  absl::Status Restart() {
    Stop();
    return Start();
  }

  // Listens on [::1] instead of 127.0.0.1. Before the first Start.
  void set_ipv6(bool on) { ipv6_ = on; }
  // More words for the Java machine, from the next Start on, such as "-Dname=value".
  void set_java_options(std::vector<std::string> options) { options_ = std::move(options); }

  // What the running server says to a four-letter command: `cons` lists connections, `dump` sessions with their nodes.
  // Empty when it does not answer within a second.
  std::string Ask(std::string_view command) const;

  std::uint16_t port() const { return port_; }
  std::string address() const { return (ipv6_ ? "[::1]:" : "127.0.0.1:") + std::to_string(port_); }

  // A port of the loopback interface that nothing listens on; 0: the machine has no IPv6.
  static std::uint16_t FreePort(bool ipv6 = false);

 private:
  void Launch();
  bool WaitUntilServing(std::chrono::milliseconds limit);
  std::string Output() const;

  TempDirectory directory_;
  std::vector<std::string> options_;
  bool ipv6_ = false;
  std::uint16_t port_ = 0;
  bool port_proved_ = false;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_ZOOKEEPER_SERVER_H_
