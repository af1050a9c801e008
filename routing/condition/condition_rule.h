#ifndef FAIRLEAD_ROUTING_CONDITION_CONDITION_RULE_H_
#define FAIRLEAD_ROUTING_CONDITION_CONDITION_RULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fairlead/routing/condition/value_pattern.h"
#include "fairlead/rpc/compat.h"

namespace fairlead {

// One key of a condition with the patterns its value is compared with, as written. Holds when no mismatch
// hits and, if there are matches, at least one of them does; with neither it never holds.
struct KeyPatterns {
  std::string key;
  std::vector<std::string> matches;     // after '='
  std::vector<std::string> mismatches;  // after '!='
  bool operator==(const KeyPatterns&) const = default;
};

// One side of a rule: all keys must hold. Each key occurs once.
using Conditions = std::vector<KeyPatterns>;

// A condition rule, `when => then`, as text that was understood: which calls it is about and which providers
// they may reach. A plain value.
//
// The language is Dubbo's: `key = a, b* & other != c => key = $key`. There is no quoting, no escape and no
// `or`; a value never holds a blank or one of `& ! = ,`. What each oddity means is in docs/rules.md.
struct ConditionRule {
  std::string text;                // as given
  Conditions when;                 // empty: every call
  std::optional<Conditions> then;  // nullopt: no provider at all (a blacklist); empty: no provider matches
  // Which reading of Java's errors the text was parsed with; the patterns' meaning depends on it too.
  Compat compat = Compat::kStrict;
};

// One word of a rule's text and what it was taken for, for lint and tools that show rules.
struct ConditionWord {
  enum class Role : std::uint8_t { kKey, kMatch, kMismatch };
  RuleSide side = RuleSide::kWhen;
  Role role = Role::kKey;
  std::size_t offset = 0;   // of its first byte, in the text as given
  std::string text;         // as understood: without the prefixes that are erased
  std::string key;          // whose value it is; of a key itself
  bool replaces = false;    // a key that drops an earlier one of the same name with its values
  bool of_earlier = false;  // a value that goes to another key than the one written last
};

// kInvalidArgument quotes the rule (cut when long), says at which byte of `text` it went wrong and what was
// expected there. Linear in the text, but for a logarithm of the number of keys.
//
// kStrict erases `consumer.` and `provider.` everywhere, also inside values, as Java does; kFixed only where
// they begin a key. `words`, when given, gets those up to the first error.
absl::StatusOr<ConditionRule> ParseConditionRule(std::string_view text, Compat compat,
                                                 std::vector<ConditionWord>* words = nullptr);

// One side alone, for rule documents that keep the two apart; there `consumer.` and `provider.` are part of a key. Blank
// text gives no conditions. Errors as above.
absl::StatusOr<Conditions> ParseConditions(std::string_view side, std::vector<ConditionWord>* words = nullptr,
                                           RuleSide which = RuleSide::kWhen);

// Blank as Java's Character.isWhitespace sees it, Unicode blanks included. True for empty text.
bool IsJavaBlank(std::string_view text);
// Without the leading and trailing bytes up to 0x20, as Java's String.trim.
std::string_view JavaTrim(std::string_view text);

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_CONDITION_CONDITION_RULE_H_
