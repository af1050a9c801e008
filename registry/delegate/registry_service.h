#ifndef FAIRLEAD_REGISTRY_DELEGATE_REGISTRY_SERVICE_H_
#define FAIRLEAD_REGISTRY_DELEGATE_REGISTRY_SERVICE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace fairlead {

// A registry that is itself a service, as a host reaches it over its own RPC: Dubbo's org.apache.dubbo.registry.RegistryService,
// whose subscribe has a callback argument. Urls are texts, as they are registered.
//
// Called on the executor, one call at a time; it must return at once, and may call back from within, later, or from any
// other thread, also after the registry has ended, which then hears nothing. Each callback that gives an answer is called
// once; what is called a second time, or more than the registry's `timeout` (5 000 ms) later, is not heard, but for lists of
// a Subscribe that was not answered in time. What it throws is caught, and is the failure of that call.
class RegistryService {
 public:
  // The full list of one service, of one category or several: never a difference. A category without urls is told by one
  // url `empty://...?category=<name>`; an empty list says that the registry knows nothing of the service.
  using Notify = std::function<void(std::vector<std::string> urls)>;
  using Answer = absl::AnyInvocable<void(absl::Status)>;
  using Found = absl::AnyInvocable<void(absl::StatusOr<std::vector<std::string>>)>;

  virtual ~RegistryService() = default;

  virtual void Register(const std::string& url, Answer done) = 0;
  virtual void Unregister(const std::string& url, Answer done) = 0;
  // `notify` gets the list now and after each change, until Unsubscribe with the same url or the end of the connection.
  // `url` is a consumer's, of any group and version, for one category of one service; or, for the names of all services, an
  // admin's with the interface `*`, whose lists are told service by service. The same url again replaces the former `notify`.
  virtual void Subscribe(const std::string& url, Notify notify, Answer done) = 0;
  virtual void Unsubscribe(const std::string& url, Answer done) = 0;
  // What Subscribe would tell first.
  virtual void Lookup(const std::string& url, Found found) = 0;

  // Is there a connection? Asked every `reconnect.period` (3 000 ms); connecting again is the host's. When it is there again
  // everything is registered and subscribed anew, as the service forgets a client that was gone.
  virtual bool IsAvailable() const = 0;
  // `lost` may be called when the connection was lost, from any thread, so that one that is there again before anybody has
  // asked is noticed too. A host that cannot know does without.
  virtual void OnLinkLost(std::function<void()> lost) { static_cast<void>(lost); }
};

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_DELEGATE_REGISTRY_SERVICE_H_
