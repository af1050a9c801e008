#ifndef FAIRLEAD_ROUTING_CONDITION_VALUE_PATTERN_H_
#define FAIRLEAD_ROUTING_CONDITION_VALUE_PATTERN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead {

// One pattern of a condition, compiled: what a value of a key is compared with. Immutable; Matches is thread-safe,
// allocates nothing and is linear in the value. Dubbo 3.3's ValuePattern kinds:
//   lo~hi   inclusive range of digits; an open or unreadable one gives the side's default (when: false, then: true)
//   $key    the consumer's value of the key; only on the *then* side, resolved by WithReference
//   other   equality, or a glob of which only the last `*` is a wildcard
class ValuePattern {
 public:
  // `when`: the pattern stands on the *when* side.
  ValuePattern(std::string_view text, bool when);

  bool Matches(std::string_view value) const;
  // The key after `$`, which may be empty; nothing when this is no reference.
  const std::optional<std::string>& reference() const { return reference_; }
  // The pattern with its reference replaced by the consumer's value (nothing = the consumer has none).
  ValuePattern WithReference(std::optional<std::string_view> value) const;

 private:
  enum class Kind : std::uint8_t { kEquals, kAffixes, kRange, kConstant };

  void CompileGlob(std::string_view text);
  void CompileRange(std::string_view text, bool when);

  Kind kind_ = Kind::kEquals;
  bool default_ = false;  // of a range that cannot be decided; the answer of kConstant
  std::int64_t low_ = 0, high_ = 0;
  std::string prefix_, suffix_;  // kEquals: prefix_ is the whole text
  std::optional<std::string> reference_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_CONDITION_VALUE_PATTERN_H_
