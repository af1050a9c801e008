#ifndef FAIRLEAD_ROUTING_ADDRESS_MATCH_H_
#define FAIRLEAD_ROUTING_ADDRESS_MATCH_H_

#include <optional>
#include <string>
#include <string_view>

#include "fairlead/routing/tag/address_pattern.h"
#include "fairlead/rpc/compat.h"

namespace fairlead {

// A condition on one address, host or host:port, as rule documents state it: `{wildcard: "10.0.*"}`. It holds when one of
// the kinds given does; with none nothing matches. Immutable; thread-safe.
class AddressMatch {
 public:
  struct Kinds {
    // An AddressPattern, or the address itself. (Dubbo spells it so.) As in Dubbo the pattern is for hosts alone: a
    // host:port is only ever matched by the very same text.
    std::optional<std::string> cird = {};
    std::optional<std::string> wildcard = {};  // `*` and 0.0.0.0: any; else a glob (MatchesGlob)
    std::optional<std::string> exact = {};
  };

  // Matches nothing.
  AddressMatch() = default;
  AddressMatch(Kinds kinds, Compat compat);

  // Linear in the text. Never looks a name up.
  bool Matches(std::string_view address) const;

  const Kinds& kinds() const { return kinds_; }
  // What is wrong with a `cird` that fits no host; else OK.
  absl::Status status() const { return pattern_.has_value() ? pattern_->status() : absl::OkStatus(); }
  // "wildcard \"10.0.*\"", for people.
  std::string ToString() const;

 private:
  Kinds kinds_;
  std::optional<AddressPattern> pattern_;  // of `cird`
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_ADDRESS_MATCH_H_
