#ifndef FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_LINK_H_
#define FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_LINK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fairlead/registry/multicast/multicast_options.h"

namespace fairlead::internal {

struct Datagram {
  std::string text;  // at most a byte more than kMostDatagramBytes, which tells that it was longer
  std::string from;  // numeric, without the port
  bool own = false;  // this link sent it
  bool from_this_host = false;
  bool unicast = false;  // sent to this host, not to the group
};

// The way to a group. REQUIRES: executor, for everything. Destroying it ends it; nothing is called afterwards.
class MulticastLink {
 public:
  class Events {
   public:
    // `lost`: more came meanwhile, and were dropped because the executor was busy.
    virtual void OnDatagrams(std::vector<Datagram> datagrams, std::size_t lost) = 0;
    // Nothing will be received any more. The link is to be destroyed, later.
    virtual void OnLost(absl::Status why) = 0;

   protected:
    ~Events() = default;
  };

  virtual ~MulticastLink() = default;
  // Never wait. kResourceExhausted: not this time; else the link cannot send.
  virtual absl::Status Multicast(const std::string& text) = 0;
  virtual absl::Status Unicast(const std::string& text, const std::string& to) = 0;
  // Does anybody take TCP connections at `host`, a numeric address? Unknown counts as yes. Told later.
  virtual void Probe(const std::string& host, std::uint16_t port, absl::AnyInvocable<void(bool)> told) = 0;
  // This host's, towards the group.
  virtual const std::string& local_address() const = 0;
};

using MulticastOpener =
    std::function<absl::StatusOr<std::unique_ptr<MulticastLink>>(const MulticastOptions&, MulticastLink::Events&)>;

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_LINK_H_
