#include "fairlead/cluster/local_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace fairlead::internal {
namespace {

// An address reserved for documentation: never reached, but routed like the rest of the world.
constexpr const char* kElsewhere = "192.0.2.1";

std::optional<std::string> SourceAddress(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port == 0 ? 9 : port).c_str(), &hints, &found) != 0) return {};
  std::optional<std::string> address;
  // Connecting a datagram socket picks the route and the source address and sends nothing.
  const int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  char text[NI_MAXHOST];
  if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) == 0 &&
      getnameinfo(reinterpret_cast<sockaddr*>(&own), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) == 0) {
    address = text;
  }
  if (fd >= 0) close(fd);
  freeaddrinfo(found);
  return address;
}

}  // namespace

std::string LocalAddressTowards(std::string_view host, std::uint16_t port) {
  // "10.0.0.1:2181,10.0.0.2" is how a list of servers looks as a host.
  std::string numeric(host.substr(0, host.find(',')));
  if (numeric.size() < host.size()) numeric.resize(std::min(numeric.size(), numeric.rfind(':')));
  if (numeric.size() > 2 && numeric.front() == '[' && numeric.back() == ']') {
    numeric = numeric.substr(1, numeric.size() - 2);
  }
  if (numeric == "localhost") return "127.0.0.1";
  if (auto address = SourceAddress(numeric, port)) return *address;
  if (auto address = SourceAddress(kElsewhere, 9)) return *address;
  return "127.0.0.1";
}

}  // namespace fairlead::internal
