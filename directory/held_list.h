#ifndef FAIRLEAD_DIRECTORY_HELD_LIST_H_
#define FAIRLEAD_DIRECTORY_HELD_LIST_H_

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/clock.h"
#include "fairlead/registry/notification.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// What a service loses in its registry within this time is one loss.
inline bool IsOneLoss(Clock::SteadyTime one, Clock::SteadyTime other) {
  return std::max(one, other) - std::min(one, other) <= std::chrono::seconds(10);
}

// A registry's list of overrides or of rules, which stays in force when it was lost with all providers: a list that
// became empty up to ten seconds before the providers became protected, or becomes so up to ten seconds later without a
// word in between, is held until LetGo, or until there is a new one. Not thread-safe.
class HeldList {
 public:
  // What the registry says, kUnknown apart; `unreadable` = children that are no urls. False: it changes nothing.
  bool Set(ListKind kind, std::vector<Url> urls, std::vector<std::string> unreadable, Clock::SteadyTime now);
  // The providers are protected from here on. True: the list is another one now.
  bool Hold(Clock::SteadyTime now);
  // No more. True: as Hold.
  bool LetGo(Clock::SteadyTime now);

  const std::vector<Url>& urls() const { return urls_; }
  const std::vector<std::string>& unreadable() const { return unreadable_; }
  bool held() const { return held_; }

 private:
  bool LostAbout(Clock::SteadyTime when) const;

  std::vector<Url> urls_;
  std::vector<std::string> unreadable_;
  std::optional<Clock::SteadyTime> holds_since_;
  // The list before it became empty, and when; in force again while `held_`.
  std::vector<Url> lost_;
  Clock::SteadyTime lost_at_{};
  bool held_ = false;
  bool news_ = false;  // there was a list since Hold
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_HELD_LIST_H_
