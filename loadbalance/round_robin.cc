#include "fairlead/loadbalance/round_robin.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/hash.h"
#include "fairlead/base/strings.h"
#include "fairlead/loadbalance/smooth_schedule.h"
#include "fairlead/loadbalance/spread_order.h"
#include "fairlead/loadbalance/weighted_draw.h"

namespace fairlead {
namespace {

constexpr std::string_view kScope = "roundrobin.scope";
constexpr std::size_t kScheduleCap = 4096;
constexpr std::size_t kCells = 64;

struct Seat {
  ProviderId id;
  Slot slot;
  std::int32_t weight;
  friend bool operator==(const Seat&, const Seat&) = default;
};

// The order of turns as a schedule of slots.
class ScheduleOrder {
 public:
  ScheduleOrder(const SmoothSchedule& schedule, std::span<const Slot> slots) : loop_(schedule.loop()) {
    steps_.reserve(schedule.steps().size());
    for (const std::uint32_t member : schedule.steps()) steps_.push_back(slots[member]);
  }
  std::uint64_t Next(std::uint64_t position) const { return position + 1 == steps_.size() ? loop_ : position + 1; }
  Slot At(std::uint64_t position) const { return steps_[position]; }
  std::uint64_t Nth(std::uint64_t n) const {
    return n < steps_.size() ? n : loop_ + (n - loop_) % (steps_.size() - loop_);
  }
  std::uint64_t Anywhere(std::uint64_t bits) const { return loop_ + Random(bits).Below(steps_.size() - loop_); }
  std::string Describe() const { return absl::StrCat("a loop of ", steps_.size() - loop_, " turns"); }

 private:
  std::vector<Slot> steps_;
  std::size_t loop_;
};

// The same as a low-discrepancy order.
class LongOrder {
 public:
  LongOrder(std::span<const Slot> slots, std::span<const std::int32_t> weights) : spread_(slots, weights) {}
  std::uint64_t Next(std::uint64_t position) const { return SpreadOrder::Next(position); }
  Slot At(std::uint64_t position) const { return spread_.At(position); }
  std::uint64_t Nth(std::uint64_t n) const { return SpreadOrder::Nth(0, n); }
  std::uint64_t Anywhere(std::uint64_t bits) const { return Mix64(bits); }
  std::string Describe() const { return "a low-discrepancy order"; }

 private:
  SpreadOrder spread_;
};

// Where the threads stand in an order, whatever its kind. One cell serves a thread, or a few whose numbers agree in
// their last six bits; such threads may lose a turn to each other, never the order.
struct Cursors {
  static constexpr std::uint64_t kUnset = std::numeric_limits<std::uint64_t>::max();
  struct alignas(64) Cell {
    std::atomic<std::uint64_t> position{kUnset};
  };

  // What `before` does meanwhile is lost.
  void CarryOn(const Cursors& before) {
    for (std::size_t i = 0; i < kCells; ++i) {
      cells[i].position.store(before.cells[i].position.load(std::memory_order_relaxed), std::memory_order_relaxed);
    }
    leader.store(before.leader.load(std::memory_order_relaxed), std::memory_order_relaxed);
    turns.position.store(before.turns.position.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

  std::array<Cell, kCells> cells;
  std::atomic<std::int32_t> leader{-1};  // the cell of the thread that began with the first step
  Cell turns;                            // taken by all threads, for roundrobin.scope=global
};

class RoundRobinSelector : public Selector {
 public:
  RoundRobinSelector(std::vector<Seat> seats, bool global) : seats_(std::move(seats)), global_(global) {
    cursors_.turns.position.store(0, std::memory_order_relaxed);
  }

  // Before the first pick: takes over from the selector that served these calls until now.
  void Succeed(const RoundRobinSelector& before) {
    if (before.seats_ == seats_ && before.global_ == global_) {
      cursors_.CarryOn(before.cursors_);
    } else {
      cursors_.leader.store(before.cursors_.leader.load(std::memory_order_relaxed), std::memory_order_relaxed);
      const std::int32_t leader = cursors_.leader.load(std::memory_order_relaxed);
      if (leader >= 0) cursors_.cells[static_cast<std::size_t>(leader)].position.store(0, std::memory_order_relaxed);
    }
  }

 protected:
  std::string DescribeTurns(std::string_view order) const {
    return absl::StrCat("roundrobin, ", seats_.size(), " providers, ", ToAbsl(order),
                        global_ ? ", one cursor" : "");
  }
  bool global() const { return global_; }

  mutable Cursors cursors_;

 private:
  const std::vector<Seat> seats_;
  const bool global_;
};

template <class Order>
class OrderSelector final : public RoundRobinSelector {
 public:
  OrderSelector(std::vector<Seat> seats, bool global, std::uint64_t seed, Order order)
      : RoundRobinSelector(std::move(seats), global), order_(std::move(order)), seed_(seed) {}

  Slot Select(const Invocation&, PickContext& context) const override {
    if (global()) {
      std::atomic<std::uint64_t>& turns = cursors_.turns.position;
      return order_.At(order_.Nth(context.peek ? turns.load(std::memory_order_relaxed)
                                               : turns.fetch_add(1, std::memory_order_relaxed)));
    }
    const std::size_t cell = context.thread % kCells;
    std::atomic<std::uint64_t>& cursor = cursors_.cells[cell].position;
    std::uint64_t position = cursor.load(std::memory_order_relaxed);
    if (position == Cursors::kUnset) position = Start(static_cast<std::int32_t>(cell), context.peek);
    if (!context.peek) cursor.store(order_.Next(position), std::memory_order_relaxed);
    return order_.At(position);
  }

  std::string Describe() const override { return DescribeTurns(order_.Describe()); }

 private:
  // A phase of its own for each thread keeps threads and consumers that start together from calling in step.
  std::uint64_t Start(std::int32_t cell, bool peek) const {
    std::int32_t leader = cursors_.leader.load(std::memory_order_relaxed);
    if (leader < 0 && (peek || cursors_.leader.compare_exchange_strong(leader, cell, std::memory_order_relaxed))) {
      return 0;
    }
    return order_.Anywhere(Mix64(seed_ ^ Mix64(static_cast<std::uint64_t>(cell))));
  }

  const Order order_;
  const std::uint64_t seed_;
};

class RoundRobinLoadBalance final : public LoadBalance {
 public:
  std::string_view name() const override { return "roundrobin"; }
  bool per_method() const override { return true; }

  absl::StatusOr<std::shared_ptr<const Selector>> Build(const SelectorInput& input,
                                                        const Selector* replaced) const override {
    std::vector<Seat> seats;
    seats.reserve(input.by_rank.size());
    for (const Member& member : input.by_rank) {
      seats.push_back({member.provider->id, member.provider->slot, member.weight});
    }
    std::vector<Slot> slots;
    std::vector<std::int32_t> weights;
    SplitMembers(input.by_rank, slots, weights);
    const bool global = input.consumer.Param(kScope) == "global";
    const std::uint64_t seed = HashBytes(input.method, input.seed);
    std::shared_ptr<RoundRobinSelector> selector;
    if (const auto schedule = SmoothSchedule::Make(weights, {}, kScheduleCap)) {
      selector = std::make_shared<OrderSelector<ScheduleOrder>>(std::move(seats), global, seed,
                                                                ScheduleOrder(*schedule, slots));
    } else {
      selector = std::make_shared<OrderSelector<LongOrder>>(std::move(seats), global, seed, LongOrder(slots, weights));
    }
    if (const auto* before = dynamic_cast<const RoundRobinSelector*>(replaced)) selector->Succeed(*before);
    return selector;
  }

  // Without a table there is no position to go on from: a draw by weight is fair, if not in turn.
  absl::StatusOr<Slot> SelectUnplanned(const SelectorInput& input, const Invocation&,
                                       PickContext& context) const override {
    if (TotalWeight(input.by_rank) == 0) return input.by_rank.front().provider->slot;
    return DrawByWeight(input.by_rank, context.random).provider->slot;
  }
};

}  // namespace

std::shared_ptr<const LoadBalance> MakeRoundRobinLoadBalance() { return std::make_shared<RoundRobinLoadBalance>(); }

}  // namespace fairlead
