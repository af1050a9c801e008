#ifndef FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_VOICE_H_
#define FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_VOICE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "fairlead/registry/multicast/multicast_message.h"

namespace fairlead::internal {

// What the parts of a multicast registry speak with, whether there is a link or not. REQUIRES: executor.
class MulticastVoice {
 public:
  // kUnavailable: there is no link. kResourceExhausted: not this time. kInvalidArgument: the message would be too long.
  virtual absl::Status Say(MulticastVerb verb, std::string_view url) = 0;
  virtual absl::Status SayTo(const std::string& host, MulticastVerb verb, std::string_view url) = 0;
  // As MulticastLink::Probe; without a link nothing is told.
  virtual void Probe(const std::string& host, std::uint16_t port, absl::AnyInvocable<void(bool)> told) = 0;
  // As it stands in a url.
  virtual std::string local_host() const = 0;

 protected:
  ~MulticastVoice() = default;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_VOICE_H_
