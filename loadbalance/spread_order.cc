#include "fairlead/loadbalance/spread_order.h"

#include <algorithm>
#include <bit>

#include "fairlead/base/random.h"

namespace fairlead {

SpreadOrder::SpreadOrder(std::span<const std::uint32_t> values, std::span<const std::int32_t> weights) {
  std::uint64_t total = 0;
  for (const std::int32_t weight : weights) total += static_cast<std::uint64_t>(weight);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (weights[i] == 0) continue;
    sum += static_cast<std::uint64_t>(weights[i]);
    // The first position past the interval is sum * 2^64 / total; the last interval ends with the circle.
    const internal::Uint128 end = (static_cast<internal::Uint128>(sum) << 64) / total;
    intervals_.push_back({static_cast<std::uint64_t>(end - 1), values[i]});
  }
  // At least two buckets, so that the shift stays below 64.
  const unsigned bits = std::max(1u, static_cast<unsigned>(std::bit_width(intervals_.size() - 1)));
  shift_ = 64 - bits;
  const std::size_t buckets = std::size_t{1} << bits;
  first_.resize(buckets + 1);
  std::uint32_t at = 0;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const std::uint64_t begin = static_cast<std::uint64_t>(bucket) << shift_;
    while (intervals_[at].last < begin) ++at;
    first_[bucket] = at;
  }
  first_[buckets] = static_cast<std::uint32_t>(intervals_.size() - 1);
}

}  // namespace fairlead
