#include "fairlead/registry/multicast/network_interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

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
