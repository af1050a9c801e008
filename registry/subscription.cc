#include "fairlead/registry/subscription.h"

#include <algorithm>
#include <utility>

namespace fairlead::internal {

Subscription::Subscription(WatchTable& watches, std::string service, Url consumer,
                           std::vector<Category> categories, std::uint64_t& versions)
    : watches_(watches),
      service_(std::move(service)),
      consumer_(std::move(consumer)),
      categories_(std::move(categories)),
      versions_(versions) {}

void Subscription::Start(absl::AnyInvocable<void()> on_news, absl::AnyInvocable<void()> on_unreadable,
                         absl::AnyInvocable<void(Category, NoAnswer)> on_no_answer) {
  watching_ = true;
  for (const Category category : categories_) {
    const WatchedList& list = watches_.Acquire({service_, category}, *this);
    if (!list.answered) continue;
    Slice& slice = slices_[static_cast<std::size_t>(category)];
    Publish(list, slice, Rematch(list, slice, true));
  }
  on_news_ = std::move(on_news);
  on_unreadable_ = std::move(on_unreadable);
  on_no_answer_ = std::move(on_no_answer);
}

void Subscription::Stop() {
  if (!std::exchange(watching_, false)) return;
  for (const Category category : categories_) watches_.Release({service_, category}, *this);
}

bool Subscription::UseCached(const CachedLists& cached, std::optional<Category> only) {
  std::vector<Category> open;
  for (const Category category : categories_) {
    if (awaits(category) && (!only || *only == category)) open.push_back(category);
  }
  const auto of = [&](Category category) -> const std::optional<CachedList>& {
    return cached.lists[static_cast<std::size_t>(category)];
  };
  if (std::none_of(open.begin(), open.end(), [&](Category category) { return of(category).has_value(); })) return false;
  for (const Category category : open) {
    Slice& slice = slices_[static_cast<std::size_t>(category)];
    Notification news{service_, category, ++versions_, ListKind::kUnknown, {}};
    news.cached = true;
    if (const std::optional<CachedList>& list = of(category)) {
      news.kind = list->kind;
      news.urls = list->urls;
    }
    if (news.kind == ListKind::kList) watches_.Expect({service_, category});
    slice.current = std::make_shared<const Notification>(std::move(news));
    if (slice.current->kind != ListKind::kUnknown) slice.known = slice.current;
  }
  on_news_();
  return true;
}

bool Subscription::awaits_any() const {
  return std::any_of(categories_.begin(), categories_.end(), [this](Category category) { return awaits(category); });
}

bool Subscription::uses_cached() const {
  return std::any_of(categories_.begin(), categories_.end(), [this](Category category) {
    return slice(category).current != nullptr && slice(category).current->cached;
  });
}

KnownLists Subscription::known() const {
  KnownLists known{consumer_, {}, false};
  for (std::size_t i = 0; i < slices_.size(); ++i) known.lists[i] = slices_[i].known;
  return known;
}

void Subscription::End() {
  Stop();
  for (const Category category : categories_) {
    Slice& slice = slices_[static_cast<std::size_t>(category)];
    if (slice.current != nullptr && slice.current->kind == ListKind::kEmpty) continue;
    slice.known = slice.current = std::make_shared<const Notification>(
        Notification{service_, category, ++versions_, ListKind::kEmpty, {}});
  }
  if (on_news_) on_news_();
}

void Subscription::OnList(const WatchedList& list, ListChange change) {
  Slice& slice = slices_[static_cast<std::size_t>(list.key.category)];
  const bool first = !slice.answered;
  Publish(list, slice, (first || change == ListChange::kChildren) && Rematch(list, slice, first));
  if (change == ListChange::kChildren && list.children.unreadable_changed()) on_unreadable_();
}

bool Subscription::Rematch(const WatchedList& list, Slice& slice, bool from_scratch) const {
  const std::vector<ChildList::Child>& now = list.children.children();
  std::vector<std::uint8_t> marks(now.size(), 0);
  std::size_t counted_before = 0;
  std::size_t still_counted = 0;
  bool changed = false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const ChildList::Child& child = now[i];
    if (child.url.empty()) continue;
    const bool known = !from_scratch && child.came_from != ChildList::kNew;
    const std::uint8_t before = known ? slice.children[child.came_from] : std::uint8_t{0};
    const bool matches =
        known ? (before & kMatches) != 0 : MatchesIn(list.key.category, consumer_, child.url);
    const bool counts = matches && !child.shadowed;
    marks[i] = static_cast<std::uint8_t>((matches ? kMatches : 0) | (counts ? kCounts : 0));
    if (counts != ((before & kCounts) != 0)) changed = true;
    if ((before & kCounts) != 0) ++still_counted;
  }
  for (const std::uint8_t mark : slice.children) counted_before += (mark & kCounts) != 0 ? 1 : 0;
  slice.children = std::move(marks);
  return changed || counted_before != still_counted;
}

void Subscription::Publish(const WatchedList& list, Slice& slice, bool children_changed) {
  slice.answered = true;
  const auto counts = [](std::uint8_t mark) { return (mark & kCounts) != 0; };
  ListKind kind = list.kind;
  if (kind == ListKind::kList && std::none_of(slice.children.begin(), slice.children.end(), counts)) {
    kind = ListKind::kEmpty;
  }
  std::vector<std::string> unreadable;
  if (kind == ListKind::kList && list.key.category != Category::kProviders) {
    for (const ChildList::Unreadable& child : list.children.unreadable()) {
      if (!child.foreign) unreadable.push_back(child.text);
    }
  }
  if (slice.current != nullptr && slice.current->kind == kind && !slice.current->cached &&
      (kind != ListKind::kList || (!children_changed && slice.current->unreadable == unreadable)))
    return;
  Notification news{service_, list.key.category, ++versions_, kind, {}, std::move(unreadable)};
  if (kind == ListKind::kList) {
    const std::vector<ChildList::Child>& children = list.children.children();
    for (std::size_t i = 0; i < children.size(); ++i) {
      if (counts(slice.children[i])) news.urls.push_back(children[i].url);
    }
  }
  slice.current = std::make_shared<const Notification>(std::move(news));
  if (kind != ListKind::kUnknown) slice.known = slice.current;
  if (on_news_) on_news_();
}

}  // namespace fairlead::internal
