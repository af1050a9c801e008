#ifndef FAIRLEAD_RPC_SLOT_WEIGHTS_H_
#define FAIRLEAD_RPC_SLOT_WEIGHTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "fairlead/rpc/invoker_set.h"

namespace fairlead {

// A weight for each slot, without memory while all are alike, as they mostly are: Dubbo's default is 100. Not
// thread-safe while it is written.
class SlotWeights {
 public:
  // The weight that was set, or the one that all have in common. Constant.
  std::int32_t operator[](std::size_t slot) const { return slot < own_.size() ? own_[slot] : usual_; }

  // Constant, amortised.
  void Set(std::size_t slot, std::int32_t weight) {
    if (slot >= own_.size()) {
      if (weight == usual_) return;
      own_.resize(slot + 1, usual_);
    }
    own_[slot] = weight;
  }
  // Gives back what is not needed for `slots` slots. Linear while weights differ.
  void Trim(std::size_t slots) {
    if (own_.size() >= slots) {
      own_.resize(slots);
      if (std::adjacent_find(own_.begin(), own_.end(), std::not_equal_to<>()) == own_.end()) {
        if (!own_.empty()) usual_ = own_.front();
        own_.clear();
      }
    }
    own_.shrink_to_fit();
  }

 private:
  std::vector<std::int32_t> own_;  // of the first slots; the others have the usual one
  std::int32_t usual_ = 100;
};

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_SLOT_WEIGHTS_H_
