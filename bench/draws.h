#ifndef FAIRLEAD_BENCH_DRAWS_H_
#define FAIRLEAD_BENCH_DRAWS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/read_domain.h"
#include "fairlead/bench/ab.h"
#include "fairlead/bench/bed.h"
#include "fairlead/loadbalance/alias_table.h"
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

class RandomDraw {
 public:
  RandomDraw(const BareList& list) : table_(list.slots, list.weights) {}
  auto Start(int thread) const {
    return [this, random = Random(static_cast<std::uint64_t>(thread) + 1)]() mutable { return table_.Pick(random.Next()); };
  }

 private:
  AliasTable table_;
};

// The schedule while the policy has one, by its default cap, else its low-discrepancy order.
class RoundRobinDraw {
 public:
  RoundRobinDraw(const BareList& list) {
    auto schedule = SmoothSchedule::Make(SmoothAutomaton(list.weights), 4096);
    if (!schedule) {
      order_ = SpreadOrder(list.slots, list.weights);
    } else {
      steps_.assign(schedule->steps().begin(), schedule->steps().end());
      loop_ = schedule->loop();
    }
  }
  bool scheduled() const { return !steps_.empty(); }
  auto Start(int) const {
    return [this, position = std::uint64_t{0}]() mutable {
      const std::uint32_t slot = steps_[position];
      position = position + 1 == steps_.size() ? loop_ : position + 1;
      return slot;
    };
  }
  auto StartLong(int thread) const {
    return [this, position = Mix64(static_cast<std::uint64_t>(thread))]() mutable {
      const std::uint32_t slot = order_.At(position);
      position = SpreadOrder::Next(position);
      return slot;
    };
  }

 private:
  std::vector<std::uint32_t> steps_;
  std::uint64_t loop_ = 0;
  SpreadOrder order_;
};

class RingDraw {
 public:
  RingDraw(int n) {
    std::vector<std::string> texts;
    for (int i = 0; i < n; ++i) texts.push_back(AddressOf(i));
    const std::vector<std::string_view> addresses(texts.begin(), texts.end());
    ring_ = HashRing(addresses, 160);
  }
  auto Start(int thread) const {
    return [this, random = Random(static_cast<std::uint64_t>(thread) + 1)]() mutable {
      return ring_.Owner(static_cast<std::uint32_t>(random.Next()));
    };
  }

 private:
  HashRing ring_;
};

// The less active of two draws; of all while that is exact. The policy keeps its loop to itself: this is the same one.
class LeastActiveDraw {
 public:
  explicit LeastActiveDraw(const BareList& list) : table_(list.slots, list.weights) {
    for (const std::uint32_t slot : list.slots) candidates_.push_back({list.pointers[slot], slot, list.weights[slot]});
  }
  auto Start(int thread) const {
    return [this, random = Random(static_cast<std::uint64_t>(thread) + 1)]() mutable {
      return candidates_.size() <= 16 ? LeastOfAll(random) : LessOfTwo(random);
    };
  }

 private:
  struct Candidate {
    const Record* record;
    std::uint32_t slot;
    std::int32_t weight;
    std::uint32_t active() const { return static_cast<std::uint32_t>(record->word.load(std::memory_order_relaxed) / 4); }
  };
  std::uint32_t LessOfTwo(Random& random) const {
    const Candidate& a = candidates_[table_.Pick(random.Next())];
    const Candidate& b = candidates_[table_.Pick(random.Next())];
    return b.active() < a.active() ? b.slot : a.slot;
  }
  std::uint32_t LeastOfAll(Random& random) const {
    constexpr std::uint32_t kNobody = ~0u;
    std::uint32_t least = ~0u, held = kNobody;
    std::uint64_t total = 0;
    for (const Candidate& candidate : candidates_) {
      const std::uint32_t active = candidate.active();
      if (active > least) continue;
      const auto weight = static_cast<std::uint64_t>(candidate.weight);
      if (active < least || held == kNobody) {
        least = active;
        total = weight;
        held = candidate.slot;
        continue;
      }
      total += weight;
      const bool replaces = weight != 0 && random.Below(total) < weight;
      if (replaces) held = candidate.slot;
    }
    return held;
  }

  std::vector<Candidate> candidates_;
  AliasTable table_;
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
