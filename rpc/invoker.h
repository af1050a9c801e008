#ifndef FAIRLEAD_RPC_INVOKER_H_
#define FAIRLEAD_RPC_INVOKER_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"

#include "fairlead/url/url.h"

namespace fairlead {

// One provider as the host can call it: usually a connection. Written by the host. The directory owns it,
// creates it through Protocol::Refer and ends it with Destroy, once, before deleting it; deletion waits until
// no Lease holds it. Destroy and Updated run on the executor.
class Invoker {
 public:
  virtual ~Invoker() = default;
  // The url it was made for; may stay that one after Updated. Any thread.
  virtual const Url& url() const = 0;
  // Can a call be sent now? Any thread; must not block: it looks at a flag, it does not connect. Picks do not ask;
  // they go by what was reported through Availability, and a new invoker counts as up until it reports otherwise.
  // A provider that is down is asked on the executor after about 0.1 s, then ever more rarely, up to 30 s apart, and
  // at once when it registers anew; true brings it back. So after Down() this must be false until calls can be sent
  // again. Who cannot tell answers true: such a provider is tried again by the calls themselves.
  virtual bool IsAvailable() const noexcept = 0;
  // The effective url changed in policy parameters only (weight, timeout, tag ...); the connection stays.
  virtual void Updated(const Url& effective) { (void)effective; }
  virtual void Destroy() = 0;
};

// How an Invoker tells that its connection went up or down. Picks avoid a provider that is down from the next one on,
// while another is left; when none is, picks go on to it for up to 10 ms, until the tables say so. Copyable, any thread, any time, also inside Refer and
// after the Runtime has ended: a report about an invoker that is gone is ignored. Costs an atomic operation, holds
// neither the invoker nor an executor. Picks obey at once; what rules make of it follows within about 10 ms, or
// immediately when nobody else is left.
class Availability {
 public:
  Availability() = default;
  explicit Availability(std::function<void(bool up)> report) : report_(std::move(report)) {}
  void Up() const {
    if (report_) report_(true);
  }
  void Down() const {
    if (report_) report_(false);
  }

 private:
  std::function<void(bool)> report_;
};

// Makes invokers. Written by the host; Refer runs on the executor and must not block: start connecting and
// report through `report`. A failed Refer is retried by the directory with back-off.
class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual absl::StatusOr<std::unique_ptr<Invoker>> Refer(const Url& effective, Availability report) = 0;
  // Can this host speak the protocol of a url ("dubbo", "tri" ...)? Providers it cannot are left out.
  virtual bool Speaks(std::string_view protocol) const {
    (void)protocol;
    return true;
  }
};

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_INVOKER_H_
