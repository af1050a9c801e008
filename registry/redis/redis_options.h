#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_OPTIONS_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fairlead/registry/burst_window.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

struct RedisServer {
  std::string host;  // a name or a literal, IPv6 without brackets
  std::uint16_t port = 0;
  std::string address;  // host:port for people
};

// What a redis:// url says.
struct RedisOptions {
  enum class Cluster : std::uint8_t {
    kFailover,   // everything at the first server that works
    kReplicate,  // written to all, read from one
  };

  std::string address;  // for logs and errors: without credentials and parameters
  std::vector<RedisServer> servers;
  Cluster cluster = Cluster::kFailover;
  std::string password;  // empty: none; never shown
  int db = 0;
  std::string root;
  std::chrono::milliseconds session{60000};           // what is registered expires so long after its last extension
  std::chrono::milliseconds reconnect_period{3000};   // about the longest wait between two attempts to connect
  std::chrono::milliseconds connection_timeout{2000};
  std::chrono::milliseconds answer_timeout{2000};     // for a command
  BurstWindow::Limits burst;

  // kInvalidArgument names the part of the url and what was expected; kUnimplemented what Fairlead does not speak.
  static absl::StatusOr<RedisOptions> Parse(const Url& registry);
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_OPTIONS_H_
