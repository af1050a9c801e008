#ifndef FAIRLEAD_TESTS_SUPPORT_PLAIN_RULES_H_
#define FAIRLEAD_TESTS_SUPPORT_PLAIN_RULES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/router.h"

namespace fairlead {

// Condition rules as data: written out for the engine to read, and decided here one provider and one pattern after the
// other, as the reference tells it (strict). SlowCondition is the twin of reading a rule's text; this one is fast enough
// for a million calls.
struct PlainRule {
  struct Key {
    std::string name;
    std::vector<std::string> matches, mismatches;  // not both empty
  };
  using Side = std::vector<Key>;  // all hold

  std::optional<Side> when;  // absent: every call
  std::optional<Side> then;  // absent: nobody
  bool force = false;
  int priority = 0;

  std::string Text() const;
  static std::string Text(const Side& side);
};

// A consumer's or provider's url as rules see it: parameters and host, port, address, protocol, path.
using PlainUrl = std::map<std::string, std::string, std::less<>>;

bool CallHolds(const PlainRule& rule, const PlainUrl& consumer, const RouteCall& call);
bool ProviderHolds(const PlainRule& rule, const PlainUrl& consumer, const PlainUrl& provider);

// Which of `providers` (places in it, in order) all rules leave of `input`. `rules` in order of priority.
std::vector<std::size_t> RouteByPlainRules(const std::vector<PlainRule>& rules, const PlainUrl& consumer,
                                           const std::vector<PlainUrl>& providers, std::vector<std::size_t> input,
                                           const RouteCall& call);

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_PLAIN_RULES_H_
