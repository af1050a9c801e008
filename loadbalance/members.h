#ifndef FAIRLEAD_LOADBALANCE_MEMBERS_H_
#define FAIRLEAD_LOADBALANCE_MEMBERS_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "fairlead/loadbalance/warmup.h"
#include "fairlead/rpc/invoker_set.h"
#include "fairlead/rpc/invoker_table.h"

namespace fairlead {

// One candidate. `weight` is effective: method form, warm-up and clamping are already in it, never negative.
struct Member {
  Slot slot = kNoSlot;  // the provider's
  const Provider* provider = nullptr;
  const InvokerState* state = nullptr;
  std::int32_t weight = 0;
};

// A final provider set in the order of rank: a list that was made, or, for a call that has no plan, the providers of a
// table that are in a set, looked up while they are read, so that nothing is made. A view, cheap to copy; what it views
// must outlive it. Thread-safe as that is.
//
// Reading all is linear in the list, and for the second form in the table. size is constant.
class Members {
 public:
  Members() = default;
  Members(std::span<const Member> list) : list_(list.data()), places_(list.size()), size_(list.size()) {}
  Members(const std::vector<Member>& list) : Members(std::span(list)) {}
  // Weights for calls of `method` at that moment of the wall clock, or for "" those of the table. `most_weight`: at
  // least the weight of any, when known. `set`: slots of the table's providers only.
  Members(const InvokerTable& table, const InvokerSet& set, std::string_view method, std::int64_t now_ms,
          std::int32_t most_weight)
      : table_(&table),
        set_(&set),
        method_(method),
        now_ms_(now_ms),
        places_(table.by_rank.size()),
        size_(set.count()),
        most_weight_(method.empty() ? most_weight : 0),
        first_(NextPlace(0)) {}

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Member;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Member;

    Member operator*() const { return of_->AtPlace(place_); }
    Iterator& operator++() {
      place_ = of_->NextPlace(place_ + 1);
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.place_ == b.place_; }

   private:
    friend class Members;
    Iterator(const Members* of, std::size_t place) : of_(of), place_(place) {}
    const Members* of_;
    std::size_t place_;
  };

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Iterator begin() const { return {this, first_}; }
  Iterator end() const { return {this, places_}; }
  // REQUIRES: not empty
  Member front() const { return AtPlace(first_); }
  // Every member once for k below size(), not by rank. Constant for a list, else linear in the table / 64.
  Member InAnyOrder(std::size_t k) const { return list_ != nullptr ? list_[k] : Of(set_->Nth(k)); }
  // No member has a greater weight; 0 = not known.
  std::int32_t most_weight() const { return most_weight_; }
  // Whether the provider of that slot is a member. Linear for a list.
  bool Contains(Slot slot) const {
    if (set_ != nullptr) return set_->Contains(slot);
    for (std::size_t i = 0; i < places_; ++i) {
      if (list_[i].slot == slot) return true;
    }
    return false;
  }

 private:
  std::size_t NextPlace(std::size_t place) const {
    if (set_ != nullptr) {
      while (place < places_ && !set_->Contains(table_->by_rank[place])) ++place;
    }
    return place;
  }
  Member AtPlace(std::size_t place) const { return list_ != nullptr ? list_[place] : Of(table_->by_rank[place]); }
  Member Of(Slot slot) const {
    const Provider* provider = &table_->providers[slot];
    return {slot, provider, table_->states[slot],
            method_.empty() ? table_->weights[slot] : EffectiveWeight(provider->effective, method_, now_ms_)};
  }

  const Member* list_ = nullptr;
  const InvokerTable* table_ = nullptr;
  const InvokerSet* set_ = nullptr;
  std::string_view method_;
  std::int64_t now_ms_ = 0;
  std::size_t places_ = 0, size_ = 0;
  std::int32_t most_weight_ = 0;
  std::size_t first_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_MEMBERS_H_
