#include <optional>
#include <stdexcept>
#include <string>

#include "fairlead/registry/multicast/multicast_message.h"
#include "fairlead/url/url_parts.h"
#include "runner.h"

namespace fairlead::conformance {
namespace {

using internal::MulticastMessage;
using internal::MulticastVerb;

// `register url` is what is to be said, {"receive": text} a datagram that comes.
Json Messages(const Case& c) {
  const bool comes = c.in.is_object();
  const std::string text = comes ? c.in.at("receive").get<std::string>() : c.in.get<std::string>();
  const std::optional<MulticastMessage> message = internal::ReadMulticastMessage(text);
  if (!comes) {
    if (!message) throw std::runtime_error("what is to be said?");
    return internal::MulticastText(message->verb, message->url);
  }
  if (!message || message->verb == MulticastVerb::kUnsubscribe) return "ignored";
  const char* const what = message->verb == MulticastVerb::kRegister     ? "registered("
                           : message->verb == MulticastVerb::kUnregister ? "unregistered("
                                                                         : "subscribed(";
  return what + std::string(message->url) + ")";
}

Json IsExpired(const Case& c) {
  const absl::StatusOr<UrlParts> url = UrlParts::Parse(c.in.get<std::string>());
  if (!url.ok()) throw std::runtime_error(std::string(url.status().message()));
  return internal::IsProbed(*url) ? Json("probe") : Json(false);
}

}  // namespace

void RegisterMulticastKinds(KindTable& kinds) {
  kinds.Add("registry.multicast_messages", ExactKind(Messages));
  kinds.Add("registry.multicast_is_expired", ExactKind(IsExpired));
}

}  // namespace fairlead::conformance
