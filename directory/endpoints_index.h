#ifndef FAIRLEAD_DIRECTORY_ENDPOINTS_INDEX_H_
#define FAIRLEAD_DIRECTORY_ENDPOINTS_INDEX_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "fairlead/directory/endpoints.h"

namespace fairlead::internal {

// Chains of slots by hash, one or two long. The states hold the links, on lines that they fill anyway.
class Endpoints::Index {
 public:
  explicit Index(const Endpoints& in) : in_(in) {}

  bool empty() const { return size_ == 0; }
  // kNoSlot when there is none.
  Slot Find(const Connection& connection) const {
    if (empty()) return kNoSlot;
    Slot slot = heads_[Place(connection)];
    while (slot != kNoSlot && !(in_.ConnectionOf(slot) == connection)) slot = in_.StateIn(slot).next();
    return slot;
  }
  // REQUIRES: nothing of its connection is there.
  void Add(Slot slot) {
    if (size_++ >= 2 * heads_.size()) Resize(std::max<std::size_t>(2 * heads_.size(), 4));
    Link(slot);
  }
  // REQUIRES: it is there.
  void Remove(Slot slot) {
    Slot& head = heads_[Place(in_.ConnectionOf(slot))];
    const Slot next = in_.StateIn(slot).next();
    if (head == slot) {
      head = next;
    } else {
      Slot before = head;
      while (in_.StateIn(before).next() != slot) before = in_.StateIn(before).next();
      in_.StateIn(before).SetNext(next);
    }
    if (--size_ < heads_.size() / 4) Resize(heads_.size() / 2);
  }

 private:
  std::size_t Place(const Connection& connection) const { return connection.Hash() & (heads_.size() - 1); }
  void Link(Slot slot) {
    Slot& head = heads_[Place(in_.ConnectionOf(slot))];
    in_.StateIn(slot).SetNext(head);
    head = slot;
  }
  void Resize(std::size_t heads) {
    const std::vector<Slot> before = std::exchange(heads_, std::vector<Slot>(heads, kNoSlot));
    for (Slot slot : before) {
      while (slot != kNoSlot) {
        const Slot next = in_.StateIn(slot).next();
        Link(slot);
        slot = next;
      }
    }
  }

  const Endpoints& in_;
  std::size_t size_ = 0;
  std::vector<Slot> heads_;  // a power of two of them, or none
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_ENDPOINTS_INDEX_H_
