#include "fairlead/registry/multicast/multicast_options.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

constexpr std::uint16_t kDefaultPort = 1234;

bool IsMulticast(const std::string& literal) {
  in_addr v4{};
  if (inet_pton(AF_INET, literal.c_str(), &v4) == 1) return IN_MULTICAST(ntohl(v4.s_addr));
  in6_addr v6{};
  // The system reads what may follow a `%`, the name of an interface.
  return inet_pton(AF_INET6, literal.substr(0, literal.find('%')).c_str(), &v6) == 1 && IN6_IS_ADDR_MULTICAST(&v6);
}

}  // namespace

absl::StatusOr<MulticastOptions> MulticastOptions::Parse(const Url& registry) {
  FAIRLEAD_ASSIGN_OR_RETURN(const RegistryOptions common, RegistryOptions::Parse(registry));
  MulticastOptions options;
  options.address = common.address;
  options.session = common.session;
  options.burst = common.burst;
  std::string_view host = registry.host();
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  options.group = host;
  if (!IsMulticast(options.group)) {
    return absl::InvalidArgumentError(
        absl::StrCat("multicast registry at \"", Shortened(registry.host(), 100),
                     "\": expected a multicast address, 224.0.0.0 to 239.255.255.255 or one of IPv6 that begins with ff, as in "
                     "multicast://224.5.6.7:1234 or multicast://[ff15::1234]:1234"));
  }
  const std::int32_t port = registry.port_as_written();
  if (port > 65535) {
    return absl::InvalidArgumentError(absl::StrCat("multicast registry: port ", port, ": expected 1 to 65535"));
  }
  options.port = port <= 0 ? kDefaultPort : static_cast<std::uint16_t>(port);
  if (!registry.Param("backup").empty()) {
    return absl::InvalidArgumentError("multicast registry with a parameter backup: a group has one address");
  }
  options.interface = registry.Param("network.interface");
  FAIRLEAD_ASSIGN_OR_RETURN(const std::int32_t wait, IntParam(registry.parts(), "reply.wait", 1000));
  if (wait < 1) {
    return absl::InvalidArgumentError(absl::StrCat("registry parameter reply.wait=", wait, ": expected at least 1"));
  }
  // Who waits for a first list must hear that there is none before its own time is over.
  options.reply_wait = std::min(std::chrono::milliseconds(wait), std::max(common.timeout / 2, std::chrono::milliseconds(1)));
  options.unicast = registry.BoolParam("unicast", true);
  options.clean = registry.BoolParam("clean", true);
  return options;
}

}  // namespace fairlead::internal
