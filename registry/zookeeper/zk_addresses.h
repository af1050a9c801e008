#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_ADDRESSES_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_ADDRESSES_H_

#include <string>

namespace fairlead::internal {

// What the names of servers come to. The library is given addresses, never names: it resolves those in the
// thread that should serve the connection, and while that fails it does nothing else, neither answer nor
// notice that it is cut off, and asks a hundred thousand times a second.
struct ZkAddresses {
  std::string list;        // address:port, joined by commas, sorted; IPv6 without brackets; empty: none
  std::string unresolved;  // the names without any, joined by commas
};

// `servers`: host:port, joined by commas, IPv6 without brackets. Blocks as long as the name service does.
ZkAddresses ResolveServers(const std::string& servers);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_ADDRESSES_H_
