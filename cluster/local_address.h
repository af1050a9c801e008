#ifndef FAIRLEAD_CLUSTER_LOCAL_ADDRESS_H_
#define FAIRLEAD_CLUSTER_LOCAL_ADDRESS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::internal {

// The address of this machine that the system would use to reach `host`, numeric, without sending anything.
// For a name, or when there is no route: the one of the default route; without any: 127.0.0.1.
std::string LocalAddressTowards(std::string_view host, std::uint16_t port);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_CLUSTER_LOCAL_ADDRESS_H_
