#ifndef FAIRLEAD_LOADBALANCE_WEIGHTED_DRAW_H_
#define FAIRLEAD_LOADBALANCE_WEIGHTED_DRAW_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "fairlead/loadbalance/load_balance.h"

// What the policies share about members and their weights. Linear; thread-safe.
namespace fairlead {

inline std::uint64_t TotalWeight(const Members& members) {
  std::uint64_t total = 0;
  for (const Member& member : members) total += static_cast<std::uint64_t>(member.weight);
  return total;
}

inline SlotList SlotsOf(const SelectorInput& input) {
  if (!input.slots.empty()) return input.slots;
  std::vector<Slot> slots;
  slots.reserve(input.by_rank.size());
  for (const Member& member : input.by_rank) slots.push_back(member.slot);
  return SlotList(slots);
}

inline std::vector<std::int32_t> WeightsOf(const Members& members) {
  std::vector<std::int32_t> weights;
  weights.reserve(members.size());
  for (const Member& member : members) weights.push_back(member.weight);
  return weights;
}

// A member with probability weight / sum; nothing when the sum is 0. Allocates nothing.
inline std::optional<Member> DrawByWeight(const Members& members, Random& random) {
  // Anybody, taken with probability weight / most: quick unless few have nearly all the weight. Whoever is taken is
  // taken by weight, so it does not matter when this gives up.
  constexpr int kTries = 24;
  if (const auto most = static_cast<std::uint64_t>(members.most_weight()); most > 0) {
    for (int i = 0; i < kTries; ++i) {
      const Member member = members.InAnyOrder(random.Below(members.size()));
      if (random.Below(most) < static_cast<std::uint64_t>(member.weight)) return member;
    }
  }
  // In one pass: each takes the place of the one held with its share of the weights so far.
  std::optional<Member> held;
  std::uint64_t total = 0;
  for (const Member& member : members) {
    if (member.weight == 0) continue;
    total += static_cast<std::uint64_t>(member.weight);
    if (random.Below(total) < static_cast<std::uint64_t>(member.weight)) held = member;
  }
  return held;
}

// The same, and anybody, all alike, when the sum is 0. At least one member.
inline Member DrawAny(const Members& members, Random& random) {
  if (const std::optional<Member> drawn = DrawByWeight(members, random)) return *drawn;
  return members.InAnyOrder(random.Below(members.size()));
}

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_WEIGHTED_DRAW_H_
