#ifndef FAIRLEAD_LOADBALANCE_DRAW_TABLE_H_
#define FAIRLEAD_LOADBALANCE_DRAW_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "fairlead/base/random.h"
#include "fairlead/base/thread_slot.h"
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
// One for each ThreadCell; threads that share one may take a turn twice between them, never leave the order.
using TurnCells = std::array<TurnCell, kThreadCells>;

// An order of turns that is worked out ahead: `steps`, of which those from `loop` on repeat for ever.
struct TurnLoop {
  std::span<const Slot> steps;
  std::size_t loop = 0;

  std::uint64_t Next(std::uint64_t position) const { return position + 1 == steps.size() ? loop : position + 1; }
  Slot At(std::uint64_t position) const { return steps[position]; }
};

// A selector's draw as plain data: what a pick does without a virtual call, and what a benchmark takes for its floor.
// It points at the elements themselves, so that a pick has few loads that wait for each other. A view: valid as long
// as the selector that gave it. Thread-safe as that selector is. 32 bytes. Every pick is constant time.
//
// Valid while no member is down; a pick that cannot know asks the selector itself.
class DrawTable {
 public:
  // Nothing to draw from: the selector must be asked.
  DrawTable() = default;

  static DrawTable Uniform(std::span<const Slot> slots) {
    return DrawTable(Kind::kUniform, slots.data(), {}, {}, slots.size());
  }
  static DrawTable Alias(const AliasTable& alias) {
    return DrawTable(Kind::kAlias, alias.columns().data(), {}, {}, alias.columns().size());
  }
  static DrawTable Turns(const TurnLoop& turns, TurnCell* cells) {
    return DrawTable(Kind::kTurns, turns.steps.data(), {.cells = cells}, {.loop = turns.loop}, turns.steps.size());
  }
  static DrawTable Turns(const SpreadOrder& order, TurnCell* cells) {
    return DrawTable(Kind::kSpread, &order, {.cells = cells}, {}, 0);
  }
  // `slots`: by member of the ring.
  static DrawTable Ring(const HashRing& ring, std::span<const Slot> slots) {
    const HashRing::View view = ring.view();
    DrawTable table(Kind::kRing, view.points, {.first = view.first}, {.slots = slots.data()}, view.size);
    table.shift_ = view.shift;
    return table;
  }

  // Whether a draw takes a random number and nothing else; such a table has a slot for every call.
  bool random() const { return kind_ <= Kind::kUniform; }
  // REQUIRES: random()
  [[gnu::always_inline]] inline Slot PickRandomly(Random& random) const {
    if (kind_ == Kind::kAlias) {
      return AliasTable::PickFrom({static_cast<const AliasTable::Column*>(data_), size_}, random.Next());
    }
    return static_cast<const Slot*>(data_)[Spread(random.Next(), size_).index];
  }
  bool turns() const { return kind_ == Kind::kTurns; }
  // kNoSlot when it is the thread's first turn, which must be put to the selector. REQUIRES: turns()
  [[gnu::always_inline]] inline Slot PickByTurns(ThreadCell thread) const {
    return TakeTurn(TurnLoop{{static_cast<const Slot*>(data_), size_}, more_.loop}, thread);
  }
  // The other tables. kNoSlot when this call must be put to the selector: there is no table, it is the thread's first
  // turn, or a hash policy is not given its key. REQUIRES: neither random() nor turns()
  [[gnu::always_inline]] inline Slot PickOtherwise(ThreadCell thread,
                                                   const std::optional<std::uint32_t>& hash_key) const {
    if (kind_ == Kind::kRing && hash_key) {
      const HashRing::View ring{static_cast<const HashRing::Point*>(data_), with_.first, size_, shift_};
      return more_.slots[ring.Owner(*hash_key)];
    }
    if (kind_ == Kind::kSpread) return TakeTurn(*static_cast<const SpreadOrder*>(data_), thread);
    return kNoSlot;
  }

 private:
  enum class Kind : std::uint8_t { kAlias, kUniform, kTurns, kSpread, kRing, kNone };
  union With {
    TurnCell* cells;
    const std::uint32_t* first;
  };
  union More {
    std::size_t loop;
    const Slot* slots;
  };

  DrawTable(Kind kind, const void* data, With with, More more, std::size_t size)
      : data_(data), with_(with), more_(more), size_(static_cast<std::uint32_t>(size)), kind_(kind) {}

  template <class Order>
  Slot TakeTurn(const Order& order, ThreadCell thread) const {
    std::atomic<std::uint64_t>& cell = thread.In(with_.cells).position;
    const std::uint64_t position = cell.load(std::memory_order_relaxed);
    if (position == TurnCell::kUnset) return kNoSlot;
    cell.store(order.Next(position), std::memory_order_relaxed);
    return order.At(position);
  }

  const void* data_ = nullptr;
  With with_{};
  More more_{};
  std::uint32_t size_ = 0;
  Kind kind_ = Kind::kNone;
  std::uint8_t shift_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_DRAW_TABLE_H_
