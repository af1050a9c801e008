#include "fairlead/routing/condition/value_pattern.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

constexpr std::int32_t kMaxInt = std::numeric_limits<std::int32_t>::max();

// nullopt = more than 32 bits; 0 for anything but digits.
std::optional<std::int32_t> DigitsOrZero(std::string_view text) {
  std::int64_t number = 0;
  bool fits = true;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    if (fits) number = number * 10 + (c - '0');
    fits = fits && number <= kMaxInt;
  }
  if (!fits) return std::nullopt;
  return static_cast<std::int32_t>(number);
}

}  // namespace

ValuePattern ValuePattern::Compile(std::string_view text, RuleSide side, Compat compat) {
  return text.find('~') == text.npos ? Glob(text) : Range(text, side, compat);
}

ValuePattern ValuePattern::Glob(std::string_view text) {
  if (text == "*") return {Kind::kAny, text};
  const std::size_t star = text.rfind('*');
  if (star == text.npos) return {Kind::kEqual, text};
  ValuePattern pattern(Kind::kAround, text);
  pattern.head_ = star;
  return pattern;
}

ValuePattern ValuePattern::Range(std::string_view text, RuleSide side, Compat compat) {
  const bool otherwise = side == RuleSide::kThen;
  ValuePattern constant(Kind::kConstant, text);
  constant.otherwise_ = otherwise;

  const std::size_t tilde = text.find('~');
  if (tilde == text.npos) return constant;
  const std::string_view low_text = text.substr(0, tilde);
  const std::string_view rest = text.substr(tilde + 1);
  const std::string_view high_text = rest.substr(0, rest.find('~'));
  // Java's split drops empty parts at the end, so nothing but `~` after the first bound is no second part.
  if (rest.find_first_not_of('~') == rest.npos && (compat == Compat::kStrict || low_text.empty()))
    return constant;
  if (low_text.empty() && high_text.empty()) return constant;

  const std::optional<std::int32_t> low = DigitsOrZero(low_text);
  const std::optional<std::int32_t> high = high_text.empty() ? kMaxInt : DigitsOrZero(high_text);
  if (!low || !high) return constant;
  ValuePattern pattern(Kind::kRange, text);
  pattern.otherwise_ = otherwise;
  pattern.low_ = *low;  // 0 without a lower bound: a value is never below
  pattern.high_ = *high;
  return pattern;
}

bool ValuePattern::Matches(std::string_view value) const {
  switch (kind_) {
    case Kind::kEqual:
      return value == text_;
    case Kind::kAny:
      return true;
    case Kind::kAround: {
      const std::string_view text = text_;
      return value.starts_with(text.substr(0, head_)) && value.ends_with(text.substr(head_ + 1));
    }
    case Kind::kRange: {
      const std::optional<std::int32_t> number = DigitsOrZero(value);
      return number ? low_ <= *number && *number <= high_ : otherwise_;
    }
    case Kind::kConstant:
      return otherwise_;
  }
  return false;
}

void ValueMatcher::Alternatives::Add(ValuePattern pattern) {
  if (pattern.is_equality()) {
    equalities_.push_back(pattern.text());
  } else {
    others_.push_back(std::move(pattern));
  }
}

void ValueMatcher::Alternatives::Finish() {
  std::sort(equalities_.begin(), equalities_.end());
  equalities_.erase(std::unique(equalities_.begin(), equalities_.end()), equalities_.end());
}

bool ValueMatcher::Alternatives::Has(std::string_view value) const {
  if (equalities_.size() > kFew) {
    return std::binary_search(equalities_.begin(), equalities_.end(), value, std::less<>());
  }
  for (const std::string& text : equalities_) {
    if (SameText(text, value)) return true;
  }
  return false;
}

bool ValueMatcher::Alternatives::Any(std::string_view value) const {
  if (Has(value)) return true;
  for (const ValuePattern& pattern : others_) {
    if (pattern.Matches(value)) return true;
  }
  return false;
}

void ValueMatcher::Finish() {
  matches_.Finish();
  mismatches_.Finish();
  const bool one_match = mismatches_.empty() && matches_.only() != nullptr;
  const bool one_mismatch = matches_.empty() && mismatches_.only() != nullptr;
  if (!one_match && !one_mismatch) return;
  plain_ = one_match ? Plain::kIs : Plain::kIsNot;
  text_ = one_match ? *matches_.only() : *mismatches_.only();
}

}  // namespace fairlead
