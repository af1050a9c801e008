#ifndef FAIRLEAD_LOADBALANCE_SPREAD_ORDER_H_
#define FAIRLEAD_LOADBALANCE_SPREAD_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead {

// A weighted order that needs no table of steps: every value owns an interval of the circle [0, 2^64) as long as
// its weight, and the position walks the circle in steps of the golden ratio, which visit every interval as evenly
// as a fixed step can. Used for round robin where the exact smooth schedule would be too long.
//
// Deviation: in any run of up to a million picks, from any start, a value gets its exact share give or take fewer
// than 8 picks (tested). Building: linear, 20 bytes a value. Picking: constant on average, logarithmic at worst.
// Immutable; thread-safe.
class SpreadOrder {
 public:
  SpreadOrder() = default;
  // Sizes are equal and positive, no weight is negative, not all are 0.
  SpreadOrder(std::span<const std::uint32_t> values, std::span<const std::int32_t> weights);

  static constexpr std::uint64_t Next(std::uint64_t position) { return position + kGoldenStep; }
  static constexpr std::uint64_t Nth(std::uint64_t start, std::uint64_t steps) { return start + steps * kGoldenStep; }

  // The value whose interval holds the position.
  std::uint32_t At(std::uint64_t position) const {
    const std::size_t bucket = static_cast<std::size_t>(position >> shift_);
    std::size_t low = first_[bucket], high = first_[bucket + 1];
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (intervals_[middle].last < position) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return intervals_[low].value;
  }

  std::size_t bytes() const { return intervals_.size() * sizeof(Interval) + first_.size() * sizeof(std::uint32_t); }

 private:
  static constexpr std::uint64_t kGoldenStep = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio, odd

  struct Interval {
    std::uint64_t last;  // inclusive
    std::uint32_t value;
  };
  std::vector<Interval> intervals_;   // of the values with a weight, ascending
  std::vector<std::uint32_t> first_;  // by bucket of the circle: the interval that holds its first position
  unsigned shift_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_SPREAD_ORDER_H_
