#ifndef FAIRLEAD_TESTS_SUPPORT_PLAIN_CHAIN_H_
#define FAIRLEAD_TESTS_SUPPORT_PLAIN_CHAIN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fairlead/tests/support/plain_rules.h"
#include "fairlead/tests/support/slow_tags.h"

namespace fairlead {

// A rule of a 3.1 document, of which a call draws a destination.
struct PlainDestinations {
  struct To {
    std::optional<PlainRule::Side> match;  // absent: every provider
    std::uint32_t weight = 100;
  };
  std::optional<PlainRule::Side> from;  // absent: every call
  std::vector<To> to;
  bool force = false;
};

struct PlainAffinity {
  std::string key;
  int ratio = 0;
};

struct PlainTags {
  std::map<std::string, SlowTags> rules;  // by application
};

// One router of a chain as data, for the providers of `application` only unless that is empty.
struct PlainStep {
  std::string application;
  std::variant<PlainRule, PlainDestinations, PlainAffinity, PlainTags> rule;
};

// Where a call can end, places in the list, each with its share.
using PlainEnds = std::map<std::vector<std::size_t>, double>;

// The walk of a call through the steps, drawing where a draw is met, followed along each of its ways. `live` are the
// places that come in.
PlainEnds EndsOf(const std::vector<PlainStep>& steps, const PlainUrl& consumer, const std::vector<PlainUrl>& providers,
                 const std::vector<std::size_t>& live, const RouteCall& call);

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_PLAIN_CHAIN_H_
