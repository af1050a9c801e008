#ifndef FAIRLEAD_REGISTRY_REGISTRY_H_
#define FAIRLEAD_REGISTRY_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fairlead/registry/notification.h"
#include "fairlead/url/url.h"

namespace fairlead {

using Done = absl::AnyInvocable<void(absl::Status)>;

// A service registry as directories and providers use it. All methods are called on the executor and return
// at once; results come later through Done, on the executor, never inside the call, each exactly once. A Done
// whose question was withdrawn (the opposite call, Unsubscribe, Destroy) gets kCancelled.
//
// What fails is retried in the background, so that the registry converges on the last thing asked. `check`
// (default true, in the registry's url as the caller wrote it and in the url given) says who hears of a failure: with check=false
// Done gets OK once the wish is recorded; with check=true Done waits for the registry, and a failure is told
// and ends the wish, so that nothing happens later behind the back of a caller who was told "failed".
class Registry {
 public:
  virtual ~Registry() = default;

  // Stores `url` in its category (`category`, default providers): ephemeral unless `dynamic=false`.
  // Idempotent. An equal url with another text (a newer `timestamp`) replaces the earlier one. Not stored,
  // and Done OK: `register=false` (here or in the registry's url), interface `*`, `isExtra=true`, a protocol that the registry's `accepts`
  // refuses. A url with port 0 counts as check=false. kInvalidArgument: no interface or one like `com.acme.*`, an unknown
  // category, or a text that the product cannot hold, naming its limit. kPermissionDenied and kFailedPrecondition: the product
  // refused, saying why. kUnauthenticated, kUnimplemented ...: no server of the registry takes this client, told at once.
  // All other failures are kUnavailable.
  virtual void Register(const Url& url, Done done) = 0;
  // Removes the url, whoever stored it. A failure is retried also after it was told (check=true); its code is as for
  // Register.
  virtual void Unregister(const Url& url, Done done) = 0;

  // Notifies `listener` of every category of `consumer`'s `category` list (default providers) now and after
  // each change. With check=true `first_notified` is called when every category had its first notification,
  // or with kUnavailable, naming address and time, when the registry did not answer within `timeout`, or at once with what
  // is wrong when its servers refuse this client, which ends the subscription; with check=false it gets OK at once and the lists come when the registry can.
  // A second listener of an equal url gets a full replay; the same pair again replaces itself.
  // Interface `*` subscribes to every service: the listener sees the lists of all, told apart by
  // Notification::service, and an empty list of each category when a service is gone.
  // kFailedPrecondition, whatever `check` says, with `subscribe=false` in the registry's url.
  virtual void Subscribe(const Url& consumer, std::shared_ptr<NotifyListener> listener,
                         Done first_notified) = 0;
  // After the call no Notify of this pair follows. An unknown pair is ignored.
  virtual void Unsubscribe(const Url& consumer, const std::shared_ptr<NotifyListener>& listener) = 0;

  // One look, no watch: the urls that match `query` in its categories. A registry that fails, or does not answer
  // within `file.wait`, is answered for by the list cache file, as far as that knows the service; else the failure, or
  // kUnavailable after `timeout`.
  // kInvalidArgument for interface `*`: subscribe instead.
  virtual void Lookup(const Url& query, absl::AnyInvocable<void(absl::StatusOr<std::vector<Url>>)> done) = 0;

  virtual bool IsAvailable() const = 0;
  // A line for Explain: address (no password), session state, since when there is none, retries pending, last error.
  virtual std::string Describe() const = 0;
  // Unregisters dynamic urls, ends subscriptions, stops the backend. `done` when all is over: OK,
  // kUnavailable when the removal of urls was not confirmed, else what the backend says of its end. Takes at most
  // `timeout` for the removals, then as long as the backend needs (ZooKeeper: 1 s) and the list cache file is written.
  // Final.
  virtual void Destroy(Done done) = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_REGISTRY_H_
