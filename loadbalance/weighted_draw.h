#ifndef FAIRLEAD_LOADBALANCE_WEIGHTED_DRAW_H_
#define FAIRLEAD_LOADBALANCE_WEIGHTED_DRAW_H_

#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/loadbalance/load_balance.h"

// What the policies share about members and their weights. Linear; thread-safe.
namespace fairlead {

inline std::uint64_t TotalWeight(std::span<const Member> members) {
  std::uint64_t total = 0;
  for (const Member& member : members) total += static_cast<std::uint64_t>(member.weight);
  return total;
}

inline void SplitMembers(std::span<const Member> members, std::vector<Slot>& slots,
                         std::vector<std::int32_t>& weights) {
  slots.reserve(members.size());
  weights.reserve(members.size());
  for (const Member& member : members) {
    slots.push_back(member.slot);
    weights.push_back(member.weight);
  }
}

// A member with probability weight / sum; every one alike when the sum is 0. At least one member.
inline const Member& DrawByWeight(std::span<const Member> members, Random& random) {
  const std::uint64_t total = TotalWeight(members);
  if (total == 0) return members[random.Below(members.size())];
  std::uint64_t left = random.Below(total);
  std::size_t at = 0;
  while (left >= static_cast<std::uint64_t>(members[at].weight)) {
    left -= static_cast<std::uint64_t>(members[at].weight);
    ++at;
  }
  return members[at];
}

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_WEIGHTED_DRAW_H_
