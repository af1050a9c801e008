#ifndef FAIRLEAD_ROUTING_CONDITION_CONDITION_RULE_H_
#define FAIRLEAD_ROUTING_CONDITION_CONDITION_RULE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/routing/condition/value_pattern.h"
#include "fairlead/rpc/compat.h"

namespace fairlead {

// One key of a side and the patterns its value is compared with. No patterns at all: never true.
struct KeyCondition {
  enum class Source : std::uint8_t { kUrl, kMethod, kArgument, kAttachment };

  std::string key;
  Source source = Source::kUrl;
  // kArgument: the position; kAttachment: the name. Absent: unreadable, the value is a text that equals nothing.
  std::optional<std::size_t> argument;
  std::optional<std::string> attachment;
  std::vector<ValuePattern> matches, mismatches;

  // With only matches: one hits. With only mismatches: none hits. With both: both. Linear in the patterns.
  bool Holds(std::string_view value) const;
};

// A condition rule as written, `method=find* & region=hz => host=10.0.0.*`, taken apart by the grammar of Dubbo 3.3
// (a conjunction of keys on each side, comma lists of values, `=` and `!=`).
struct ConditionRule {
  std::string text;
  std::vector<KeyCondition> when;  // empty: every call
  bool blocks = false;             // the *then* side is empty or `false`: no provider, whatever `force` says
  std::vector<KeyCondition> then;  // empty without `blocks`: no provider satisfies it

  // kInvalidArgument names the text, the offset and what was expected there. Linear in the text.
  // Strict: `consumer.` and `provider.` are erased wherever they stand, as Java does; fixed: only in front of a key.
  static absl::StatusOr<ConditionRule> Parse(std::string_view text, Compat compat);
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_CONDITION_CONDITION_RULE_H_
