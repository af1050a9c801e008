#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_PATHS_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_PATHS_H_

#include <string>
#include <string_view>
#include <vector>

#include "fairlead/url/url_parts.h"

// Where Dubbo keeps things in ZooKeeper, byte for byte. Pure functions; inputs are decoded text.
//
//   <root>/<interface>/<category>/<url>      /dubbo/com.acme.Orders/providers/dubbo%3A%2F%2F10.0.0.1...
//   <config root>/<group>/<key>              /dubbo/config/dubbo/com.acme.Orders::.condition-router
namespace fairlead::internal {

// The root of a registry with this `group` parameter: a slash before it when it has none, nothing else;
// `dubbo` when empty.
std::string ZkRoot(std::string_view group);

// `service` is an interface without group and version; `*` is the root itself.
std::string ZkServicePath(std::string_view root, std::string_view service);
std::string ZkCategoryPath(std::string_view root, std::string_view service, std::string_view category);
// `url_text` is the whole url, credentials included.
std::string ZkUrlPath(std::string_view root, std::string_view service, std::string_view category,
                      std::string_view url_text);

// Where the config center's documents are, from a registry url's parameters: `dubbo.config-center.root-path`,
// or else
// /`namespace`/`dubbo.config-center.base-path`, which default to `dubbo` and `config`.
std::string ZkConfigRoot(const UrlParts& registry);
// Joined as Dubbo joins paths: empty segments are left out, a question mark ends the path, repeated slashes
// are one.
std::string ZkConfigPath(std::string_view config_root, std::string_view group, std::string_view key);

// The paths above a path, topmost first, without the root of the tree.
std::vector<std::string> ZkParents(std::string_view path);

// The service names among the decoded children of a root. Dubbo keeps its configuration, mapping and metadata
// beside the services; names that cannot be decoded are handed to `unreadable`.
std::vector<std::string> ZkServiceNames(const std::vector<std::string>& children,
                                        std::vector<std::string>& unreadable);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_PATHS_H_
