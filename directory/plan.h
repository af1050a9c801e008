#ifndef FAIRLEAD_DIRECTORY_PLAN_H_
#define FAIRLEAD_DIRECTORY_PLAN_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "fairlead/base/random.h"
#include "fairlead/loadbalance/load_balance.h"
#include "fairlead/routing/router.h"
#include "fairlead/rpc/invoker_set.h"
#include "fairlead/rpc/slot_list.h"

namespace fairlead::internal {

// More runtime routers than this and calls walk the chain each time.
inline constexpr std::size_t kMaxRuntimeRouters = 40;

// Which plan a call needs: the class of its method and the case of each runtime router. Compared in full.
struct PlanKey {
  std::uint32_t method_class = 0;
  std::uint32_t count = 0;
  std::array<RouteCase, kMaxRuntimeRouters> cases;  // the first `count` are set

  bool operator==(const PlanKey& other) const {
    if (method_class != other.method_class || count != other.count) return false;
    // Mostly one or a few, for which a call of memcmp takes longer.
    for (std::uint32_t i = 0; i < count; ++i) {
      if (cases[i] != other.cases[i]) return false;
    }
    return true;
  }
  std::uint64_t Hash() const {
    // One multiplication a case: this is computed at each call that has runtime rules.
    std::uint64_t hash = method_class;
    for (std::uint32_t i = 0; i < count; ++i) hash = hash * 0x9e3779b97f4a7c15u + cases[i];
    hash *= 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
  }
};

// A final provider set with its balancer's table. Immutable; shared by the plans of a snapshot, and by the
// next snapshot when nothing in it changed.
struct Leaf {
  // What decides the selector: equal members with equal weights and an equal policy share one leaf.
  SlotList by_rank;                   // often the table's own
  std::vector<std::int32_t> weights;  // one for each, or a single one that all have
  std::string policy;  // as named by the first member
  std::string method;  // whose parameters count; "" when no method has its own
  std::shared_ptr<const Selector> selector;  // nullptr: every pick answers `error`
  DrawTable draw;                            // selector->table()
  // What held the position of a policy that has one, while there is a single member: it does not move then, and a
  // successor with more members goes on from it. nullptr otherwise.
  std::shared_ptr<const Selector> position;
  absl::Status error;

  std::int32_t weight(std::size_t rank) const { return weights[weights.size() == 1 ? 0 : rank]; }

  void Use(std::shared_ptr<const Selector> made) {
    selector = std::move(made);
    draw = selector->table();
  }
};

// What to do with a call of one class: one leaf, or a draw between several.
struct Plan {
  struct Branch {
    std::uint64_t below;  // the branch is taken when a 64-bit draw is at most this; the last is the maximum
    std::shared_ptr<const Leaf> leaf;
  };

  Plan(const PlanKey& of, std::vector<Branch> all) : key(of), branches(std::move(all)) {
    if (branches.size() != 1 || branches.front().leaf->selector == nullptr) return;
    only = branches.front().leaf.get();
    draw = only->draw;
  }

  // For picks: where all calls end, with its table; nullptr when the leaf is drawn, or is an error.
  const Leaf* only = nullptr;
  DrawTable draw;
  mutable std::atomic<bool> hit{false};  // used since it was built: worth building again ahead
  const PlanKey key;
  const std::vector<Branch> branches;    // at least one

  const Leaf& Draw(Random& random) const {
    if (branches.size() == 1) return *branches.front().leaf;
    const std::uint64_t draw = random.Next();
    for (const Branch& branch : branches) {
      if (draw <= branch.below) return *branch.leaf;
    }
    return *branches.back().leaf;
  }
};

// Plans by key: an immutable open-addressed table, replaced as a whole. Find is a probe or two.
class PlanTable {
 public:
  explicit PlanTable(std::vector<std::shared_ptr<const Plan>> plans) : plans_(std::move(plans)) {
    std::size_t capacity = 8;
    while (capacity < plans_.size() * 2) capacity *= 2;
    cells_.assign(capacity, nullptr);
    for (const auto& plan : plans_) {
      std::size_t at = plan->key.Hash() & (capacity - 1);
      while (cells_[at] != nullptr) at = (at + 1) & (capacity - 1);
      cells_[at] = plan.get();
    }
  }
  const Plan* Find(const PlanKey& key) const {
    for (std::size_t at = key.Hash() & (cells_.size() - 1); cells_[at] != nullptr;
         at = (at + 1) & (cells_.size() - 1)) {
      if (cells_[at]->key == key) return cells_[at];
    }
    return nullptr;
  }
  const std::vector<std::shared_ptr<const Plan>>& plans() const { return plans_; }

 private:
  std::vector<std::shared_ptr<const Plan>> plans_;
  std::vector<const Plan*> cells_;
};

// A plan to be built: one that picks asked for, or one in use before the list or the rules changed, whose positions the
// new one goes on from.
struct PlanWish {
  PlanKey key;
  std::shared_ptr<const Plan> before{};  // nullptr: picks asked
};

// Where picks leave the keys of plans they missed, for the builder. Small and lossy: a full table, or a cell
// that is just being written, drops the wish; the next such call wishes again. Thread-safe, lock-free.
class WantedPlans {
 public:
  // False when another's wish is in the way. A wish that is already there counts as taken.
  bool Offer(const PlanKey& key) {
    const std::uint64_t hash = key.Hash();
    Cell& cell = cells_[hash % cells_.size()];
    std::uint32_t expected = kEmpty;
    if (!cell.state.compare_exchange_strong(expected, kWriting, std::memory_order_acquire)) {
      return cell.hash.load(std::memory_order_relaxed) == hash;
    }
    cell.hash.store(hash, std::memory_order_relaxed);
    cell.key = key;
    cell.state.store(kFull, std::memory_order_release);
    return true;
  }
  // Empties the table.
  std::vector<PlanKey> Take() {
    std::vector<PlanKey> keys;
    for (Cell& cell : cells_) {
      if (cell.state.load(std::memory_order_acquire) != kFull) continue;
      keys.push_back(cell.key);
      cell.state.store(kEmpty, std::memory_order_release);
    }
    return keys;
  }

 private:
  static constexpr std::uint32_t kEmpty = 0, kWriting = 1, kFull = 2;
  struct Cell {
    std::atomic<std::uint32_t> state{kEmpty};
    std::atomic<std::uint64_t> hash{0};  // of the key, for others to read
    PlanKey key;
  };
  std::array<Cell, 16> cells_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_PLAN_H_
