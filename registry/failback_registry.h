#ifndef FAIRLEAD_REGISTRY_FAILBACK_REGISTRY_H_
#define FAIRLEAD_REGISTRY_FAILBACK_REGISTRY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "fairlead/registry/registry.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/url/url.h"

namespace fairlead {

enum class RegistryState : std::uint8_t {
  kConnecting,  // no session yet
  kConnected,   // a session lives and its link is up
  kSuspended,   // the link is down; the session may still live
  kExpired,     // the session is over; the next one is being sought
  kDestroyed,
};
// "connecting", "connected" ...
std::string_view RegistryStateName(RegistryState state);

// What a registry is doing right now, for Explain, metrics and tests.
struct RegistryStatus {
  struct Counters {
    std::uint64_t notifications = 0;    // calls of Notify
    std::uint64_t unchanged = 0;        // full lists that said nothing new
    std::uint64_t stale = 0;            // answers of an ended session, dropped
    std::uint64_t skipped = 0;          // children that could not be read, each counted when it appeared
    std::uint64_t retries = 0;          // operations and notifications tried again
    std::uint64_t resync_repairs = 0;   // changes that only the periodic look found
    std::uint64_t host_exceptions = 0;  // thrown by listeners and Done callbacks
  };

  std::string address;  // without credentials
  RegistryState state = RegistryState::kConnecting;
  // For how long the subscribed lists may be other than the registry's: 0 while it is connected and has answered
  // for each; else since the link was lost, or the first list could not be read or was asked for.
  std::chrono::nanoseconds stale_for{0};
  std::size_t retries_pending = 0;      // operations, reads and notifications that failed and wait for their next try
  absl::Status last_error;              // the latest of the reads and writes that fail now; OK: none does
  std::size_t registered = 0;           // urls that are to be in the registry
  std::size_t unacknowledged = 0;       // operations that the registry has not confirmed
  std::size_t subscriptions = 0;        // different consumer urls
  std::size_t watches = 0;              // (service, category) pairs watched
  std::size_t cached = 0;               // services whose lists are those of the list cache file, for want of an answer
  std::string cache_file;               // where lists are kept; empty: nowhere, or it cannot be written
  // Children skipped now, "service/category: child and reason", and what the backend skips that is no service's.
  std::vector<std::string> unreadable;
  Counters counters;
};

// The registry that every product shares: what is wanted (registered urls, subscriptions) is the only truth,
// and whatever the product does, the registry keeps at it until the product agrees. Knows no product: a
// RegistryBackend stores, reads and watches.
//
// Registration. Operations of one url follow each other; the last wish wins, so that a later opposite call takes
// back what still waits. A new session registers everything again, a resumed one what was not confirmed.
//
// Retries. Two things go wrong, and each has its pace. When the link comes back, everything that it interrupted is
// taken up at once, whatever it was waiting for: the registry is there, and the sooner this client is right the
// better. But all its clients come back in the same moment, so each begins at a random time of the next second, and
// has at most 128 writes under way (a backend as many reads). An operation that the registry answered with a failure
// would fail again right away: it waits a random time of at least 200 ms and at most min(max(60 s, `retry.period`),
// `retry.period` (5 000) x 2^k), k = 0, 1 ..., without end unless `retry.times` is positive (3 = four tries), and then
// until the next link or call. That holds for registering, unregistering, and for a listener that threw out of
// Notify: it is told the latest list again, unless a newer one was told meanwhile. Lists that cannot be read are read again
// without end, at the quicker pace of ReadBackoff: all who subscribed share them, and whoever has check=true waits.
//
// Subscription. One watch of the backend per (service, category), shared by all subscriptions. Lists are
// compared as sets of raw texts: a list that says nothing new is not passed on, and keeps its order; only new
// children are parsed; unreadable ones are skipped, logged once and shown in status(); urls that differ in
// pid and timestamp only collapse to the newest. A subscription hears of what matches it. A path that
// vanishes is kUnknown for `missing.grace` (30 000), then kEmpty; one that was never there is kEmpty. As a
// belt, every list is read again every `resync.period` (600 000, 0 = never). Sessions that come and go, and
// unreadable children of their service or of none, are told to listeners by OnRegistryChange.
//
// List cache. What subscriptions were told is kept in a file of Dubbo's format (registry/list_cache.h), unless
// `file-cache=false`. A subscription that has no answer after `file.wait` (2 000), or whose first read fails or finds no path, is told
// what the file says, with Notification::cached, and check=true is content with that; the registry's answer is told when
// it comes, also when it is the same.
//
// Dropping the last reference is Destroy: on the executor at once, elsewhere as its next task. Listener and
// Done are called on the executor, from tasks of the registry, and may call every method or drop the
// registry.
class FailbackRegistry final : public Registry {
 public:
  // Starts `backend`. A registry parameter that cannot be read is logged, and its default used; factories
  // refuse such a url before.
  static std::shared_ptr<FailbackRegistry> Create(Url registry_url, std::unique_ptr<RegistryBackend> backend,
                                                  RegistryContext context);
  ~FailbackRegistry() override;

  void Register(const Url& url, Done done) override;
  void Unregister(const Url& url, Done done) override;
  void Subscribe(const Url& consumer, std::shared_ptr<NotifyListener> listener, Done first_notified) override;
  // The same for a caller whose registry url is another one of the same registry: its `call` options hold instead
  // of those of the url that the registry was made with.
  void Register(const Url& url, const RegistryCallOptions& call, Done done);
  void Subscribe(const Url& consumer, const RegistryCallOptions& call, std::shared_ptr<NotifyListener> listener,
                 Done first_notified);
  void Unsubscribe(const Url& consumer, const std::shared_ptr<NotifyListener>& listener) override;
  void Lookup(const Url& query, absl::AnyInvocable<void(absl::StatusOr<std::vector<Url>>)> done) override;
  bool IsAvailable() const override;
  std::string Describe() const override;
  void Destroy(Done done) override;

  RegistryStatus status() const;
  // The children of `service` that are skipped now, and those of no service, as in RegistryStatus::unreadable.
  std::vector<std::string> Unreadable(const std::string& service) const;
  // For the config center, which shares the registry's session. Valid until Destroy.
  RegistryBackend& backend();

 private:
  class Core;
  explicit FailbackRegistry(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_FAILBACK_REGISTRY_H_
