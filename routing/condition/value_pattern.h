#ifndef FAIRLEAD_ROUTING_CONDITION_VALUE_PATTERN_H_
#define FAIRLEAD_ROUTING_CONDITION_VALUE_PATTERN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/strings.h"
#include "fairlead/rpc/compat.h"

namespace fairlead {

// A side of a rule: some patterns mean something else on the other one.
enum class RuleSide : std::uint8_t { kWhen, kThen };

// One value of a condition, compiled: equality, `*`, a text around its last `*`, or a range `lo~hi`.
// Immutable value; thread-safe; Matches allocates nothing and is linear in the shorter text.
class ValuePattern {
 public:
  // A text with `~` is a range, any other a glob. `$` references must have been replaced.
  static ValuePattern Compile(std::string_view text, RuleSide side, Compat compat);

  // Only the last `*` is a wildcard: what precedes it is a prefix, what follows a suffix, and they may
  // overlap. `*` alone matches everything, empty text included; the empty pattern only empty text.
  static ValuePattern Glob(std::string_view text);

  // `lo~hi`, both ends included, 32-bit decimal digits; a value or bound that is not all digits reads as 0,
  // so a negative number does too. `~hi` has no lower end. What cannot be understood as a range, or exceeds
  // 32 bits, gives false on the *when* side and true on the *then* side. Java 3.3 does not understand `lo~`
  // either; kFixed reads it as "lo or more".
  static ValuePattern Range(std::string_view text, RuleSide side, Compat compat);

  bool Matches(std::string_view value) const;
  // Compares with `text()` alone.
  bool is_equality() const { return kind_ == Kind::kEqual; }
  const std::string& text() const { return text_; }
  // What a range that could be understood compares with, both ends included.
  struct Bounds {
    std::int32_t low, high;
  };
  std::optional<Bounds> range() const {
    return kind_ == Kind::kRange ? std::optional<Bounds>({low_, high_}) : std::nullopt;
  }
  // The answer to every text, when it is always the same: `*`, and a range that could not be understood.
  std::optional<bool> constant() const {
    if (kind_ == Kind::kAny) return true;
    return kind_ == Kind::kConstant ? std::optional<bool>(otherwise_) : std::nullopt;
  }

  bool operator==(const ValuePattern&) const = default;

 private:
  enum class Kind : std::uint8_t { kEqual, kAny, kAround, kRange, kConstant };
  ValuePattern(Kind kind, std::string_view text) : kind_(kind), text_(text) {}

  Kind kind_;
  bool otherwise_ = false;  // kConstant, and kRange with a value beyond 32 bits
  std::size_t head_ = 0;    // kAround: length of the prefix; the suffix starts one byte later
  std::int32_t low_ = 0, high_ = 0;
  std::string text_;
};

// All patterns of one key. More than a few equalities are searched by bisection, all others in turn.
// Immutable once compiled; thread-safe.
class ValueMatcher {
 public:
  void AddMatch(ValuePattern pattern) { matches_.Add(std::move(pattern)); }
  void AddMismatch(ValuePattern pattern) { mismatches_.Add(std::move(pattern)); }
  // Call once after the last Add.
  void Finish();

  // The rule for a value that exists; one that does not exist never matches, not even mismatches.
  bool Matches(std::string_view value) const {
    if (plain_ != Plain::kNo) return SameText(value, text_) == (plain_ == Plain::kIs);
    if (mismatches_.Any(value)) return false;
    return matches_.empty() ? !mismatches_.empty() : matches_.Any(value);
  }
  // Has no pattern: nothing matches.
  bool empty() const { return matches_.empty() && mismatches_.empty(); }

 private:
  class Alternatives {
   public:
    void Add(ValuePattern pattern);
    void Finish();
    bool Any(std::string_view value) const;
    bool empty() const { return equalities_.empty() && others_.empty(); }
    // The text, when an equality is all there is; else nullptr.
    const std::string* only() const {
      return equalities_.size() == 1 && others_.empty() ? &equalities_.front() : nullptr;
    }

   private:
    static constexpr std::size_t kFew = 8;
    bool Has(std::string_view value) const;

    std::vector<std::string> equalities_;  // sorted, distinct
    std::vector<ValuePattern> others_;
  };
  // One text to be or not to be: nearly every condition.
  enum class Plain : std::uint8_t { kNo, kIs, kIsNot };

  Alternatives matches_, mismatches_;
  Plain plain_ = Plain::kNo;
  std::string text_;  // unless kNo
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_CONDITION_VALUE_PATTERN_H_
