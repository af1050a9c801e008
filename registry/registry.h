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
// at once; results come later through Done, on the executor, never inside the call. What fails is retried in
// the background, so that the registry converges on what was asked; with `check=true` in the url the first
// failure is also told to Done, otherwise Done gets OK once the wish is recorded.
class Registry {
 public:
  virtual ~Registry() = default;

  // Stores `url` in its category (`category`, default providers): ephemeral unless `dynamic=false`. Idempotent.
  virtual void Register(const Url& url, Done done) = 0;
  virtual void Unregister(const Url& url, Done done) = 0;

  // Notifies `listener` of every category of `consumer`'s `category` list (default providers) now and after
  // each change. `first_notified` is called when every category had its first notification, or with the
  // error, naming address and time, when check=true and the registry did not answer within `timeout`.
  // A second listener of an equal url gets a full replay. Interface `*` subscribes to every service.
  virtual void Subscribe(const Url& consumer, std::shared_ptr<NotifyListener> listener, Done first_notified) = 0;
  // After the call no Notify of this pair follows. An unknown pair is ignored.
  virtual void Unsubscribe(const Url& consumer, const std::shared_ptr<NotifyListener>& listener) = 0;

  // One look, no watch: the urls that match `query` in its categories.
  virtual void Lookup(const Url& query, absl::AnyInvocable<void(absl::StatusOr<std::vector<Url>>)> done) = 0;

  virtual bool IsAvailable() const = 0;
  // A line for Explain: address (no password), session state, retries pending, last error.
  virtual std::string Describe() const = 0;
  // Unregisters dynamic urls, ends subscriptions, stops the backend. `done` when all is over. Final.
  virtual void Destroy(Done done) = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_REGISTRY_H_
