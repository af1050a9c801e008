#include "fairlead/loadbalance/alias_table.h"

#include <limits>

namespace fairlead {
namespace {

// part / whole as a 64-bit fraction, for many parts of one whole: one long division, then two products a part.
class Fraction {
 public:
  explicit Fraction(std::uint64_t whole) {
    const internal::Uint128 reciprocal = ~internal::Uint128{0} / whole;  // 2^128 / whole, rounded down
    high_ = static_cast<std::uint64_t>(reciprocal >> 64);
    low_ = static_cast<std::uint64_t>(reciprocal);
  }
  // part < whole.
  std::uint64_t Of(std::uint64_t part) const {
    return part * high_ + static_cast<std::uint64_t>((static_cast<internal::Uint128>(part) * low_) >> 64);
  }

 private:
  std::uint64_t high_, low_;
};

}  // namespace

AliasTable::AliasTable(std::span<const std::uint32_t> values, std::span<const std::int32_t> weights) {
  const std::size_t n = values.size();
  columns_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    columns_[i] = {std::numeric_limits<std::uint64_t>::max(), {values[i], values[i]}};
  }
  // A column holds `total` units; value i has weights[i] * n of them to place. Below 2^63 for 2^32 values.
  std::uint64_t total = 0;
  for (const std::int32_t weight : weights) total += static_cast<std::uint64_t>(weight);
  if (total == 0) return;

  std::vector<std::uint64_t> mass(n);
  // Columns still to be filled: those with less than a share grow from the front, those with more from the back.
  std::vector<std::uint32_t> work(n);
  std::size_t small = 0, large = n;
  for (std::size_t i = 0; i < n; ++i) {
    mass[i] = static_cast<std::uint64_t>(weights[i]) * n;
    if (mass[i] < total) {
      work[small++] = static_cast<std::uint32_t>(i);
    } else if (mass[i] > total) {
      work[--large] = static_cast<std::uint32_t>(i);
    }
  }
  const Fraction fraction(total);
  // The sum of what is below a share equals the sum of what is above it, so both run out together.
  while (small > 0 && large < n) {
    const std::uint32_t poor = work[--small];
    const std::uint32_t rich = work[large];
    columns_[poor].keep = fraction.Of(mass[poor]);
    columns_[poor].values[1] = values[rich];
    mass[rich] -= total - mass[poor];
    if (mass[rich] > total) continue;
    ++large;
    if (mass[rich] < total) work[small++] = rich;
  }
}

}  // namespace fairlead
