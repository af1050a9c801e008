#ifndef FAIRLEAD_LOADBALANCE_CONSISTENT_HASH_H_
#define FAIRLEAD_LOADBALANCE_CONSISTENT_HASH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"

#include "fairlead/loadbalance/hash_ring.h"
#include "fairlead/loadbalance/load_balance.h"

namespace fairlead {

// What a registry says must not take a consumer's memory or time, so rings are bounded. A member has at most as many
// points as kMostHashNodes: a share is then even to half a percent, and hundreds of points do for most. A ring has at
// most kMostRingPoints, what the default of 160 nodes makes of 100 000 providers: about 170 MB, built in a second.
inline constexpr std::int32_t kLeastHashNodes = 4;
inline constexpr std::int32_t kMostHashNodes = 1 << 16;
inline constexpr std::size_t kMostRingPoints = std::size_t{1} << 24;

// Whether a `hash.arguments` value is a comma list of integers. kInvalidArgument names the element that is none.
absl::Status CheckHashArguments(std::string_view value);

// Dubbo's consistent hashing: equal arguments go to the same member, and a change of the list moves few of them.
//
// `hash.nodes` (160) and `hash.arguments` (0), of the first member by rank, method form first, say how many points a
// member has and which arguments make the key. Weights do not count. A member that is down gives its calls to the owners
// of the next points. Constant time besides the MD5 sum of the key. Without a table of its own a list reads the ring of
// the whole list through its members, in time of how much smaller it is; where there is none, or its members have another
// number of points, the MD5 sums of all its points are worked out for the call: 10 000 providers of 160 nodes take 0.1 s.
// The owner is the same, and nothing is allocated. Build fails with kInvalidArgument for fewer than 4 nodes and unreadable
// numbers. Above the bounds the ring is made with fewer nodes, which Describe says: kMostHashNodes,
// or the largest power of two that keeps it within kMostRingPoints, so that it changes rarely as members come and go.
std::shared_ptr<const LoadBalance> MakeConsistentHashLoadBalance(PointsOf points_of = RingPoints);

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_CONSISTENT_HASH_H_
