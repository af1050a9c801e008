#ifndef FAIRLEAD_REGISTRY_MULTICAST_NETWORK_INTERFACE_H_
#define FAIRLEAD_REGISTRY_MULTICAST_NETWORK_INTERFACE_H_

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fairlead::internal {

struct NetworkInterface {
  unsigned index = 0;  // 0: the system's choice
  std::string v4;      // an address of it; empty: it has none
};

// By name, or by one of its addresses. kUnavailable: there is none, now.
absl::StatusOr<NetworkInterface> FindInterface(const std::string& wanted);

// For the datagram socket `fd`, whose family is that of the group. kUnavailable names what the system says.
absl::Status JoinGroup(int fd, const std::string& group, const NetworkInterface& interface);
// What it sends to groups leaves by that interface, and reaches their members on this host too.
absl::Status SendThrough(int fd, bool v6, const NetworkInterface& interface);

// Which addresses are this host's. Read from the system when one is not known, at most every ten seconds.
class LocalAddresses {
 public:
  // `numeric`: without a scope.
  bool Has(const std::string& numeric);

 private:
  std::set<std::string> known_;
  std::optional<std::chrono::steady_clock::time_point> read_at_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_NETWORK_INTERFACE_H_
