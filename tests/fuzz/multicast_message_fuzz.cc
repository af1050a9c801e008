// Datagrams of multicast registries.
#include "fairlead/registry/multicast/multicast_message.h"
#include "fairlead/tests/fuzz/fuzz.h"

namespace fairlead::fuzz {

using internal::MulticastVerb;

void Try(std::string_view input) {
  const std::string text(input);
  if (const auto message = internal::ReadMulticastMessage(text)) {
    FUZZ_EXPECT(message->url.empty() || text.find(message->url) != text.npos, text);
    const absl::StatusOr<internal::HeardUrl> heard = internal::HeardUrl::Read(message->url);
    if (heard.ok()) {
      FUZZ_EXPECT(!heard->key.service.empty() && !heard->identity.empty(), text);
      (void)internal::IsProbed(heard->parts);
    } else {
      FUZZ_EXPECT(absl::IsInvalidArgument(heard.status()) && heard.status().message().size() < 1200, heard.status().ToString());
    }
  }
  // What may be announced arrives as it is.
  if (!internal::CheckMulticastUrl(text).ok()) return;
  for (const MulticastVerb verb : {MulticastVerb::kRegister, MulticastVerb::kUnregister, MulticastVerb::kSubscribe, MulticastVerb::kUnsubscribe}) {
    const std::string datagram = internal::MulticastText(verb, text);
    FUZZ_EXPECT(datagram.size() <= internal::kMostDatagramBytes, datagram);
    const auto message = internal::ReadMulticastMessage(datagram);
    FUZZ_EXPECT(message.has_value() && message->verb == verb && message->url == text, datagram);
  }
}

}  // namespace fairlead::fuzz
