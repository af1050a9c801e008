#include "fairlead/directory/held_list.h"

#include <utility>

namespace fairlead::internal {

bool HeldList::Set(ListKind kind, std::vector<Url> urls, std::vector<std::string> unreadable, Clock::SteadyTime now) {
  if (kind == ListKind::kEmpty) {
    if (held_) return false;
    if (!urls_.empty()) {
      lost_ = std::move(urls_);
      lost_at_ = now;
    }
    held_ = holds_since_.has_value() && !news_ && LostAbout(*holds_since_);
    urls = held_ ? lost_ : std::vector<Url>();
  } else {
    held_ = false;
    lost_.clear();
    news_ = true;
  }
  urls_ = std::move(urls);
  unreadable_ = std::move(unreadable);
  return true;
}

bool HeldList::LostAbout(Clock::SteadyTime when) const {
  return !lost_.empty() && IsOneLoss(lost_at_, when);
}

bool HeldList::Hold(Clock::SteadyTime now) {
  holds_since_ = now;
  news_ = false;
  if (!LostAbout(now)) return false;
  urls_ = lost_;
  held_ = true;
  return true;
}

bool HeldList::LetGo(Clock::SteadyTime now) {
  holds_since_.reset();
  if (!std::exchange(held_, false)) return false;
  return Set(ListKind::kEmpty, {}, {}, now);
}

}  // namespace fairlead::internal
