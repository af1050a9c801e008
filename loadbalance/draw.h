#ifndef FAIRLEAD_LOADBALANCE_DRAW_H_
#define FAIRLEAD_LOADBALANCE_DRAW_H_

#include <cstddef>
#include <cstdint>

#include "fairlead/base/random.h"

namespace fairlead {

// 64 uniform bits spread over n places: `index` is uniform in [0, n), and `coin` uniform in [0, 2^64) whatever the
// index, in steps of n. One multiplication serves both, so a weighted draw needs one random number.
struct Draw {
  std::size_t index;
  std::uint64_t coin;
};
constexpr Draw Spread(std::uint64_t bits, std::size_t n) {
  const internal::Uint128 product = static_cast<internal::Uint128>(bits) * n;
  return {static_cast<std::size_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_DRAW_H_
