#ifndef FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_OPTIONS_H_
#define FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "fairlead/registry/burst_window.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// What a multicast:// url says.
struct MulticastOptions {
  std::string address;  // for logs and errors
  std::string group;    // a literal, IPv6 without brackets
  std::uint16_t port = 0;
  std::string interface;  // its name, or one of its addresses; empty: the system's choice
  std::chrono::milliseconds session{60000};    // a list is asked for again about this often
  std::chrono::milliseconds reply_wait{1000};  // how long a first list waits for answers
  bool unicast = true;  // a first question wants answers for this process alone
  bool clean = true;    // providers that are not heard of any more are probed
  BurstWindow::Limits burst;

  // kInvalidArgument names the part of the url and what was expected.
  static absl::StatusOr<MulticastOptions> Parse(const Url& registry);
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_OPTIONS_H_
