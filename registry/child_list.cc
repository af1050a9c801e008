#include "fairlead/registry/child_list.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
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

// Finds texts in the last list by their hashes. Most stand where they stood, so an index of all is made only when one
// does not, and is not kept: it would cost more memory than the hashes.
class Places {
 public:
  explicit Places(const std::vector<std::uint64_t>& hashes) : hashes_(hashes) {}

  std::uint32_t Find(std::uint64_t hash) {
    for (std::size_t at = next_; at < std::min(next_ + 2, hashes_.size()); ++at) {
      if (hashes_[at] == hash) return Found(static_cast<std::uint32_t>(at));
    }
    if (index_.empty() && !hashes_.empty()) {
      index_.reserve(hashes_.size());
      for (std::uint32_t i = 0; i < hashes_.size(); ++i) index_.emplace(hashes_[i], i);
    }
    const auto at = index_.find(hash);
    return at == index_.end() ? ChildList::kNew : Found(at->second);
  }

 private:
  std::uint32_t Found(std::uint32_t place) {
    next_ = place + std::size_t{1};
    return place;
  }

  const std::vector<std::uint64_t>& hashes_;
  std::size_t next_ = 0;  // behind the one found last
  absl::flat_hash_map<std::uint64_t, std::uint32_t> index_;
};

}  // namespace

absl::StatusOr<Url> ChildList::Read(const std::string& text) const {
  absl::StatusOr<Url> url = pool_.Parse(text);
  if (url.ok() && url->protocol().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(url->ToString(), ": expected protocol://host:port/..."));
  }
  return url;
}

bool ChildList::Update(const std::vector<std::string>& texts) {
  struct Chosen {
    std::uint64_t hash;
    std::uint32_t text, known;  // place in the list; in the last one
  };
  std::vector<Chosen> chosen;  // without repetitions
  chosen.reserve(texts.size());
  {
    Places last(hashes_);
    std::vector<bool> kept(hashes_.size());
    absl::flat_hash_set<std::uint64_t> added;
    for (std::uint32_t i = 0; i < texts.size(); ++i) {
      const std::uint64_t hash = HashBytes(texts[i], seed_);
      const std::uint32_t known = last.Find(hash);
      if (known == kNew ? !added.insert(hash).second : kept[known]) continue;
      if (known != kNew) kept[known] = true;
      chosen.push_back({hash, i, known});
    }
    if (added.empty() && chosen.size() == hashes_.size()) return false;
  }

  std::vector<std::uint64_t> hashes;
  hashes.reserve(chosen.size());
  std::vector<Child> children;
  children.reserve(chosen.size());
  std::vector<Unreadable> unreadable;
  std::vector<std::uint32_t> fresh;
  std::size_t moved = 0;  // of the unreadable ones, those that were there
  for (const auto& [hash, i, known] : chosen) {
    const auto place = static_cast<std::uint32_t>(children.size());
    hashes.push_back(hash);
    Child& child = children.emplace_back();
    if (known != kNew) {
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
                            foreign, hash});
    }
  }
  hashes_ = std::move(hashes);
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
