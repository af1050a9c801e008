#include "fairlead/registry/watch_table.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/list_cache.h"

namespace fairlead::internal {
namespace {

std::string PathName(const RegistryKey& key) {
  return absl::StrCat(key.service, "/", ToAbsl(CategoryName(key.category)));
}

void AddUnreadable(const WatchedList& list, std::vector<std::string>& all) {
  for (const ChildList::Unreadable& child : list.children.unreadable()) {
    all.push_back(absl::StrCat(PathName(list.key), ": ", child.text));
  }
}

}  // namespace

const WatchedList& WatchTable::Acquire(const RegistryKey& key, ListWatcher& watcher) {
  if (const auto known = watches_.find(key); known != watches_.end()) {
    known->second.watchers.push_back(&watcher);
    return known->second.list;
  }
  const std::uint64_t id = ++last_id_;
  Watch& watch = watches_
                     .try_emplace(key, id, env_.failures,
                                  WatchedList(key, *env_.context.pool, env_.context.seed,
                                              UrlMark(key.category, env_.backend->ChildrenAreEncoded())))
                     .first->second;
  watch.watchers.push_back(&watcher);
  watch.stale_since = env_.Now();
  env_.backend->Watch(key.service, key.category, env_.Guarded([this, key, id](const ChildrenAnswer& answer) {
    if (Watch* now = Find(key, id)) OnAnswer(*now, answer);
  }));
  ScheduleResync();
  return watch.list;
}

void WatchTable::Release(const RegistryKey& key, ListWatcher& watcher) {
  const auto at = watches_.find(key);
  if (at == watches_.end()) return;
  std::erase(at->second.watchers, &watcher);
  if (!at->second.watchers.empty()) return;
  unreadable_ -= at->second.list.children.unreadable().size();
  watches_.erase(at);
  env_.backend->Unwatch(key.service, key.category);
}

void WatchTable::Expect(const RegistryKey& key) {
  if (const auto at = watches_.find(key); at != watches_.end()) at->second.list.expected = true;
}

void WatchTable::OnCacheLoaded() {
  for (auto& [key, watch] : watches_) {
    if (!std::exchange(watch.awaits_cache, false)) continue;
    OnMissing(watch);
    if (watch.list.answered) watch.stale_since.reset();
  }
}

void WatchTable::Outdate(Clock::SteadyTime since) {
  for (auto& [key, watch] : watches_) {
    if (!watch.stale_since) watch.stale_since = since;
  }
}

std::optional<Clock::SteadyTime> WatchTable::stale_since() const {
  std::optional<Clock::SteadyTime> oldest;
  for (const auto& [key, watch] : watches_) {
    if (watch.stale_since && (!oldest || *watch.stale_since < *oldest)) oldest = watch.stale_since;
  }
  return oldest;
}

std::size_t WatchTable::failing() const {
  return static_cast<std::size_t>(
      std::count_if(watches_.begin(), watches_.end(), [](const auto& one) { return one.second.failure.failing(); }));
}

void WatchTable::Destroy() {
  resync_.Cancel();
  for (const auto& [key, watch] : watches_) env_.backend->Unwatch(key.service, key.category);
  watches_.clear();
  unreadable_ = 0;
}

WatchTable::Watch* WatchTable::Find(const RegistryKey& key, std::uint64_t id) {
  const auto at = watches_.find(key);
  return at == watches_.end() || at->second.id != id ? nullptr : &at->second;
}

bool WatchTable::OnAnswer(Watch& watch, const ChildrenAnswer& answer) {
  if (answer.generation < newest_generation_) {
    ++env_.counters.stale;
    return false;
  }
  newest_generation_ = answer.generation;
  const bool changed = Accept(watch, answer);
  if (!answer.status.ok() || !watch.list.answered || watch.list.kind == ListKind::kUnknown) {
    if (!watch.stale_since) watch.stale_since = env_.Now();
  } else {
    watch.stale_since.reset();
  }
  return changed;
}

bool WatchTable::Accept(Watch& watch, const ChildrenAnswer& answer) {
  if (!answer.status.ok()) return OnFailure(watch, answer.status);
  watch.failure.Mend();
  const bool changed = answer.missing ? OnMissing(watch) : OnChildren(watch, answer.children);
  if (!changed) ++env_.counters.unchanged;
  return changed;
}

bool WatchTable::OnChildren(Watch& watch, const std::vector<std::string>& children) {
  WatchedList& list = watch.list;
  watch.missing = false;
  watch.awaits_cache = false;
  watch.grace.Cancel();
  unreadable_ -= list.children.unreadable().size();
  const bool changed = list.children.Update(children);
  unreadable_ += list.children.unreadable().size();
  if (changed) LogUnreadable(list);
  ListKind kind = list.children.empty() ? ListKind::kEmpty : ListKind::kList;
  if (list.children.nothing_readable()) kind = ListKind::kUnknown;
  if (list.answered && !changed && kind == list.kind) return false;
  list.answered = true;
  list.kind = kind;
  Tell(watch, changed ? ListChange::kChildren : ListChange::kKind);
  return true;
}

bool WatchTable::OnMissing(Watch& watch) {
  WatchedList& list = watch.list;
  if (!list.answered && !list.expected) {
    for (ListWatcher* watcher : watch.watchers) watcher->OnFirstMissing(list.key.category);
    watch.awaits_cache = !list.expected && env_.cache != nullptr && !env_.cache->loaded();
    if (watch.awaits_cache) return false;
  }
  // Nothing was there before: nothing is lost by saying "none", and who waits for a first answer has it.
  if (list.answered ? list.children.empty() : !list.expected) return OnChildren(watch, {});
  if (watch.missing) return false;
  // A path that had children vanishes when somebody wipes or moves the tree, and mostly comes back.
  watch.missing = true;
  watch.grace = env_.After(env_.options.missing_grace, [this, key = list.key, id = watch.id] {
    if (Watch* now = Find(key, id); now != nullptr && now->missing) EndGrace(*now);
  });
  if (!list.answered || list.kind == ListKind::kUnknown) return false;
  list.kind = ListKind::kUnknown;
  Tell(watch, ListChange::kKind);
  return true;
}

void WatchTable::EndGrace(Watch& watch) {
  env_.context.log->Warn(
      "FL-1-4", PathName(watch.list.key),
      absl::StrCat("the path is missing, or new and without a child, for ",
                   env_.options.missing_grace.count(), " ms: taken for empty"));
  OnChildren(watch, {});
  watch.stale_since.reset();
}

bool WatchTable::OnFailure(Watch& watch, const absl::Status& status) {
  watch.failure.Fail(status);
  env_.SaysFailed(PathName(watch.list.key), "reading failed", status);
  watch.missing = false;
  watch.awaits_cache = false;
  watch.grace.Cancel();
  // Without an earlier answer there is nothing to call unknown.
  if (!watch.list.answered) {
    for (ListWatcher* watcher : watch.watchers) watcher->OnNoAnswer(watch.list.key.category);
    return false;
  }
  if (watch.list.kind == ListKind::kUnknown) return false;
  watch.list.kind = ListKind::kUnknown;
  Tell(watch, ListChange::kKind);
  return true;
}

void WatchTable::Tell(Watch& watch, ListChange change) {
  for (ListWatcher* watcher : watch.watchers) watcher->OnList(watch.list, change);
}

void WatchTable::LogUnreadable(const WatchedList& list) {
  std::size_t logged = 0;
  for (const ChildList::Unreadable& child : list.children.unreadable()) {
    if (list.children.children()[child.child].came_from != ChildList::kNew) continue;
    ++env_.counters.skipped;
    if (++logged > Logger::kMostOfEach) continue;
    env_.context.log->WarnOf("FL-1-2", PathName(list.key), absl::StrCat(child.hash),
                             absl::StrCat("a child is skipped, the others are used: ", child.text));
  }
}

std::vector<std::string> WatchTable::Unreadable() const {
  std::vector<std::string> all;
  for (const auto& [key, watch] : watches_) AddUnreadable(watch.list, all);
  return all;
}

std::vector<std::string> WatchTable::UnreadableOf(const std::string& service) const {
  std::vector<std::string> all;
  // A service's categories stand side by side.
  for (auto at = watches_.lower_bound({service, Category{}}); at != watches_.end() && at->first.service == service;
       ++at) {
    AddUnreadable(at->second.list, all);
  }
  return all;
}

// A product's events have been lost before; one look at a time, spread over the period and never in step with
// other clients, finds what they missed.
void WatchTable::ScheduleResync() {
  const std::chrono::nanoseconds period = env_.options.resync_period;
  if (resync_scheduled_ || watches_.empty() || period.count() == 0) return;
  resync_scheduled_ = true;
  const std::chrono::nanoseconds slice = period / static_cast<std::int64_t>(watches_.size());
  const auto jitter = env_.random.Below(static_cast<std::uint64_t>(slice.count()) + 1);
  resync_ = env_.After(slice / 2 + std::chrono::nanoseconds(static_cast<std::int64_t>(jitter)), [this] {
    resync_scheduled_ = false;
    Resync();
    ScheduleResync();
  });
}

void WatchTable::Resync() {
  if (!env_.connected() || watches_.empty()) return;
  auto at = watches_.upper_bound(resync_from_);
  if (at == watches_.end()) at = watches_.begin();
  resync_from_ = at->first;
  const Watch& watch = at->second;
  // The first answer is the watch's own.
  if (!watch.list.answered) return;
  env_.backend->Read(at->first.service, at->first.category,
                     env_.Guarded([this, key = at->first, id = watch.id](const ChildrenAnswer& answer) {
                       Watch* now = Find(key, id);
                       if (now == nullptr || !answer.status.ok() || !OnAnswer(*now, answer)) return;
                       ++env_.counters.resync_repairs;
                       env_.context.log->Warn("FL-1-7", PathName(key), "a change was found by reading again");
                     }));
}

}  // namespace fairlead::internal
