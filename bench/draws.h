#ifndef FAIRLEAD_BENCH_DRAWS_H_
#define FAIRLEAD_BENCH_DRAWS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/read_domain.h"
#include "fairlead/bench/ab.h"
#include "fairlead/bench/bed.h"
#include "fairlead/loadbalance/alias_table.h"
#include "fairlead/loadbalance/draw_table.h"
#include "fairlead/loadbalance/hash_ring.h"
#include "fairlead/loadbalance/smooth_schedule.h"
#include "fairlead/loadbalance/spread_order.h"

namespace fairlead::bench {

// What a lease counts on, alone on its line.
struct alignas(64) Record {
  std::atomic<std::uint64_t> word{0};
};

// The floors: the policies' own tables and inlined draws over a bare array, in an empty read section, and nothing
// else. The array holds what a pick gives: a pointer.
struct BareList {
  explicit BareList(int n) : records(static_cast<std::size_t>(n)) {
    for (int i = 0; i < n; ++i) {
      slots.push_back(static_cast<std::uint32_t>(i));
      weights.push_back(WeightOf(i));
      pointers.push_back(&records[static_cast<std::size_t>(i)]);
    }
  }
  std::vector<Record> records;
  std::vector<std::uint32_t> slots;
  std::vector<std::int32_t> weights;
  std::vector<Record*> pointers;
};

// The draw of a policy that has a DrawTable, as a pick does it. Round robin has a loop of turns while the policy would,
// by its default cap, and else its low-discrepancy order.
class TableDraw {
 public:
  TableDraw(const std::string& policy, const BareList& list) {
    if (policy == "random") {
      alias_ = AliasTable(list.slots, list.weights);
      table_ = DrawTable::Alias(alias_);
    } else if (policy == "consistenthash") {
      std::vector<std::string> texts;
      for (const std::uint32_t slot : list.slots) texts.push_back(AddressOf(static_cast<int>(slot)));
      const std::vector<std::string_view> addresses(texts.begin(), texts.end());
      ring_ = HashRing(addresses, 160);
      table_ = DrawTable::Ring(ring_, list.slots);
    } else if (auto schedule = SmoothSchedule::Make(SmoothAutomaton(list.weights), 4096)) {
      steps_.assign(schedule->steps().begin(), schedule->steps().end());
      turns_ = {steps_, schedule->loop()};
      table_ = DrawTable::Turns(turns_, cells_.data());
    } else {
      order_ = SpreadOrder(list.slots, list.weights);
      table_ = DrawTable::Turns(order_, cells_.data());
    }
    for (TurnCell& cell : cells_) cell.position.store(0, std::memory_order_relaxed);
  }
  TableDraw(const TableDraw&) = delete;
  TableDraw& operator=(const TableDraw&) = delete;

  auto Start(int thread) const {
    return [this, cell = ThreadCell(static_cast<std::uint32_t>(thread)),
            random = Random(static_cast<std::uint64_t>(thread) + 1)]() mutable {
      if (table_.random()) return table_.PickRandomly(random);
      return table_.turns() ? table_.PickByTurns(cell) : table_.PickOtherwise(cell, std::nullopt);
    };
  }
  // With another hash key each time.
  auto StartHashed(int thread) const {
    return [this, random = Random(static_cast<std::uint64_t>(thread) + 1)]() mutable {
      return table_.PickOtherwise(ThreadCell(0), static_cast<std::uint32_t>(random.Next()));
    };
  }

 private:
  DrawTable table_;
  AliasTable alias_;
  HashRing ring_;
  std::vector<Slot> steps_;
  TurnLoop turns_;
  SpreadOrder order_;
  TurnCells cells_;
};

// Least active beyond its exact range, which has no DrawTable: the less active of two draws.
class LessOfTwoDraw {
 public:
  explicit LessOfTwoDraw(const BareList& list) : pointers_(list.pointers), table_(list.slots, list.weights) {}
  auto Start(int thread) const {
    return [this, random = Random(static_cast<std::uint64_t>(thread) + 1)]() mutable {
      const std::uint32_t a = table_.Pick(random.Next()), b = table_.Pick(random.Next());
      return Active(b) < Active(a) ? b : a;
    };
  }

 private:
  std::uint64_t Active(std::uint32_t slot) const { return pointers_[slot]->word.load(std::memory_order_relaxed) / 4; }

  const std::vector<Record*> pointers_;
  const AliasTable table_;
};

// A draw, and what is done with the record it points to.
template <class Start>
Body FloorOf(std::shared_ptr<const BareList> list, Start start) {
  return Repeat([list, start](int thread) {
    return [draw = start(thread), pointers = list->pointers.data()]() mutable {
      const ReadSection section;
      Keep(pointers[draw()]);
    };
  });
}
// As above, and reads the record as a pick must that looks at a provider's state.
template <class Start>
Body TouchingFloorOf(std::shared_ptr<const BareList> list, Start start) {
  return Repeat([list, start](int thread) {
    return [draw = start(thread), pointers = list->pointers.data()]() mutable {
      const ReadSection section;
      Keep(pointers[draw()]->word.load(std::memory_order_relaxed));
    };
  });
}
// A lease is two atomics on the record: one more, one less.
template <class Start>
Body LeaseFloorOf(std::shared_ptr<BareList> list, Start start) {
  return Repeat([list, start](int thread) {
    return [draw = start(thread), pointers = list->pointers.data()]() mutable {
      Record* record;
      {
        const ReadSection section;
        record = pointers[draw()];
        record->word.fetch_add(4, std::memory_order_acquire);
      }
      Keep(record);
      record->word.fetch_sub(4, std::memory_order_acq_rel);
    };
  });
}

}  // namespace fairlead::bench

#endif  // FAIRLEAD_BENCH_DRAWS_H_
