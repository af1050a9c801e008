#include "fairlead/routing/condition/value_pattern.h"

#include <algorithm>
#include <limits>

namespace fairlead {
namespace {

constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();

// Dubbo's StringUtils.parseInteger: digits only, anything else is 0; absent = more than a Java int holds.
std::optional<std::int64_t> ParseDigits(std::string_view text) {
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) return 0;
  std::int64_t value = 0;
  for (const char c : text) {
    value = value * 10 + (c - '0');
    if (value > kIntMax) return std::nullopt;
  }
  return value;
}

}  // namespace

ValuePattern::ValuePattern(std::string_view text, bool when) {
  if (text.find('~') != std::string_view::npos) {
    CompileRange(text, when);
  } else if (!when && text.starts_with('$')) {
    reference_ = text.substr(1);
    kind_ = Kind::kConstant;
  } else {
    CompileGlob(text);
  }
}

void ValuePattern::CompileGlob(std::string_view text) {
  if (text == "*") {
    kind_ = Kind::kConstant;
    default_ = true;
    return;
  }
  const std::size_t star = text.rfind('*');
  if (star == std::string_view::npos) {
    kind_ = Kind::kEquals;
    prefix_ = text;
  } else {
    kind_ = Kind::kAffixes;
    prefix_ = text.substr(0, star);
    suffix_ = text.substr(star + 1);
  }
}

void ValuePattern::CompileRange(std::string_view text, bool when) {
  default_ = !when;
  kind_ = Kind::kConstant;
  // Java's split drops empty parts at the end, so `5~` has one part and is no range.
  while (text.ends_with('~')) text.remove_suffix(1);
  const std::size_t first = text.find('~');
  if (first == std::string_view::npos) return;
  const std::string_view low = text.substr(0, first);
  const std::string_view rest = text.substr(first + 1);
  const std::string_view high = rest.substr(0, rest.find('~'));
  if (low.empty() && high.empty()) return;
  const auto low_value = low.empty() ? std::optional<std::int64_t>(0) : ParseDigits(low);
  const auto high_value = high.empty() ? std::optional<std::int64_t>(kIntMax) : ParseDigits(high);
  if (!low_value || !high_value) return;
  kind_ = Kind::kRange;
  low_ = *low_value;
  high_ = *high_value;
}

bool ValuePattern::Matches(std::string_view value) const {
  switch (kind_) {
    case Kind::kConstant:
      return default_;
    case Kind::kEquals:
      return value == prefix_;
    case Kind::kAffixes:
      // An empty value meets only `*` and the empty pattern. Prefix and suffix may overlap.
      return !value.empty() && value.starts_with(prefix_) && value.ends_with(suffix_);
    case Kind::kRange: {
      const auto number = ParseDigits(value);
      return number ? low_ <= *number && *number <= high_ : default_;
    }
  }
  return false;
}

ValuePattern ValuePattern::WithReference(std::optional<std::string_view> value) const {
  ValuePattern resolved = *this;
  resolved.reference_.reset();
  resolved.default_ = false;
  // An absent value is compared like an empty one: equal to nothing but an empty value.
  resolved.CompileGlob(value.value_or(std::string_view()));
  return resolved;
}

}  // namespace fairlead
