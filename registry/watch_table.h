#ifndef FAIRLEAD_REGISTRY_WATCH_TABLE_H_
#define FAIRLEAD_REGISTRY_WATCH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/executor.h"
#include "fairlead/registry/child_list.h"
#include "fairlead/registry/notification.h"
#include "fairlead/registry/registry_environment.h"
#include "fairlead/registry/registry_key.h"

namespace fairlead::internal {

enum class ListChange : std::uint8_t {
  kKind,      // the children are the same, what is known of them changed
  kChildren,  // the children changed, Child::came_from tells how
};

// What is known of one path of the registry.
struct WatchedList {
  WatchedList(RegistryKey path, UrlPool& pool, std::uint64_t seed, std::string_view mark)
      : key(std::move(path)), children(pool, seed, mark) {}

  const RegistryKey key;
  ChildList children;     // as last read, also while `kind` is kUnknown
  bool answered = false;  // false: nothing below means anything yet
  bool expected = false;  // somebody knows from elsewhere that there were children
  ListKind kind = ListKind::kUnknown;
};

// Hears of changes of a list. Must not change the table from within.
class ListWatcher {
 public:
  virtual ~ListWatcher() = default;
  virtual void OnList(const WatchedList& list, ListChange change) = 0;
  // The list could not be read, and never was.
  virtual void OnNoAnswer(Category category) = 0;
  // The path is missing, at its first answer. Who knows of children from an earlier life says so with Expect.
  virtual void OnFirstMissing(Category category) = 0;
};

// The watches of a registry, one for each path that anybody wants. Judges the backend's answers: drops those
// of an ended session, tells news from repetition, empty from unknown. REQUIRES: executor.
class WatchTable {
 public:
  explicit WatchTable(RegistryEnvironment& env) : env_(env) {}

  // `watcher` hears of every later change until Release. The list lives until then.
  const WatchedList& Acquire(const RegistryKey& key, ListWatcher& watcher);
  void Release(const RegistryKey& key, ListWatcher& watcher);
  // Children were here before the first answer: should that be that the path is missing, it may come back.
  void Expect(const RegistryKey& key);
  // Lists that were missing at their first answer, while it was not known yet whether there were children before.
  void OnCacheLoaded();
  // Until it is answered again, every list may be other than the registry's, `since` then.
  void Outdate(Clock::SteadyTime since);
  void Destroy();

  // Since when some list is not known to be right; none: all of them are.
  std::optional<Clock::SteadyTime> stale_since() const;
  // Lists whose last read failed; the backend keeps trying.
  std::size_t failing() const;
  std::size_t size() const { return watches_.size(); }
  std::vector<std::string> Unreadable() const;
  // Those of one service.
  std::vector<std::string> UnreadableOf(const std::string& service) const;
  std::size_t unreadable_count() const { return unreadable_; }

 private:
  struct Watch {
    Watch(std::uint64_t number, FailureList& failures, WatchedList start)
        : id(number), list(std::move(start)), failure(failures) {}
    const std::uint64_t id;
    WatchedList list;
    std::vector<ListWatcher*> watchers;
    bool missing = false;  // and in its grace
    bool awaits_cache = false;
    Timer grace;
    FailureList::Item failure;  // of the last answer
    std::optional<Clock::SteadyTime> stale_since;
  };

  Watch* Find(const RegistryKey& key, std::uint64_t id);
  // True when the answer said something new.
  bool OnAnswer(Watch& watch, const ChildrenAnswer& answer);
  bool Accept(Watch& watch, const ChildrenAnswer& answer);
  bool OnChildren(Watch& watch, const std::vector<std::string>& children);
  bool OnMissing(Watch& watch);
  bool OnFailure(Watch& watch, const absl::Status& status);
  void EndGrace(Watch& watch);
  void Tell(Watch& watch, ListChange change);
  void LogUnreadable(const WatchedList& list);
  void ScheduleResync();
  void Resync();

  RegistryEnvironment& env_;
  std::map<RegistryKey, Watch> watches_;
  std::size_t unreadable_ = 0;  // children in all lists
  std::uint64_t last_id_ = 0;
  std::uint64_t newest_generation_ = 0;
  Timer resync_;
  bool resync_scheduled_ = false;
  RegistryKey resync_from_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_WATCH_TABLE_H_
