#ifndef FAIRLEAD_REGISTRY_SUBSCRIPTION_TABLE_H_
#define FAIRLEAD_REGISTRY_SUBSCRIPTION_TABLE_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/operation_retry.h"
#include "fairlead/registry/registry_environment.h"
#include "fairlead/registry/subscription.h"
#include "fairlead/registry/watch_table.h"
#include "fairlead/url/url.h"
#include "fairlead/url/url_hash.h"

namespace fairlead::internal {

// Who listens to what. A (consumer url, listener) pair has a slot in each Subscription that it hears: one, or
// one for each service when the interface is `*`. A slot remembers what its listener was told and is brought
// up to date by a task of its own, so that a listener may do anything from within Notify, several changes in
// a row are told as one, and a newcomer gets the replay that others had before. What its listener threw at is not
// counted as told, so the next delivery, at the latest after a pause, tells it what is known by then. REQUIRES:
// executor.
class SubscriptionTable {
 public:
  explicit SubscriptionTable(RegistryEnvironment& env) : env_(env), watches_(env) {}

  void Subscribe(const Url& consumer, const RegistryCallOptions& call, std::shared_ptr<NotifyListener> host,
                 Done first_notified);
  void Unsubscribe(const Url& consumer, const std::shared_ptr<NotifyListener>& host);
  // Every listener is told that the registry itself has changed.
  void TellOfRegistry();
  // Nobody is notified any more; who waits for a first notification gets kCancelled.
  void Destroy();

  // Those who wait for a first list that can come neither from the registry nor from the file are told, and their wish ends.
  void OnRefused(const absl::Status& why);

  // What subscriptions without an answer may use in the meantime has become known.
  void OnCacheLoaded();

  // With the old session everything that watched ended, `since` then.
  void Outdate(Clock::SteadyTime since) { watches_.Outdate(since); }

  std::size_t size() const { return interests_.size(); }
  // Reads and notifications that failed and are tried again.
  std::size_t retries_pending() const;
  // Services of subscriptions that go by the list cache file.
  std::size_t cached() const;
  const WatchTable& watches() const { return watches_; }

 private:
  // One pair. Slots share it: clearing `alive` silences them all.
  struct Listener {
    std::shared_ptr<NotifyListener> host;
    bool alive = true;
    bool registry_told = true;  // false: a task is on its way that calls OnRegistryChange
    // Slots without a first notification, and one more while the services are not known yet.
    std::size_t unheard = 0;
    Done first;  // while somebody waits
    Timer deadline;
  };
  struct Failing {
    explicit Failing(const Url& consumer, const RegistryOptions& options) : retry(consumer, options) {}
    std::array<std::uint64_t, kCategoryCount> versions{};  // at which the listener threw; 0: it did not
    bool retry_due = false;                                // it threw just now
    OperationRetry retry;
  };
  struct Slot {
    std::shared_ptr<Listener> listener;
    std::array<std::uint64_t, kCategoryCount> told{};  // versions
    std::unique_ptr<Failing> failing;                  // made when the listener throws
    bool heard_all = false;
    bool scheduled = false;
  };
  struct Heard {
    Heard(WatchTable& watches, const std::string& service, const Url& consumer, std::uint64_t& versions);
    Subscription subscription;
    std::vector<std::shared_ptr<Slot>> slots;
    Timer patience;            // with the registry, before cached lists are used
    bool wants_cache = false;  // as soon as it is loaded
  };
  // What one consumer url asks for.
  struct Interest {
    Url consumer;
    bool all_services = false;
    bool protects = false;  // a caller goes on with its last providers when there are none any more
    std::vector<std::shared_ptr<Listener>> listeners;
    std::map<std::string, std::shared_ptr<Heard>> services;
  };

  void AddService(Interest& interest, const std::string& service);
  void AddSlot(const std::shared_ptr<Heard>& heard, const std::shared_ptr<Listener>& listener);
  void ScheduleAll(const std::shared_ptr<Heard>& heard);
  void Schedule(const std::shared_ptr<Heard>& heard, const std::shared_ptr<Slot>& slot);
  void Deliver(const std::shared_ptr<Heard>& heard, const std::shared_ptr<Slot>& slot);
  // Of one category. False when the listener threw, now or before.
  bool DeliverNews(Heard& heard, Slot& slot, Category category);
  void RetryLater(const std::shared_ptr<Heard>& heard, const std::shared_ptr<Slot>& slot);
  void OneHeard(const std::shared_ptr<Listener>& listener);
  void TellOfRegistry(const std::shared_ptr<Listener>& listener);
  bool CacheHasList(const Heard& heard, Category category) const;
  void UseCache(Heard& heard, std::optional<Category> only);
  void Remember(const Heard& heard);

  void OnNames(const absl::StatusOr<std::vector<std::string>>& names);
  void OnDeadline(const Url& consumer, const std::shared_ptr<Listener>& listener,
                  std::chrono::milliseconds timeout);
  // The file's lists, or else the end of the wish.
  void GiveUp(const Url& consumer, const std::shared_ptr<Listener>& listener, const absl::Status& why);
  static bool Awaits(const Interest& interest);
  void EndListener(Interest& interest, const std::shared_ptr<Listener>& listener, absl::Status why);
  void EndInterestIfUnheard(const Url& consumer);

  RegistryEnvironment& env_;
  WatchTable watches_;
  std::uint64_t versions_ = 0;
  absl::flat_hash_map<Url, std::unique_ptr<Interest>, UrlHash> interests_;
  std::vector<Interest*> all_services_;  // those with interface `*`
  // Of all services, while somebody wants them and they are known.
  std::optional<std::set<std::string>> names_;
  FailureList::Item names_failure_{env_.failures};  // of the last answer
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_SUBSCRIPTION_TABLE_H_
