#include "fairlead/registry/zookeeper/zk_options.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/registry/zookeeper/zk_paths.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/url_address.h"

namespace fairlead::internal {
namespace {

constexpr std::int32_t kDefaultPort = 2181;

// The server refuses each operation on another one, which would look like a registry that fails.
bool IsZkPath(std::string_view path) {
  if (path.empty() || path == "/") return true;
  if (!path.starts_with('/')) return false;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    if (name.empty() || name == "." || name == "..") return false;
    if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) return false;
    path.remove_prefix(name.size());
  }
  return true;
}

// The library splits at the last colon and resolves what is before it as it stands.
absl::StatusOr<std::string> ServerText(std::string_view address) {
  const absl::StatusOr<HostPort> split = SplitHostPort(address);
  std::string_view host = split.ok() ? split->host : std::string_view();
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || split->port <= 0 || split->port > 65535 ||
      host.find_first_of(" /?#@") != std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("ZooKeeper server \"", ToAbsl(address.substr(address.rfind('@') + 1)),
                     "\": expected host:port with a port of 1 to 65535",
                     address.find('/') != std::string_view::npos
                         ? "; a chroot is no part of an address, write group=/chroot/dubbo"
                         : ""));
  }
  return absl::StrCat(ToAbsl(host), ":", split->port);
}

}  // namespace

absl::StatusOr<ZkOptions> ZkOptions::Parse(const Url& registry) {
  FAIRLEAD_ASSIGN_OR_RETURN(const RegistryOptions common, RegistryOptions::Parse(registry));
  ZkOptions options;
  options.address = common.address;
  options.session = common.session;
  options.burst = common.burst;
  options.root = ZkRoot(common.group);
  if (!IsZkPath(options.root)) {
    return absl::InvalidArgumentError(absl::StrCat("registry parameter group=", Shortened(common.group),
                                                   ": expected a ZooKeeper path, such as dubbo or a/b"));
  }
  options.config_root = ZkConfigRoot(registry.parts());
  if (!IsZkPath(options.config_root)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the documents' place ", Shortened(options.config_root), " (registry parameters dubbo.config-center.root-path, "
        "namespace, dubbo.config-center.base-path): expected a ZooKeeper path, such as /dubbo/config"));
  }
  for (const std::string& address : BackupAddresses(registry.parts(), kDefaultPort)) {
    FAIRLEAD_ASSIGN_OR_RETURN(const std::string server, ServerText(address));
    absl::StrAppend(&options.servers, options.servers.empty() ? "" : ",", server);
  }
  const std::string user = registry.parts().username.value_or("");
  const std::string password = registry.parts().password.value_or("");
  if (!user.empty() || !password.empty()) options.auth = absl::StrCat(user, ":", password);
  return options;
}

}  // namespace fairlead::internal
