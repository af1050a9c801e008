#ifndef FAIRLEAD_RPC_SLOT_LIST_H_
#define FAIRLEAD_RPC_SLOT_LIST_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "fairlead/rpc/invoker_set.h"

namespace fairlead {

// Slots in an order: immutable, and copies share their content, so that a list of providers, what routing left of it
// and the table that was made of that are one array when they are the same. Thread-safe. Copying is constant.
class SlotList {
 public:
  SlotList() = default;
  explicit SlotList(std::span<const Slot> slots) : size_(slots.size()) {
    auto copy = std::make_shared<Slot[]>(size_);
    std::copy(slots.begin(), slots.end(), copy.get());
    slots_ = std::move(copy);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // REQUIRES: i < size()
  Slot operator[](std::size_t i) const { return slots_[static_cast<std::ptrdiff_t>(i)]; }
  Slot front() const { return slots_[0]; }
  const Slot* data() const { return slots_.get(); }
  const Slot* begin() const { return slots_.get(); }
  const Slot* end() const { return slots_.get() + size_; }

  // Constant when one is a copy of the other, else linear.
  friend bool operator==(const SlotList& a, const SlotList& b) {
    return a.slots_ == b.slots_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::shared_ptr<const Slot[]> slots_;
  std::size_t size_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_SLOT_LIST_H_
