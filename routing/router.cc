#include "fairlead/routing/router.h"

#include <algorithm>

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

void Outcomes::Add(std::uint64_t weight, const InvokerSet& set) {
  ++count_;
  if (drawn_ == nullptr) {
    splits_.push_back({weight, &set == &in_ ? in_ : in_ & set});
    return;
  }
  if (!Draws(weight)) return;
  all_ = &set == &in_;
  if (!all_) drawn_->AssignCommon(in_, set);
}

void Outcomes::Add(std::uint64_t weight, std::span<const InvokerSet* const> sets) {
  if (sets.size() == 1) return Add(weight, *sets.front());
  ++count_;
  if (drawn_ == nullptr) {
    InvokerSet common;
    common.AssignCommon(in_, sets);
    splits_.push_back({weight, std::move(common)});
    return;
  }
  if (!Draws(weight)) return;
  all_ = false;
  drawn_->AssignCommon(in_, sets);
}

void Outcomes::RouteWithin(const InvokerSet& scope, const RouteTable& table, RouteCase which) {
  const std::size_t ours = in_.CountCommon(scope);
  if (ours == 0) return KeepAll();
  if (ours == in_.count()) return table.Route(which, in_, *this);
  InvokerSet memory;
  InvokerSet& part = spare_ != nullptr ? *spare_ : memory;
  part.AssignCommon(in_, scope);
  if (drawn_ == nullptr) {
    Outcomes decided(part);
    table.Route(which, part, decided);
    why_ = decided.why_;
    const InvokerSet rest = in_ - scope;
    if (decided.count() == 0) return Keep(rest);
    for (Split& split : decided.splits_) Add(split.weight, split.set |= rest);
    return;
  }
  // What is drawn of the part is where the rest will be added.
  Outcomes decided(part, *drawn_, *random_, explained_);
  decided.told_ = explained_;
  table.Route(which, part, decided);
  if (explained_) why_ = std::move(decided.why_);
  count_ = total_ = std::max<std::size_t>(decided.count(), 1);
  all_ = decided.count() > 0 && decided.all_;
  if (all_) return;
  if (decided.count() == 0) drawn_->Clear();
  drawn_->AddDifference(in_, scope);
}

bool Outcomes::Draws(std::uint64_t weight) {
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
