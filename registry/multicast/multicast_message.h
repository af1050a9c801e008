#ifndef FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_MESSAGE_H_
#define FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/url/url_parts.h"

namespace fairlead::internal {

// Dubbo's receivers read no more of a datagram, and take what they have got for the whole of it.
inline constexpr std::size_t kMostDatagramBytes = 2048;

enum class MulticastVerb : std::uint8_t { kRegister, kUnregister, kSubscribe, kUnsubscribe };

struct MulticastMessage {
  MulticastVerb verb = MulticastVerb::kRegister;
  std::string_view url;  // blanks around it are gone; may be empty
};

// The first line of a datagram, as Dubbo reads it. Absent: it is no message. `datagram` must outlive the answer. Linear.
std::optional<MulticastMessage> ReadMulticastMessage(std::string_view datagram);

// A datagram, with its line feed.
std::string MulticastText(MulticastVerb verb, std::string_view url);

// kInvalidArgument when a url would not arrive as it is, in any message there may be about it: it is too long, or not text, or
// would be trimmed.
absl::Status CheckMulticastUrl(std::string_view url);

// A url as somebody announces it.
struct HeardUrl {
  RegistryKey key;
  std::string identity;  // the url but for `pid` and `timestamp`: equal for two lives of one provider
  std::string text;
  std::int64_t timestamp = 0;
  UrlParts parts;

  // kInvalidArgument says what cannot be used, without passwords.
  static absl::StatusOr<HeardUrl> Read(std::string_view text);
};

// Of several lives of one url the latest.
class NewestUrls {
 public:
  void Add(std::string_view identity, std::int64_t timestamp, std::string_view text);
  // By identity, so that equal sets are equal lists.
  std::vector<std::string> Texts() const;

 private:
  std::map<std::string_view, std::pair<std::int64_t, std::string_view>> urls_;
};

// May a connection tell whether the url's owner lives? Not of what has no port, of rules and consumers, nor of what is to
// stay without its owner (dynamic=false).
bool IsProbed(const UrlParts& url);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_MESSAGE_H_
