#include "fairlead/registry/redis/redis_options.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/redis/redis_layout.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/url_address.h"

namespace fairlead::internal {
namespace {

constexpr std::int32_t kDefaultPort = 6379;

absl::StatusOr<RedisServer> ServerOf(std::string_view address) {
  const absl::StatusOr<HostPort> split = SplitHostPort(address);
  std::string_view host = split.ok() ? split->host : std::string_view();
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || split->port <= 0 || split->port > 65535 ||
      host.find_first_of(" /?#@") != std::string_view::npos) {
    return absl::InvalidArgumentError(absl::StrCat("Redis server \"", ToAbsl(address.substr(address.rfind('@') + 1)),
                                                   "\": expected host:port with a port of 1 to 65535"));
  }
  const bool v6 = host.find(':') != std::string_view::npos;
  return RedisServer{std::string(host), static_cast<std::uint16_t>(split->port),
                     absl::StrCat(v6 ? "[" : "", ToAbsl(host), v6 ? "]:" : ":", split->port)};
}

absl::Status ReadMillis(const Url& registry, std::string_view key, std::chrono::milliseconds& value) {
  const auto fallback = static_cast<std::int32_t>(value.count());
  FAIRLEAD_ASSIGN_OR_RETURN(const std::int32_t read, IntParam(registry.parts(), key, fallback));
  if (read < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("registry parameter ", ToAbsl(key), "=", read, ": expected at least 1"));
  }
  value = std::chrono::milliseconds(read);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RedisOptions> RedisOptions::Parse(const Url& registry) {
  FAIRLEAD_ASSIGN_OR_RETURN(const RegistryOptions common, RegistryOptions::Parse(registry));
  RedisOptions options;
  options.address = common.address;
  options.session = common.session;
  options.burst = common.burst;
  options.root = RedisRoot(common.group);
  if (const std::string_view client = registry.Param("redis-client", "mono"); client != "mono") {
    if (client == "sentinel" || client == "cluster") {
      return absl::UnimplementedError(absl::StrCat(
          "registry parameter redis-client=", ToAbsl(client), ": Redis ", client == "cluster" ? "Cluster" : "Sentinel",
          " is not spoken here; name the servers themselves, redis://host:port?backup=host:port, with "
          "cluster=failover or cluster=replicate, or put a proxy before them"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("registry parameter redis-client=", ToAbsl(client), ": expected mono"));
  }
  const std::string_view cluster = registry.Param("cluster", "failover");
  if (cluster != "failover" && cluster != "replicate") {
    return absl::InvalidArgumentError(
        absl::StrCat("registry parameter cluster=", ToAbsl(cluster), ": expected failover or replicate"));
  }
  options.cluster = cluster == "replicate" ? Cluster::kReplicate : Cluster::kFailover;
  FAIRLEAD_ASSIGN_OR_RETURN(options.db, IntParam(registry.parts(), "db.index", 0));
  if (options.db < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("registry parameter db.index=", options.db, ": expected a database number, from 0"));
  }
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "reconnect.period", options.reconnect_period));
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "connection.timeout", options.connection_timeout));
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "so.timeout", options.answer_timeout));
  for (const std::string& address : BackupAddresses(registry.parts(), kDefaultPort)) {
    FAIRLEAD_ASSIGN_OR_RETURN(RedisServer server, ServerOf(address));
    options.servers.push_back(std::move(server));
  }
  if (options.servers.empty()) {
    return absl::InvalidArgumentError("redis registry without a host: expected redis://host:port");
  }
  options.password = registry.parts().password.value_or("");
  return options;
}

}  // namespace fairlead::internal
