#ifndef FAIRLEAD_LOADBALANCE_DRAW_TABLE_H_
#define FAIRLEAD_LOADBALANCE_DRAW_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "fairlead/base/random.h"
#include "fairlead/loadbalance/alias_table.h"
#include "fairlead/loadbalance/draw.h"
#include "fairlead/loadbalance/hash_ring.h"
#include "fairlead/loadbalance/spread_order.h"
#include "fairlead/rpc/invoker_set.h"

namespace fairlead {

// Where one thread stands in an order of turns, on a cache line of its own.
struct alignas(64) TurnCell {
  static constexpr std::uint64_t kUnset = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> position{kUnset};
};
// Threads whose numbers agree in their last six bits share a cell; such threads may take a turn twice between
// them, never leave the order.
inline constexpr std::size_t kTurnCells = 64;

// An order of turns that is worked out ahead: `steps`, of which those from `loop` on repeat for ever.
struct TurnLoop {
  std::span<const Slot> steps;
  std::size_t loop = 0;

  std::uint64_t Next(std::uint64_t position) const { return position + 1 == steps.size() ? loop : position + 1; }
  Slot At(std::uint64_t position) const { return steps[position]; }
};

// A selector's draw as plain data: what a pick does without a virtual call, and what a benchmark takes for its floor.
// A view: valid as long as the selector that gave it. Thread-safe as that selector is. 32 bytes.
//
// Valid while no member is down; a pick that cannot know asks the selector itself.
class DrawTable {
 public:
  // Nothing to draw from: the selector must be asked.
  DrawTable() = default;

  static DrawTable Uniform(std::span<const Slot> slots) {
    DrawTable table(Kind::kUniform, slots.data(), nullptr);
    table.size_ = slots.size();
    return table;
  }
  static DrawTable Alias(const AliasTable& alias) { return DrawTable(Kind::kAlias, &alias, nullptr); }
  static DrawTable Turns(const TurnLoop& turns, TurnCell* cells) { return DrawTable(Kind::kTurns, &turns, cells); }
  static DrawTable Turns(const SpreadOrder& order, TurnCell* cells) { return DrawTable(Kind::kSpread, &order, cells); }
  // `slots`: by member of the ring.
  static DrawTable Ring(const HashRing& ring, std::span<const Slot> slots) {
    DrawTable table(Kind::kRing, &ring, nullptr);
    table.slots_ = slots.data();
    return table;
  }

  // A slot; kNoSlot when this call must be put to the selector: there is no table, it is the thread's first turn, or
  // a hash policy is not given its key. Constant time.
  [[gnu::always_inline]] inline Slot Pick(Random& random, std::uint32_t thread,
                                          const std::optional<std::uint32_t>& hash_key) const {
    // In the order of use, which is quicker than a table of jumps.
    if (kind_ == Kind::kAlias) return static_cast<const AliasTable*>(data_)->Pick(random.Next());
    if (kind_ == Kind::kUniform) return static_cast<const Slot*>(data_)[Spread(random.Next(), size_).index];
    if (kind_ == Kind::kTurns) return TakeTurn(*static_cast<const TurnLoop*>(data_), thread);
    if (kind_ == Kind::kSpread) return TakeTurn(*static_cast<const SpreadOrder*>(data_), thread);
    if (kind_ == Kind::kRing && hash_key) return slots_[static_cast<const HashRing*>(data_)->Owner(*hash_key)];
    return kNoSlot;
  }

 private:
  enum class Kind : std::uint8_t { kNone, kUniform, kAlias, kTurns, kSpread, kRing };

  DrawTable(Kind kind, const void* data, TurnCell* cells) : kind_(kind), data_(data), cells_(cells) {}

  template <class Order>
  Slot TakeTurn(const Order& order, std::uint32_t thread) const {
    std::atomic<std::uint64_t>& cell = cells_[thread % kTurnCells].position;
    const std::uint64_t position = cell.load(std::memory_order_relaxed);
    if (position == TurnCell::kUnset) return kNoSlot;
    cell.store(order.Next(position), std::memory_order_relaxed);
    return order.At(position);
  }

  Kind kind_ = Kind::kNone;
  const void* data_ = nullptr;
  union {
    TurnCell* cells_ = nullptr;
    std::size_t size_;
    const Slot* slots_;
  };
};

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_DRAW_TABLE_H_
