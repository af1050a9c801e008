#ifndef FAIRLEAD_RPC_SLOT_ARRAY_H_
#define FAIRLEAD_RPC_SLOT_ARRAY_H_

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "fairlead/rpc/invoker_set.h"

namespace fairlead {

// Values by slot, of which most copies have most in common: blocks of 64 values, copied when one of them is written.
// A copy costs a reference a block instead of one a value, which for ten thousand providers is the difference
// between 160 and ten thousand cache lines.
//
// Reading is thread-safe; a block that a copy may share is never written. Missing values read as T().
template <class T>
class SlotArray {
 public:
  SlotArray() = default;
  SlotArray(SlotArray&&) = default;
  SlotArray& operator=(SlotArray&&) = default;

  std::size_t size() const { return size_; }
  // REQUIRES: slot < size()
  const T& operator[](Slot slot) const { return (*blocks_[slot / kBlock])[slot % kBlock]; }

  // Grows as needed. Constant but for the block's first write after a Share.
  void Set(Slot slot, T value) {
    const std::size_t block = slot / kBlock;
    if (slot >= size_) {
      size_ = slot + 1;
      while (blocks_.size() <= block) blocks_.push_back(std::make_shared<Block>());
      own_.resize(blocks_.size(), true);
    }
    if (!own_[block]) {
      blocks_[block] = std::make_shared<Block>(*blocks_[block]);
      own_[block] = true;
    }
    (*blocks_[block])[slot % kBlock] = std::move(value);
  }

  // A copy: what is written to one of the two does not show in the other. Linear in blocks. REQUIRES: the thread that
  // writes.
  SlotArray Share() const {
    own_.assign(blocks_.size(), false);
    return *this;
  }

 private:
  static constexpr std::size_t kBlock = 64;
  using Block = std::array<T, kBlock>;

  SlotArray(const SlotArray&) = default;

  std::vector<std::shared_ptr<Block>> blocks_;
  mutable std::vector<bool> own_;  // nobody else has the block; only for those who write
  std::size_t size_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_SLOT_ARRAY_H_
