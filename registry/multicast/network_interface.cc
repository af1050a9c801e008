#include "fairlead/registry/multicast/network_interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace fairlead::internal {
namespace {

constexpr std::chrono::seconds kAddressesLast{10};

// Empty: neither IPv4 nor IPv6.
std::string NumericAddress(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN];
  const void* bytes = nullptr;
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  if (address->sa_family == AF_INET6) bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  if (bytes == nullptr || inet_ntop(address->sa_family, bytes, text, sizeof text) == nullptr) return {};
  return text;
}

absl::Status SystemFailure(const std::string& what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::generic_category().message(errno)));
}

template <class Visit>
void ForEachAddress(Visit visit) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (const std::string address = NumericAddress(one->ifa_addr); !address.empty()) visit(*one, address);
  }
  freeifaddrs(all);
}

}  // namespace

absl::StatusOr<NetworkInterface> FindInterface(const std::string& wanted) {
  NetworkInterface found;
  found.index = if_nametoindex(wanted.c_str());
  ForEachAddress([&](const ifaddrs& one, const std::string& address) {
    if (wanted != one.ifa_name && wanted != address) return;
    found.index = if_nametoindex(one.ifa_name);
    if (found.v4.empty() && one.ifa_addr->sa_family == AF_INET) found.v4 = address;
  });
  if (found.index == 0) {
    return absl::UnavailableError(
        absl::StrCat("network.interface=", wanted, ": this host has no such interface or address"));
  }
  return found;
}

absl::Status JoinGroup(int fd, const std::string& group, const NetworkInterface& interface) {
  int failed = 0;
  ip_mreqn v4{};
  if (inet_pton(AF_INET, group.c_str(), &v4.imr_multiaddr) == 1) {
    v4.imr_ifindex = static_cast<int>(interface.index);
    failed = setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &v4, sizeof v4);
  } else {
    ipv6_mreq v6{};
    inet_pton(AF_INET6, group.c_str(), &v6.ipv6mr_multiaddr);
    v6.ipv6mr_interface = interface.index;
    failed = setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &v6, sizeof v6);
  }
  return failed == 0 ? absl::OkStatus() : SystemFailure(absl::StrCat("cannot join ", group));
}

absl::Status SendThrough(int fd, bool v6, const NetworkInterface& interface) {
  int failed = 0;
  if (interface.index != 0 && !v6) {
    ip_mreqn request{};
    // A source address, which that of a loopback interface would not become by itself.
    inet_pton(AF_INET, interface.v4.c_str(), &request.imr_address);
    request.imr_ifindex = static_cast<int>(interface.index);
    failed = setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request);
  } else if (interface.index != 0) {
    const auto index = static_cast<int>(interface.index);
    failed = setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &index, sizeof index);
  }
  if (failed != 0) return SystemFailure("cannot send through the network interface");
  const int on = 1;
  setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MULTICAST_LOOP : IP_MULTICAST_LOOP, &on, sizeof on);
  return absl::OkStatus();
}

bool LocalAddresses::Has(const std::string& numeric) {
  if (known_.contains(numeric)) return true;
  const auto now = std::chrono::steady_clock::now();
  if (read_at_ && now - *read_at_ < kAddressesLast) return false;
  read_at_ = now;
  known_.clear();
  ForEachAddress([this](const ifaddrs&, const std::string& own) { known_.insert(own); });
  return known_.contains(numeric);
}

}  // namespace fairlead::internal
