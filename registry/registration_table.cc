#include "fairlead/registry/registration_table.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

// Enough to keep a connection busy, and few enough that a registry answers others in between.
constexpr std::size_t kMostUnderWay = 128;

// The product refused: it holds no text that it did not hold before. After any other failure the operation
// may have been carried out.
bool Refused(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsPermissionDenied(status) ||
         absl::IsUnauthenticated(status) || absl::IsFailedPrecondition(status) ||
         absl::IsUnimplemented(status) || absl::IsOutOfRange(status);
}

// What a caller can mend keeps its code; all else is the registry's trouble.
absl::StatusCode CodeFor(const absl::Status& status) {
  const bool callers = absl::IsInvalidArgument(status) || absl::IsPermissionDenied(status) ||
                       absl::IsFailedPrecondition(status);
  return callers ? status.code() : absl::StatusCode::kUnavailable;
}

// A consumer's url has no port; nobody waits for it.
bool Checks(const Url& url, const RegistryCallOptions& call) {
  return call.check && url.BoolParam(names::kCheck, true) && url.port() != 0;
}

}  // namespace

void RegistrationTable::Register(const Url& url, const RegistryCallOptions& call, Done done) {
  absl::StatusOr<RegistryKey> key = RegistryKeyOf(url.parts());
  if (!key.ok()) return env_.PostAnswer(std::move(done), key.status());
  if (!call.registers || !url.BoolParam("register", true) || url.BoolParam("isExtra", false) || key->service == "*" ||
      !call.Accepts(url.protocol())) {
    return env_.PostAnswer(std::move(done), absl::OkStatus());
  }
  if (key->service.find('*') != std::string::npos) {
    return env_.PostAnswer(std::move(done), absl::InvalidArgumentError(absl::StrCat(
        Shortened(url.ToString()), ": its interface holds *, which stands for many services: register each by its name")));
  }
  const EntryId id = IdOf(url, *std::move(key));
  Entry& entry = entries_.at(id);
  std::string text = RegisteredText(url, call);
  if (entry.wanted != text) {
    TellWaiters(entry,
                absl::CancelledError("the url was registered again, or anew after it was unregistered"));
    entry.url = url;
    entry.wanted = std::move(text);
    entry.insists = false;
    entry.retry.Reset();
  }
  if (!Checks(url, call)) {
    entry.insists = true;
    env_.PostAnswer(std::move(done), absl::OkStatus());
  } else if (entry.acknowledged == entry.wanted) {
    env_.PostAnswer(std::move(done), absl::OkStatus());
  } else {
    Await(id, call.timeout, std::move(done));
  }
  Step(id);
}

void RegistrationTable::Unregister(const Url& url, const RegistryCallOptions& call, Done done) {
  absl::StatusOr<RegistryKey> key = RegistryKeyOf(url.parts());
  if (!key.ok()) return env_.PostAnswer(std::move(done), key.status());
  const bool known = ids_.contains(url);
  const EntryId id = IdOf(url, *std::move(key));
  Entry& entry = entries_.at(id);
  if (!known) {
    // Somebody else's: under the text as given, or as this library would have registered it.
    entry.stored.push_back({url.ToFullString(), false});
    std::string registered = RegisteredText(url, call);
    if (registered != entry.stored.front().text) entry.stored.push_back({std::move(registered), false});
  } else if (entry.wanted) {
    TellWaiters(entry, absl::CancelledError("the url was unregistered"));
    entry.wanted.reset();
    entry.retry.Reset();
  }
  if (Checks(url, call)) {
    Await(id, call.timeout, std::move(done));
  } else {
    env_.PostAnswer(std::move(done), absl::OkStatus());
  }
  Step(id);
}

RegistrationTable::Entry* RegistrationTable::Find(EntryId id) {
  const auto at = entries_.find(id);
  return at == entries_.end() ? nullptr : &at->second;
}

RegistrationTable::EntryId RegistrationTable::IdOf(const Url& url, RegistryKey key) {
  const auto [at, added] = ids_.try_emplace(url, 0);
  if (!added) return at->second;
  at->second = ++last_id_;
  entries_.try_emplace(at->second, url, std::move(key), env_);
  return at->second;
}

void RegistrationTable::Await(EntryId id, std::chrono::milliseconds timeout, Done done) {
  const std::uint64_t waiter = ++last_id_;
  Timer deadline = env_.After(timeout, [this, id, waiter, timeout] { OnDeadline(id, waiter, timeout); });
  entries_.at(id).waiters.push_back({waiter, std::move(done), std::move(deadline)});
}

void RegistrationTable::OnDeadline(EntryId id, std::uint64_t waiter, std::chrono::milliseconds timeout) {
  Entry* entry = Find(id);
  if (entry == nullptr) return;
  const auto at = std::find_if(entry->waiters.begin(), entry->waiters.end(),
                               [waiter](const Waiter& one) { return one.id == waiter; });
  if (at == entry->waiters.end()) return;
  env_.PostAnswer(std::move(at->done), env_.NoAnswer(entry->url.ToString(), timeout));
  entry->waiters.erase(at);
  if (entry->wanted && entry->waiters.empty() && !entry->insists) {
    Withdraw(*entry);
    Step(id);
  }
}

template <class F>
void RegistrationTable::ForEach(F f) {
  std::vector<EntryId> ids;
  ids.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) ids.push_back(id);
  for (const EntryId id : ids) {
    if (Entry* entry = Find(id)) f(id, *entry);
  }
}

void RegistrationTable::OnRefused(const absl::Status& why) {
  ForEach([&](EntryId id, Entry& entry) {
    if (entry.waiters.empty() || !entry.wanted || entry.acknowledged == entry.wanted) return;
    TellWaiters(entry, why);
    if (!entry.insists) Withdraw(entry);
    Step(id);
  });
}

void RegistrationTable::TellWaiters(Entry& entry, const absl::Status& status) {
  for (Waiter& waiter : std::exchange(entry.waiters, {})) env_.PostAnswer(std::move(waiter.done), status);
}

bool RegistrationTable::Settled(const Entry& entry) {
  if (!entry.wanted) return entry.stored.empty();
  return entry.acknowledged == entry.wanted && entry.stored.size() == 1;
}

void RegistrationTable::Step(EntryId id) {
  Entry* const entry = Find(id);
  if (entry == nullptr || entry->operation != 0) return;
  if (Settled(*entry)) {
    entry->failure.Mend();
    TellWaiters(*entry, absl::OkStatus());
    if (!entry->wanted) {
      ids_.erase(entry->url);
      entries_.erase(id);
    }
    return;
  }
  if (!env_.connected() || entry->retry.holds()) return;
  if (under_way_ >= kMostUnderWay) {
    if (!std::exchange(entry->queued, true)) queue_.push_back(id);
    return;
  }
  // The new text first: between the two operations consumers see the url twice, which they take for one, and
  // never not at all.
  if (entry->wanted && entry->acknowledged != entry->wanted) return Put(id, *entry);
  const auto old = std::find_if(entry->stored.begin(), entry->stored.end(),
                                [entry](const Stored& one) { return one.text != entry->wanted; });
  Remove(id, *entry, old->text);
}

void RegistrationTable::EndOperation(Entry& entry) {
  if (std::exchange(entry.operation, 0) == 0) return;
  --under_way_;
}

void RegistrationTable::StepQueued() {
  while (under_way_ < kMostUnderWay && env_.connected() && !queue_.empty()) {
    const EntryId id = queue_.front();
    queue_.pop_front();
    Entry* const entry = Find(id);
    if (entry == nullptr) continue;
    entry->queued = false;
    Step(id);
  }
}

void RegistrationTable::Put(EntryId id, Entry& entry) {
  const std::string text = *entry.wanted;
  const bool stood_before = std::any_of(entry.stored.begin(), entry.stored.end(),
                                        [&text](const Stored& one) { return one.text == text; });
  if (!stood_before) entry.stored.push_back({text, entry.dynamic});
  const std::uint64_t operation = entry.operation = ++last_id_;
  ++under_way_;
  env_.backend->Put(entry.key.service, entry.key.category, text, entry.dynamic,
                    env_.Guarded([this, id, operation, text, stood_before](const absl::Status& status) {
                      const Entry* now = Find(id);
                      if (now == nullptr || now->operation != operation) return;
                      OnPut(id, text, stood_before, status);
                      StepQueued();
                    }));
}

void RegistrationTable::OnPut(EntryId id, const std::string& text, bool stood_before,
                              const absl::Status& status) {
  Entry& entry = entries_.at(id);
  EndOperation(entry);
  if (status.ok()) {
    entry.acknowledged = text;
    entry.failure.Mend();
    entry.retry.Reset();
    if (entry.wanted == text) TellWaiters(entry, absl::OkStatus());
    return Step(id);
  }
  entry.failure.Fail(status);
  env_.SaysFailed(entry.url.ToString(), "registering failed", status);
  if (!stood_before && Refused(status)) {
    std::erase_if(entry.stored, [&text](const Stored& one) { return one.text == text; });
  }
  if (entry.wanted == text) {
    const bool told = !entry.waiters.empty();
    TellWaiters(entry, absl::Status(CodeFor(status),
                                    absl::StrCat("registry ", env_.options.address, " did not register ",
                                                 Shortened(entry.url.ToString()), ": ", status.ToString())));
    if (told && !entry.insists) {
      Withdraw(entry);
    } else {
      RetryLater(id, entry);
    }
  }
  Step(id);
}

void RegistrationTable::Remove(EntryId id, Entry& entry, std::string text) {
  if (entry.acknowledged == text) entry.acknowledged.reset();
  const std::uint64_t operation = entry.operation = ++last_id_;
  ++under_way_;
  env_.backend->Remove(entry.key.service, entry.key.category, text,
                       env_.Guarded([this, id, operation, text](const absl::Status& status) {
                         const Entry* now = Find(id);
                         if (now == nullptr || now->operation != operation) return;
                         OnRemoved(id, text, status);
                         StepQueued();
                       }));
}

void RegistrationTable::OnRemoved(EntryId id, const std::string& text, const absl::Status& status) {
  Entry& entry = entries_.at(id);
  EndOperation(entry);
  if (status.ok()) {
    std::erase_if(entry.stored, [&text](const Stored& one) { return one.text == text; });
    entry.failure.Mend();
    entry.retry.Reset();
    return Step(id);
  }
  entry.failure.Fail(status);
  env_.SaysFailed(entry.url.ToString(), "unregistering failed", status);
  if (!entry.wanted) {
    TellWaiters(entry, absl::Status(CodeFor(status),
                                    absl::StrCat("registry ", env_.options.address, " did not unregister ",
                                                 Shortened(entry.url.ToString()), ": ", status.ToString())));
  }
  if (entry.wanted == text) return Step(id);
  RetryLater(id, entry);
}

// Dubbo keeps a url whose registration failed with check=true, without a retry: a later recovery registers it
// behind the back of a caller who was told that it is not. Here the wish ends; what stood before, stays.
void RegistrationTable::Withdraw(Entry& entry) {
  entry.wanted = entry.acknowledged;
  entry.insists = entry.wanted.has_value();
}

void RegistrationTable::RetryLater(EntryId id, Entry& entry) {
  entry.retry.Failed(env_, [this, id] { Step(id); });
}

void RegistrationTable::OnReconnected() {
  for (auto& [id, entry] : entries_) EndOperation(entry);
}

void RegistrationTable::ForgetSession(Entry& entry) {
  EndOperation(entry);
  entry.acknowledged.reset();
  std::erase_if(entry.stored, [](const Stored& one) { return one.dynamic; });
}

void RegistrationTable::OnExpired() {
  ForEach([this](EntryId id, Entry& entry) {
    ForgetSession(entry);
    Step(id);
  });
}

void RegistrationTable::OnNewSession() {
  for (auto& [id, entry] : entries_) ForgetSession(entry);
}

void RegistrationTable::Retry() {
  ForEach([this](EntryId id, Entry& entry) {
    entry.retry.Reset();
    Step(id);
  });
}

std::shared_ptr<const std::size_t> RegistrationTable::Destroy(absl::AnyInvocable<void()> done) {
  const auto left = std::make_shared<std::size_t>(0);
  const std::shared_ptr<void> all(nullptr, [done = std::move(done)](void*) mutable { done(); });
  for (auto& [id, entry] : entries_) {
    TellWaiters(entry, absl::CancelledError("the registry was destroyed"));
    if (entry.wanted && !entry.dynamic) continue;
    *left += entry.stored.size();
    if (!env_.connected()) continue;
    for (const Stored& one : entry.stored) {
      env_.backend->Remove(entry.key.service, entry.key.category, one.text,
                           [all, left, dynamic = one.dynamic](const absl::Status& status) {
                             // Who refuses is there to see the session end, and dynamic urls with it.
                             if (status.ok() || (dynamic && Refused(status))) --*left;
                           });
    }
  }
  entries_.clear();
  ids_.clear();
  queue_.clear();
  under_way_ = 0;
  return left;
}

std::size_t RegistrationTable::registered() const {
  return static_cast<std::size_t>(std::count_if(
      entries_.begin(), entries_.end(), [](const auto& one) { return one.second.wanted.has_value(); }));
}

std::size_t RegistrationTable::unacknowledged() const {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const auto& one) { return !Settled(one.second); }));
}

std::size_t RegistrationTable::retries_pending() const {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const auto& one) { return one.second.retry.pending(); }));
}

}  // namespace fairlead::internal
