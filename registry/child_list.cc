#include "fairlead/registry/child_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/hash.h"
#include "fairlead/url/match.h"
#include "fairlead/url/url_hash.h"

namespace fairlead::internal {
namespace {

constexpr std::size_t kLongestReason = 512;
// So many new children are each looked for among all; more of them, and all are looked at together.
constexpr std::size_t kFewNew = 8;

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
  std::vector<std::uint64_t> hashes;
  hashes.reserve(texts.size());
  for (const std::string& text : texts) hashes.push_back(HashBytes(text, seed_));
  if (SaysTheSame(hashes)) return false;

  auto index = std::make_unique<Texts>();
  index->Reserve(hashes.size());
  std::vector<std::uint32_t> chosen;  // without repetitions
  chosen.reserve(hashes.size());
  for (std::uint32_t i = 0; i < hashes.size(); ++i) {
    if (index->Add(hashes[i])) chosen.push_back(i);
  }

  std::vector<Child> children;
  children.reserve(chosen.size());
  std::vector<Unreadable> unreadable;
  std::vector<std::uint32_t> fresh;
  std::size_t moved = 0;  // of the unreadable ones, those that were there
  for (const std::uint32_t i : chosen) {
    const auto place = static_cast<std::uint32_t>(children.size());
    Child& child = children.emplace_back();
    if (const std::uint32_t known = texts_->Find(hashes[i]); known != kNew) {
      child.came_from = known;
      child.url = std::move(children_[known].url);
      child.url_hash = children_[known].url_hash;
      if (child.url.empty()) {
        const auto old = std::lower_bound(unreadable_.begin(), unreadable_.end(), known,
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
      child.url_hash = static_cast<std::uint32_t>(child.url.Hash()) & 0x7fffffff;
      fresh.push_back(place);
    } else {
      unreadable.push_back({place,
                            Shortened(url.ok() ? url->ToString() + ": not stored the way urls are stored here"
                                               : std::string(url.status().message())),
                            foreign, hashes[i]});
    }
  }
  texts_ = std::move(index);
  children_ = std::move(children);
  unreadable_changed_ = moved != unreadable.size() || moved != unreadable_.size();
  unreadable_ = std::move(unreadable);
  foreign_ = static_cast<std::size_t>(std::count_if(unreadable_.begin(), unreadable_.end(),
                                                    [](const Unreadable& child) { return child.foreign; }));
  // A list without twins, the usual one, costs what changed.
  if (twins_ || fresh.size() > kFewNew ||
      std::any_of(fresh.begin(), fresh.end(), [this](std::uint32_t i) { return HasTwin(children_[i]); })) {
    MarkShadowed();
  }
  return true;
}

bool ChildList::SaysTheSame(const std::vector<std::uint64_t>& hashes) const {
  std::vector<bool> seen(children_.size());
  std::size_t different = 0;
  for (const std::uint64_t hash : hashes) {
    const std::uint32_t known = texts_->Find(hash);
    if (known == kNew) return false;
    if (!seen[known]) ++different;
    seen[known] = true;
  }
  return different == texts_->size();
}

void ChildList::Texts::Reserve(std::size_t count) {
  hashes_.reserve(count);
  places_.reserve(count);
}

bool ChildList::Texts::Add(std::uint64_t hash) {
  if (places_.contains(hash)) return false;
  hashes_.push_back(hash);
  places_.insert(static_cast<std::uint32_t>(hashes_.size() - 1));
  return true;
}

std::uint32_t ChildList::Texts::Find(std::uint64_t hash) const {
  const auto at = places_.find(hash);
  return at == places_.end() ? kNew : *at;
}

bool ChildList::HasTwin(const Child& child) const {
  return std::any_of(children_.begin(), children_.end(), [&](const Child& other) {
    return other.url_hash == child.url_hash && &other != &child && other.url == child.url;
  });
}

void ChildList::MarkShadowed() {
  absl::flat_hash_map<Url, std::uint32_t, UrlHash> best;
  best.reserve(children_.size());
  twins_ = false;
  for (std::uint32_t i = 0; i < children_.size(); ++i) {
    Child& child = children_[i];
    if (child.url.empty()) continue;
    const auto [at, first] = best.try_emplace(child.url, i);
    if (first) continue;
    twins_ = true;
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
