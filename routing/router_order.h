#ifndef FAIRLEAD_ROUTING_ROUTER_ORDER_H_
#define FAIRLEAD_ROUTING_ROUTER_ORDER_H_

#include <algorithm>
#include <cstdint>

// Where each kind of router stands in the chain: ascending, as in Dubbo 3.3.
namespace fairlead::router_order {

inline constexpr int kMock = -100;
inline constexpr int kMesh = -50;
inline constexpr int kTag = 100;
inline constexpr int kAffinityService = 130;
inline constexpr int kAffinityProviderApplication = 135;
inline constexpr int kConditionService = 140;
inline constexpr int kConditionProviderApplication = 145;
inline constexpr int kConditionApplication = 150;
inline constexpr int kScript = 200;

// Rule urls come last, among themselves by ascending `priority`: the one with the smaller number decides
// first, the next ones choose among what it left.
constexpr int UrlRule(std::int64_t priority) {
  constexpr std::int64_t kRange = std::int64_t{1} << 29;
  return static_cast<int>(2 * kRange + std::clamp(priority, -kRange, kRange));
}

}  // namespace fairlead::router_order

#endif  // FAIRLEAD_ROUTING_ROUTER_ORDER_H_
