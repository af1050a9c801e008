#include "fairlead/routing/router.h"

namespace fairlead {

bool Outcomes::KeepIfAny(const InvokerSet& set) {
  if (drawn_ != nullptr && count_ == 0) {
    // The usual case: the only set, made where it stays.
    drawn_->AssignCommon(in_, set);
    if (drawn_->empty()) return false;
    count_ = total_ = 1;
    return true;
  }
  if (!in_.Intersects(set)) return false;
  Add(1, set);
  return true;
}

void Outcomes::Add(std::uint32_t weight, const InvokerSet& set) {
  ++count_;
  if (drawn_ == nullptr) {
    splits_.push_back({weight, &set == &in_ ? in_ : in_ & set});
    return;
  }
  if (!Draws(weight)) return;
  all_ = &set == &in_;
  if (!all_) drawn_->AssignCommon(in_, set);
}

bool Outcomes::Draws(std::uint32_t weight) {
  total_ += weight;
  if (count_ == 1) return true;
  return total_ == 0 ? random_->Below(count_) == 0 : weight != 0 && random_->Below(total_) < weight;
}

void Outcomes::Reset() {
  splits_.clear();
  why_.clear();
  count_ = 0;
  total_ = 0;
  all_ = false;
}

}  // namespace fairlead
