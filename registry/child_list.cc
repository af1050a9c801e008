#include "fairlead/registry/child_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/hash.h"
#include "fairlead/url/match.h"

namespace fairlead::internal {
namespace {

constexpr std::size_t kLongestReason = 512;

std::string Shortened(std::string text) {
  if (text.size() > kLongestReason) {
    text.resize(kLongestReason);
    text += "...";
  }
  return text;
}

}  // namespace

absl::StatusOr<Url> ChildList::Read(const std::string& text) const {
  absl::StatusOr<Url> url = pool_.Parse(text);
  if (url.ok() && url->protocol().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(url->ToString(), ": expected protocol://host:port/..."));
  }
  return url;
}

bool ChildList::Update(const std::vector<std::string>& texts) {
  std::vector<Fingerprint> prints;
  prints.reserve(texts.size());
  for (const std::string& text : texts) prints.push_back({HashBytes(text, seed_), text.size()});
  if (SaysTheSame(prints)) return false;

  Index index;
  index.reserve(prints.size());
  std::vector<std::uint32_t> chosen;  // without repetitions
  chosen.reserve(prints.size());
  for (std::uint32_t i = 0; i < prints.size(); ++i) {
    if (index.try_emplace(prints[i], static_cast<std::uint32_t>(chosen.size())).second) chosen.push_back(i);
  }

  std::vector<Child> children;
  children.reserve(chosen.size());
  std::vector<Unreadable> unreadable;
  std::size_t moved = 0;  // of the unreadable ones, those that were there
  for (const std::uint32_t i : chosen) {
    const auto place = static_cast<std::uint32_t>(children.size());
    Child& child = children.emplace_back();
    if (const auto known = index_.find(prints[i]); known != index_.end()) {
      child.came_from = known->second;
      child.url = std::move(children_[known->second].url);
      if (child.url.empty()) {
        const auto old = std::lower_bound(unreadable_.begin(), unreadable_.end(), known->second,
                                          [](const Unreadable& a, std::uint32_t b) { return a.child < b; });
        unreadable.push_back({place, std::move(old->text), old->foreign, old->hash});
        ++moved;
      }
      continue;
    }
    absl::StatusOr<Url> url = Read(texts[i]);
    const bool foreign = texts[i].find(mark_) == std::string::npos;
    if (url.ok() && !foreign) {
      child.url = *std::move(url);
      Count(child.url);
    } else {
      unreadable.push_back({place,
                            Shortened(url.ok() ? url->ToString() + ": not stored the way urls are stored here"
                                               : std::string(url.status().message())),
                            foreign, prints[i].hash});
    }
  }
  // What was not moved over is gone.
  for (const Child& old : children_) {
    if (!old.url.empty()) Uncount(old.url);
  }
  index_ = std::move(index);
  children_ = std::move(children);
  unreadable_changed_ = moved != unreadable.size() || moved != unreadable_.size();
  unreadable_ = std::move(unreadable);
  foreign_ = static_cast<std::size_t>(std::count_if(unreadable_.begin(), unreadable_.end(),
                                                    [](const Unreadable& child) { return child.foreign; }));
  if (twins_ > 0) MarkShadowed();
  return true;
}

bool ChildList::SaysTheSame(const std::vector<Fingerprint>& prints) const {
  std::vector<bool> seen(children_.size());
  std::size_t different = 0;
  for (const Fingerprint& print : prints) {
    const auto known = index_.find(print);
    if (known == index_.end()) return false;
    if (!seen[known->second]) ++different;
    seen[known->second] = true;
  }
  return different == index_.size();
}

void ChildList::Count(const Url& url) {
  if (++copies_[url] > 1) ++twins_;
}

void ChildList::Uncount(const Url& url) {
  const auto at = copies_.find(url);
  if (at->second > 1) {
    --at->second;
    --twins_;
  } else {
    copies_.erase(at);
  }
}

void ChildList::MarkShadowed() {
  absl::flat_hash_map<Url, std::uint32_t, UrlHash> best;
  best.reserve(children_.size());
  for (std::uint32_t i = 0; i < children_.size(); ++i) {
    Child& child = children_[i];
    if (child.url.empty()) continue;
    const auto [at, first] = best.try_emplace(child.url, i);
    if (first) continue;
    Child& rival = children_[at->second];
    if (child.url.timestamp_ms() > rival.url.timestamp_ms()) {
      rival.shadowed = true;
      at->second = i;
    } else {
      child.shadowed = true;
    }
  }
}

std::string_view UrlMark(Category category, bool encoded) {
  if (category == Category::kProviders) return {};
  return encoded ? "%3A%2F%2F" : "://";
}

bool MatchesIn(Category category, const Url& consumer, const Url& child) {
  return category == Category::kProviders ? MatchesPushed(consumer.parts(), child.parts())
                                          : Matches(consumer.parts(), child.parts());
}

}  // namespace fairlead::internal
