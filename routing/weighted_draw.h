#ifndef FAIRLEAD_ROUTING_WEIGHTED_DRAW_H_
#define FAIRLEAD_ROUTING_WEIGHTED_DRAW_H_

#include <cstdint>

#include "fairlead/rpc/compat.h"

namespace fairlead::internal {

// The weight that one of several destinations has in Dubbo's draw. It takes the first for which what is drawn, from 0 to
// sum - 1, is not above the weights so far, instead of below: the first destination has one unit too much and the last one
// too little, so that of two with weight 1 the second is never drawn. kFixed: the weight. REQUIRES: 0 < weight < 2^31
constexpr std::uint32_t WeightInDraw(std::uint32_t weight, bool first, bool last, Compat compat) {
  if (compat != Compat::kStrict) return weight;
  return weight + (first ? 1 : 0) - (last ? 1 : 0);
}

}  // namespace fairlead::internal

#endif  // FAIRLEAD_ROUTING_WEIGHTED_DRAW_H_
