#ifndef FAIRLEAD_REGISTRY_REGISTRATION_TABLE_H_
#define FAIRLEAD_REGISTRY_REGISTRATION_TABLE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/operation_retry.h"
#include "fairlead/registry/registry_environment.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/url/url.h"
#include "fairlead/url/url_hash.h"

namespace fairlead::internal {

// The urls that are to be in the registry, and the work of getting them there (or away). Each url has one
// entry with what is wanted and what may be stored; Step issues the next operation that brings the two
// together, one at a time, so that an answer is never mistaken for that of another wish. Of all urls, 128
// operations are under way at most: a registry that came back is not met by everything at once. REQUIRES:
// executor.
class RegistrationTable {
 public:
  explicit RegistrationTable(RegistryEnvironment& env) : env_(env) {}

  void Register(const Url& url, const RegistryCallOptions& call, Done done);
  void Unregister(const Url& url, const RegistryCallOptions& call, Done done);

  // The session came back: what was asked and not answered is unknown and asked again.
  void OnReconnected();
  // Those who wait for a registration are told, and their wish ends.
  void OnRefused(const absl::Status& why);
  // The session is over: what was dynamic is gone.
  void OnExpired();
  // A new session: nothing is taken for granted.
  void OnNewSession();
  // Takes every entry's next step now, whatever back-off it waits for.
  void Retry();

  // Forgets everything. Every waiting Done gets kCancelled; if a session lives, dynamic urls are removed, and
  // `done` is called when all that was answered. Final. What is returned is how many urls may still stand there: it falls
  // with each answer.
  std::shared_ptr<const std::size_t> Destroy(absl::AnyInvocable<void()> done);

  std::size_t registered() const;
  std::size_t unacknowledged() const;
  // Operations that wait for a back-off to end.
  std::size_t retries_pending() const;

 private:
  using EntryId = std::uint64_t;

  // A text that stands in the registry, or may: an operation without an answer may have been carried out.
  struct Stored {
    std::string text;
    bool dynamic = true;
  };
  struct Waiter {
    std::uint64_t id = 0;
    Done done;
    Timer deadline;
  };
  struct Entry {
    Entry(const Url& wished, RegistryKey place, RegistryEnvironment& env)
        : url(wished),
          key(std::move(place)),
          dynamic(wished.BoolParam("dynamic", true)),
          retry(wished, env.options),
          failure(env.failures) {}

    Url url;
    RegistryKey key;
    bool dynamic;
    std::optional<std::string> wanted;
    std::optional<std::string> acknowledged;  // confirmed in this session
    std::vector<Stored> stored;
    bool insists = false;  // a caller with check=false wants it: a failure does not end the wish
    std::vector<Waiter> waiters;
    std::uint64_t operation = 0;  // the one under way; 0 = none
    bool queued = false;          // in queue_
    OperationRetry retry;
    FailureList::Item failure;  // of the last operation, while the entry is not settled
  };

  Entry* Find(EntryId id);
  EntryId IdOf(const Url& url, RegistryKey key);
  void Await(EntryId id, std::chrono::milliseconds timeout, Done done);
  void OnDeadline(EntryId id, std::uint64_t waiter, std::chrono::milliseconds timeout);
  void TellWaiters(Entry& entry, const absl::Status& status);

  static bool Settled(const Entry& entry);
  void Step(EntryId id);
  // The operation of an entry has ended, one way or another.
  void EndOperation(Entry& entry);
  void StepQueued();
  void Put(EntryId id, Entry& entry);
  void Remove(EntryId id, Entry& entry, std::string text);
  void OnPut(EntryId id, const std::string& text, bool stood_before, const absl::Status& status);
  void OnRemoved(EntryId id, const std::string& text, const absl::Status& status);
  void Withdraw(Entry& entry);
  void RetryLater(EntryId id, Entry& entry);
  void ForgetSession(Entry& entry);
  template <class F>
  void ForEach(F f);

  RegistryEnvironment& env_;
  std::map<EntryId, Entry> entries_;  // in the order of the first wish
  absl::flat_hash_map<Url, EntryId, UrlHash> ids_;
  std::uint64_t last_id_ = 0;  // of entries, waiters and operations
  std::size_t under_way_ = 0;
  std::deque<EntryId> queue_;  // what may be done when fewer are under way
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REGISTRATION_TABLE_H_
