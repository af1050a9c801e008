#include "fairlead/registry/zookeeper/zk_addresses.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace fairlead::internal {
namespace {

std::vector<std::string> AddressesOf(const std::string& host) {
  std::vector<std::string> addresses;
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) ==
        0) {
      addresses.emplace_back(text.data());
    }
  }
  freeaddrinfo(found);
  return addresses;
}

}  // namespace

ZkAddresses ResolveServers(const std::string& servers) {
  std::set<std::string> all;
  std::vector<std::string> unresolved;
  for (const std::string& server : std::vector<std::string>(absl::StrSplit(servers, ','))) {
    const std::size_t colon = server.rfind(':');
    const std::string host = server.substr(0, colon);
    const std::vector<std::string> addresses = AddressesOf(host);
    if (addresses.empty()) unresolved.push_back(host);
    for (const std::string& address : addresses) all.insert(absl::StrCat(address, server.substr(colon)));
  }
  return {absl::StrJoin(all, ","), absl::StrJoin(unresolved, ",")};
}

}  // namespace fairlead::internal
