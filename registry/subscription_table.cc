#include "fairlead/registry/subscription_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/registry/list_cache.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {
namespace {

constexpr std::string_view kAllServices = "*";

// The subscription that `consumer`, for interface `*`, has of one service.
Url ForService(const Url& consumer, const std::string& service, UrlPool& pool) {
  UrlParts parts = consumer.parts();
  parts.path = service;
  parts.params.insert_or_assign(names::kInterface, service);
  return Url::Of(std::move(parts), pool);
}

// For how long is each directory's to know. Nothing tells a protection that is over from one that is not, and a list
// of the file only counts until the registry answers.
bool Protects(const Url& consumer, const RegistryCallOptions& call) {
  if (!consumer.BoolParam(names::kEnableEmptyProtection, call.empty_protection)) return false;
  const std::int64_t ms = consumer.IntParam(names::kProtectMaxAge, call.protect_max_age.count());
  return ms < 0 ? call.protect_max_age.count() > 0 : ms > 0;
}

}  // namespace

SubscriptionTable::Heard::Heard(WatchTable& watches, const std::string& service, const Url& consumer,
                                std::uint64_t& versions)
    : subscription(watches, service, consumer, SubscribedCategories(consumer.parts()), versions) {}

void SubscriptionTable::Subscribe(const Url& consumer, const RegistryCallOptions& call,
                                  std::shared_ptr<NotifyListener> host, Done first_notified) {
  const std::string service = consumer.ServiceInterface();
  if (service.empty() || host == nullptr) {
    return env_.PostAnswer(
        std::move(first_notified),
        absl::InvalidArgumentError(
            absl::StrCat(Shortened(consumer.ToString()), host == nullptr ? ": expected a listener"
                                                              : ": expected a service interface as path or "
                                                                "`interface` parameter")));
  }
  if (!call.subscribes) {
    return env_.PostAnswer(std::move(first_notified),
                           absl::FailedPreconditionError(absl::StrCat(
                               "registry ", env_.options.address, " has subscribe=false, so nothing is subscribed; "
                               "take the parameter out, or use another registry for ", Shortened(consumer.ToString()))));
  }
  std::unique_ptr<Interest>& place = interests_[consumer];
  const bool fresh = place == nullptr;
  if (fresh) place = std::make_unique<Interest>(Interest{consumer, service == kAllServices, false, {}, {}});
  Interest& interest = *place;
  interest.protects = interest.protects || Protects(consumer, call);
  const auto same = std::find_if(interest.listeners.begin(), interest.listeners.end(),
                                 [&host](const auto& one) { return one->host == host; });
  if (same != interest.listeners.end()) {
    EndListener(interest, *same, absl::CancelledError("the same pair was subscribed again"));
  }

  const auto listener = std::make_shared<Listener>();
  listener->host = std::move(host);
  if (call.check && consumer.BoolParam(names::kCheck, true)) {
    listener->first = std::move(first_notified);
    listener->deadline =
        env_.After(call.timeout, [this, consumer, timeout = call.timeout, weak = std::weak_ptr(listener)] {
          if (const auto waiting = weak.lock()) OnDeadline(consumer, waiting, timeout);
        });
  } else {
    env_.PostAnswer(std::move(first_notified), absl::OkStatus());
  }
  interest.listeners.push_back(listener);

  ++listener->unheard;  // until all slots are there
  if (fresh && !interest.all_services) AddService(interest, service);
  if (fresh && interest.all_services) {
    all_services_.push_back(&interest);
    if (all_services_.size() == 1) {
      env_.backend->WatchServices(env_.Guarded([this](const auto& names) { OnNames(names); }));
    } else if (names_) {
      for (const std::string& name : *names_) AddService(interest, name);
    }
  } else if (!fresh) {
    for (const auto& [name, heard] : interest.services) AddSlot(heard, listener);
  }
  if (!interest.all_services || names_) OneHeard(listener);
}

void SubscriptionTable::Unsubscribe(const Url& consumer, const std::shared_ptr<NotifyListener>& host) {
  const auto at = interests_.find(consumer);
  if (at == interests_.end()) return;
  Interest& interest = *at->second;
  const auto listener = std::find_if(interest.listeners.begin(), interest.listeners.end(),
                                     [&host](const auto& one) { return one->host == host; });
  if (listener == interest.listeners.end()) return;
  EndListener(interest, *listener, absl::CancelledError("the subscription was ended"));
  EndInterestIfUnheard(consumer);
}

void SubscriptionTable::EndListener(Interest& interest, const std::shared_ptr<Listener>& listener,
                                    absl::Status why) {
  const std::shared_ptr<Listener> ending = listener;
  ending->alive = false;
  ending->deadline.Cancel();
  env_.PostAnswer(std::exchange(ending->first, nullptr), std::move(why));
  std::erase(interest.listeners, ending);
  for (const auto& [name, heard] : interest.services) {
    std::erase_if(heard->slots, [&ending](const auto& slot) { return slot->listener == ending; });
  }
}

void SubscriptionTable::EndInterestIfUnheard(const Url& consumer) {
  const auto at = interests_.find(consumer);
  if (at == interests_.end() || !at->second->listeners.empty()) return;
  const std::unique_ptr<Interest> ending = std::move(at->second);
  interests_.erase(at);
  for (const auto& [name, heard] : ending->services) heard->subscription.Stop();
  if (!ending->all_services) {
    if (env_.cache != nullptr) env_.cache->Forget(consumer);
    return;
  }
  std::erase(all_services_, ending.get());
  if (!all_services_.empty()) return;
  names_.reset();
  names_failure_.Mend();
  env_.backend->UnwatchServices();
}

void SubscriptionTable::OnDeadline(const Url& consumer, const std::shared_ptr<Listener>& listener,
                                   std::chrono::milliseconds timeout) {
  GiveUp(consumer, listener, env_.NoAnswer(consumer.ToString(), timeout));
}

void SubscriptionTable::OnRefused(const absl::Status& why) {
  if (env_.cache != nullptr && !env_.cache->loaded()) return;
  std::vector<std::pair<Url, std::shared_ptr<Listener>>> waiting;
  for (const auto& [consumer, interest] : interests_) {
    if (interest->all_services ? names_.has_value() : !Awaits(*interest)) continue;
    for (const std::shared_ptr<Listener>& listener : interest->listeners) {
      if (listener->first) waiting.emplace_back(consumer, listener);
    }
  }
  for (const auto& [consumer, listener] : waiting) GiveUp(consumer, listener, why);
}

bool SubscriptionTable::Awaits(const Interest& interest) {
  return std::any_of(interest.services.begin(), interest.services.end(),
                     [](const auto& service) { return service.second->subscription.awaits_any(); });
}

void SubscriptionTable::GiveUp(const Url& consumer, const std::shared_ptr<Listener>& listener, const absl::Status& why) {
  const auto at = interests_.find(consumer);
  if (at == interests_.end() || !listener->alive || !listener->first) return;
  if (!at->second->all_services && Awaits(*at->second)) {
    for (const auto& [name, heard] : at->second->services) UseCache(*heard, std::nullopt);
    if (!Awaits(*at->second)) return;  // the answer follows with the lists
  }
  // Dubbo leaves such a listener subscribed and without a retry. Here the wish ends with the failure.
  EndListener(*at->second, listener, why);
  EndInterestIfUnheard(consumer);
}

void SubscriptionTable::AddService(Interest& interest, const std::string& service) {
  const Url consumer =
      interest.all_services ? ForService(interest.consumer, service, *env_.context.pool) : interest.consumer;
  const auto heard = std::make_shared<Heard>(watches_, service, consumer, versions_);
  interest.services.emplace(service, heard);
  // Who watches all services is a console; it has no use for lists of a registry that is down.
  const bool cached = env_.cache != nullptr && !interest.all_services;
  heard->subscription.Start(
      [this, cached, weak = std::weak_ptr(heard)] {
        const auto news = weak.lock();
        if (news == nullptr) return;
        ScheduleAll(news);
        if (cached) Remember(*news);
      },
      [this, weak = std::weak_ptr(heard)] {
        const auto changed = weak.lock();
        if (changed == nullptr) return;
        for (const std::shared_ptr<Slot>& slot : changed->slots) TellOfRegistry(slot->listener);
      },
      [this, cached, weak = std::weak_ptr(heard)](Category category, Subscription::NoAnswer why) {
        const auto waiting = weak.lock();
        if (waiting == nullptr || !cached) return;
        if (why == Subscription::NoAnswer::kFailed || CacheHasList(*waiting, category)) UseCache(*waiting, category);
      });
  if (cached && heard->subscription.awaits_any()) {
    heard->patience = env_.After(env_.options.file_wait, [this, weak = std::weak_ptr(heard)] {
      if (const auto waiting = weak.lock()) UseCache(*waiting, std::nullopt);
    });
  }
  if (cached) Remember(*heard);
  for (const std::shared_ptr<Listener>& listener : interest.listeners) AddSlot(heard, listener);
}

void SubscriptionTable::AddSlot(const std::shared_ptr<Heard>& heard,
                                const std::shared_ptr<Listener>& listener) {
  const auto slot = std::make_shared<Slot>();
  slot->listener = listener;
  ++listener->unheard;
  heard->slots.push_back(slot);
  Schedule(heard, slot);
}

void SubscriptionTable::ScheduleAll(const std::shared_ptr<Heard>& heard) {
  for (const std::shared_ptr<Slot>& slot : heard->slots) Schedule(heard, slot);
}

void SubscriptionTable::Schedule(const std::shared_ptr<Heard>& heard, const std::shared_ptr<Slot>& slot) {
  if (std::exchange(slot->scheduled, true)) return;
  env_.Post([this, heard, slot] {
    slot->scheduled = false;
    Deliver(heard, slot);
  });
}

void SubscriptionTable::Deliver(const std::shared_ptr<Heard>& heard, const std::shared_ptr<Slot>& slot) {
  // Held here: the listener may end its own subscription, and with it drop the last other reference.
  const std::shared_ptr<Listener> listener = slot->listener;
  bool all = true;
  bool failed = false;
  for (const Category category : heard->subscription.categories()) {
    const bool fine = DeliverNews(*heard, *slot, category);
    failed = failed || !fine;
    all = all && (!fine || slot->told[static_cast<std::size_t>(category)] != 0);
  }
  if (!listener->alive) return;
  if (failed) {
    RetryLater(heard, slot);
  } else {
    slot->failing.reset();
  }
  if (all && !std::exchange(slot->heard_all, true)) OneHeard(listener);
}

bool SubscriptionTable::DeliverNews(Heard& heard, Slot& slot, Category category) {
  const std::shared_ptr<Listener> listener = slot.listener;
  const auto at = static_cast<std::size_t>(category);
  while (listener->alive) {
    const Notification* news = heard.subscription.slice(category).After(slot.told[at]);
    if (news == nullptr) break;
    const std::uint64_t version = news->version;
    if (slot.failing != nullptr && slot.failing->versions[at] == version && slot.failing->retry.holds()) return false;
    bool returned = false;
    ++env_.counters.notifications;
    env_.CallHost("a listener", [&] {
      listener->host->Notify(*news);
      returned = true;
    });
    if (!returned) {
      if (slot.failing == nullptr) {
        slot.failing = std::make_unique<Failing>(heard.subscription.consumer(), env_.options);
      }
      slot.failing->versions[at] = version;
      slot.failing->retry_due = true;
      return false;
    }
    slot.told[at] = version;
    if (slot.failing != nullptr) slot.failing->versions[at] = 0;
  }
  return true;
}

// Dubbo 2.6 told the failed list again, over a newer one that had been told meanwhile, and without end; Dubbo 3
// never does. Here nothing is kept of what failed but its version.
void SubscriptionTable::RetryLater(const std::shared_ptr<Heard>& heard, const std::shared_ptr<Slot>& slot) {
  if (!std::exchange(slot->failing->retry_due, false)) return;
  slot->failing->retry.Failed(env_, [this, heard, weak = std::weak_ptr(slot)] {
    if (const auto waiting = weak.lock()) Schedule(heard, waiting);
  });
}

void SubscriptionTable::OneHeard(const std::shared_ptr<Listener>& listener) {
  if (--listener->unheard > 0 || !listener->first) return;
  listener->deadline.Cancel();
  env_.PostAnswer(std::exchange(listener->first, nullptr), absl::OkStatus());
}

void SubscriptionTable::TellOfRegistry() {
  for (const auto& [consumer, interest] : interests_) {
    for (const std::shared_ptr<Listener>& listener : interest->listeners) TellOfRegistry(listener);
  }
}

void SubscriptionTable::TellOfRegistry(const std::shared_ptr<Listener>& listener) {
  if (!std::exchange(listener->registry_told, false)) return;
  env_.Post([this, listener] {
    listener->registry_told = true;
    if (listener->alive) env_.CallHost("a listener", [&] { listener->host->OnRegistryChange(); });
  });
}

void SubscriptionTable::OnNames(const absl::StatusOr<std::vector<std::string>>& names) {
  if (all_services_.empty()) return;
  if (!names.ok()) {
    names_failure_.Fail(names.status());
    env_.SaysFailed(env_.options.address, "reading the services failed", names.status());
    return;
  }
  names_failure_.Mend();
  const bool first = !names_.has_value();
  names_.emplace(names->begin(), names->end());
  for (Interest* interest : all_services_) {
    for (auto at = interest->services.begin(); at != interest->services.end();) {
      if (names_->contains(at->first)) {
        ++at;
        continue;
      }
      at->second->subscription.End();
      at = interest->services.erase(at);
    }
    for (const std::string& name : *names_) {
      if (!interest->services.contains(name)) AddService(*interest, name);
    }
    if (!first) continue;
    for (const std::shared_ptr<Listener>& listener : interest->listeners) OneHeard(listener);
  }
}

void SubscriptionTable::UseCache(Heard& heard, std::optional<Category> only) {
  if (env_.cache == nullptr || !(only ? heard.subscription.awaits(*only) : heard.subscription.awaits_any())) return;
  if (!env_.cache->loaded()) {
    heard.wants_cache = true;
    return;
  }
  if (!heard.subscription.UseCached(env_.cache->Find(heard.subscription.consumer()), only)) return;
  env_.SaysCacheIsUsed(heard.subscription.consumer().ServiceKey(), env_.cache->origin());
}

bool SubscriptionTable::CacheHasList(const Heard& heard, Category category) const {
  if (!env_.cache->loaded()) return false;
  const CachedLists cached = env_.cache->Find(heard.subscription.consumer());
  const std::optional<CachedList>& list = cached.lists[static_cast<std::size_t>(category)];
  return list && list->kind == ListKind::kList;
}

void SubscriptionTable::OnCacheLoaded() {
  for (const auto& [consumer, interest] : interests_) {
    for (const auto& [name, heard] : interest->services) {
      if (std::exchange(heard->wants_cache, false)) UseCache(*heard, std::nullopt);
    }
  }
  watches_.OnCacheLoaded();
}

// Lists that came out of the cache are no news to it.
void SubscriptionTable::Remember(const Heard& heard) {
  KnownLists known = heard.subscription.known();
  const auto told = [](const auto& list) { return list != nullptr && !list->cached; };
  if (!std::any_of(known.lists.begin(), known.lists.end(), told)) return;
  const auto interest = interests_.find(known.consumer);
  known.keeps_providers = interest != interests_.end() && interest->second->protects;
  env_.cache->Learn(std::move(known));
}

std::size_t SubscriptionTable::cached() const {
  std::size_t count = 0;
  for (const auto& [consumer, interest] : interests_) {
    for (const auto& [name, heard] : interest->services) count += heard->subscription.uses_cached() ? 1 : 0;
  }
  return count;
}

std::size_t SubscriptionTable::retries_pending() const {
  std::size_t pending = watches_.failing() + (names_failure_.failing() ? 1 : 0);
  for (const auto& [consumer, interest] : interests_) {
    for (const auto& [name, heard] : interest->services) {
      pending += static_cast<std::size_t>(std::count_if(heard->slots.begin(), heard->slots.end(), [](const auto& slot) {
        return slot->failing != nullptr && slot->failing->retry.pending();
      }));
    }
  }
  return pending;
}

void SubscriptionTable::Destroy() {
  for (const auto& [consumer, interest] : interests_) {
    const std::vector<std::shared_ptr<Listener>> listeners = interest->listeners;
    for (const auto& listener : listeners) {
      EndListener(*interest, listener, absl::CancelledError("the registry was destroyed"));
    }
    for (const auto& [name, heard] : interest->services) heard->subscription.Stop();
  }
  if (!all_services_.empty()) env_.backend->UnwatchServices();
  all_services_.clear();
  names_.reset();
  names_failure_.Mend();
  interests_.clear();
  watches_.Destroy();
}

}  // namespace fairlead::internal
