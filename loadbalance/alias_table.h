#ifndef FAIRLEAD_LOADBALANCE_ALIAS_TABLE_H_
#define FAIRLEAD_LOADBALANCE_ALIAS_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/loadbalance/draw.h"

namespace fairlead {

// Weighted draw in constant time: Walker's alias method, filled as Vose does, in integers. Each of the n columns
// holds an equal share of the mass and at most two values, so a draw is one column and one coin, without a branch.
//
// Building: linear, 16 bytes a value. Picking: constant. The masses are exact integers; only the last step, to a
// threshold of 64 bits, rounds (by less than n / 2^64 of the whole for a value). Immutable; thread-safe.
class AliasTable {
 public:
  AliasTable() = default;
  // Draws values[i] with probability weights[i] / sum; every value alike when the sum is 0. Sizes are equal and
  // positive, no weight is negative.
  AliasTable(std::span<const std::uint32_t> values, std::span<const std::int32_t> weights);

  struct Column {
    std::uint64_t keep;                   // below it the coin gives values[0], else values[1]
    std::array<std::uint32_t, 2> values;  // equal when the column has one value only
  };

  // `bits`: 64 uniform random bits.
  std::uint32_t Pick(std::uint64_t bits) const { return PickFrom(columns_, bits); }
  static std::uint32_t PickFrom(std::span<const Column> columns, std::uint64_t bits) {
    const Draw draw = Spread(bits, columns.size());
    const Column& column = columns[draw.index];
    return column.values[draw.coin >= column.keep];
  }

  std::span<const Column> columns() const { return columns_; }

 private:
  std::vector<Column> columns_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_ALIAS_TABLE_H_
