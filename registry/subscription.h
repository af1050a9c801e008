#ifndef FAIRLEAD_REGISTRY_SUBSCRIPTION_H_
#define FAIRLEAD_REGISTRY_SUBSCRIPTION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/registry/cached_lists.h"
#include "fairlead/registry/notification.h"
#include "fairlead/registry/watch_table.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// One consumer url's view of one service: what of each category's list matches, as the Notifications that say
// so. Knows no listeners. Only children that are new are matched. REQUIRES: executor.
class Subscription final : public ListWatcher {
 public:
  // What one category says. Null: not yet, or never.
  struct Slice {
    std::shared_ptr<const Notification> known;    // the last kList or kEmpty
    std::shared_ptr<const Notification> current;  // the last of all, newer than `known` when kUnknown
    // What a listener that has heard everything up to `version` is told next.
    const Notification* After(std::uint64_t version) const {
      if (known != nullptr && known->version > version) return known.get();
      if (current != nullptr && current->version > version) return current.get();
      return nullptr;
    }

   private:
    friend class Subscription;
    bool answered = false;               // by the registry
    std::vector<std::uint8_t> children;  // of the list, by index: kMatches, kCounts
  };

  // `versions` numbers all notifications of a registry.
  Subscription(WatchTable& watches, std::string service, Url consumer, std::vector<Category> categories,
               std::uint64_t& versions);

  // Begins to watch. `on_news` is called, never from within Start, after a slice changed, `on_unreadable` after
  // the children that cannot be read became others, `on_no_answer` when a category without an answer could not be read,
  // or is missing.
  enum class NoAnswer : std::uint8_t { kFailed, kMissing };
  void Start(absl::AnyInvocable<void()> on_news, absl::AnyInvocable<void()> on_unreadable,
             absl::AnyInvocable<void(Category, NoAnswer)> on_no_answer);
  // Ends the watches; the slices stay. Called before destruction, unless the whole registry goes.
  void Stop();
  // Categories without an answer say what `cached` says of them until they have one; `only` one of them, if given. When
  // it is all of them, those that `cached` does not know are kUnknown: waiting any longer would not help. True when a
  // list was taken.
  bool UseCached(const CachedLists& cached, std::optional<Category> only);
  bool awaits(Category category) const { return slice(category).current == nullptr; }
  bool awaits_any() const;
  bool uses_cached() const;
  // What the categories are known to be; null for those that are not.
  KnownLists known() const;
  // The service is gone: stops, and every category says kEmpty.
  void End();

  const std::string& service() const { return service_; }
  const Url& consumer() const { return consumer_; }
  const std::vector<Category>& categories() const { return categories_; }
  const Slice& slice(Category category) const { return slices_[static_cast<std::size_t>(category)]; }

 private:
  enum Child : std::uint8_t { kMatches = 1, kCounts = 2 };  // kCounts: matches and is not shadowed

  void OnList(const WatchedList& list, ListChange change) override;
  void OnNoAnswer(Category category) override { on_no_answer_(category, NoAnswer::kFailed); }
  void OnFirstMissing(Category category) override { on_no_answer_(category, NoAnswer::kMissing); }
  // True when the children that count changed.
  bool Rematch(const WatchedList& list, Slice& slice, bool from_scratch) const;
  void Publish(const WatchedList& list, Slice& slice, bool children_changed);

  WatchTable& watches_;
  const std::string service_;
  const Url consumer_;
  const std::vector<Category> categories_;
  std::uint64_t& versions_;
  std::array<Slice, kCategoryCount> slices_;
  absl::AnyInvocable<void()> on_news_, on_unreadable_;
  absl::AnyInvocable<void(Category, NoAnswer)> on_no_answer_;
  bool watching_ = false;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_SUBSCRIPTION_H_
