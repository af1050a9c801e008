#ifndef FAIRLEAD_ROUTING_RULE_PLACE_H_
#define FAIRLEAD_ROUTING_RULE_PLACE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace fairlead {

// Where in a text of rules an error is and of what kind: data beside a status's words, which say the same to people. A
// condition knows its own text alone, so `byte` counts within it; the document around it adds line and column, where that
// text begins. Plain value.
struct RulePlace {
  int line = 0, column = 0;         // from 1; 0: not known
  std::optional<std::size_t> byte;  // of the condition's text, from 0
  std::string code;                 // as lint names it, "condition-syntax"; empty: no kind of its own
};

// `status` with a place; what the place leaves open stays as it was. OK stays OK.
absl::Status WithPlace(absl::Status status, const RulePlace& place);
// nullopt when nobody gave it one.
std::optional<RulePlace> PlaceOf(const absl::Status& status);
// `status` with other words, and the place it has.
absl::Status Reworded(const absl::Status& status, std::string_view text);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_RULE_PLACE_H_
