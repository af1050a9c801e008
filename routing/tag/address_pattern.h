#ifndef FAIRLEAD_ROUTING_TAG_ADDRESS_PATTERN_H_
#define FAIRLEAD_ROUTING_TAG_ADDRESS_PATTERN_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "fairlead/routing/tag/ip_address.h"
#include "fairlead/rpc/compat.h"

namespace fairlead {

// Dubbo's expression for the addresses of providers, compiled:
//
//   10.0.0.1   10.0.*.1-20   10.0.0.1:20880   10.0.0.0/8   [fe80::1]:20880   fe80:0:0:0:0:0:0:*   fe80::/10   *
//
// A `*` or an inclusive `lo-hi` stands for one part; IPv6 with them has all eight. A network has no port. Parts of
// patterns with `*` or `-` are compared as Java writes addresses: `001` and `FE` hit nothing, `000` is 0. Names are never
// looked up, neither in the pattern nor as host. Under kStrict hosts in 127.0.0.0/8 and 0.0.0.0 fit only networks and
// `*`, as Dubbo takes them for IPv6.
//
// Immutable value; thread-safe.
class AddressPattern {
 public:
  // kCannot: Dubbo raises an error here and goes on with the next pattern, so for routing it is a no. The host is a name,
  // or is of another family than the pattern, or the pattern is malformed.
  enum class Answer : std::uint8_t { kNo, kYes, kCannot };

  AddressPattern(std::string_view text, Compat compat);

  // nullopt: the host is no literal (IpAddress::Parse). Allocates nothing; constant time.
  Answer Match(const std::optional<IpAddress>& host, int port) const;
  Answer Match(std::string_view host, int port) const { return Match(IpAddress::Parse(host), port); }

  // kInvalidArgument, naming the pattern and what is wrong, when no host can ever fit; compile nevertheless succeeded.
  const absl::Status& status() const { return status_; }
  const std::string& text() const { return text_; }
  // Whether it fits no hosts but literals(), for whoever looks for a host among many patterns.
  bool literal() const { return kind_ == Kind::kParts && v4_.parts.empty() && v6_.parts.empty(); }
  std::array<std::optional<IpAddress>, 2> literals() const { return {v4_.address, v6_.address}; }

 private:
  // One part of an address.
  struct Part {
    enum class Kind : std::uint8_t { kAny, kRange, kNever, kMalformed };
    Kind kind = Kind::kAny;
    std::int32_t low = 0, high = 0;
  };
  // What it says of hosts of one family.
  struct Form {
    bool any_port = true;
    int port = -1;                      // unless any_port; -1 = none has it
    const char* malformed = nullptr;    // why
    std::optional<IpAddress> address;   // without parts
    std::vector<Part> parts;
  };
  enum class Kind : std::uint8_t { kAny, kNetwork, kParts };

  void CompileNetwork();
  static Form CompileForm(std::string_view text, bool v4);
  static Part CompilePart(std::string_view text, bool v4);
  static Answer MatchParts(const Form& form, const IpAddress& host);
  static bool CanMatch(const Form& form);

  std::string text_;
  Compat compat_;
  Kind kind_ = Kind::kAny;
  std::optional<std::array<IpAddress, 2>> network_;  // kNetwork: first and last; nullopt when malformed
  Form v4_, v6_;                                     // kParts
  absl::Status status_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_TAG_ADDRESS_PATTERN_H_
