#include "fairlead/routing/yaml/yaml_value.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <re2/re2.h>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

// The types of an unquoted scalar, by YAML 1.1's rules for what each looks like (https://yaml.org/type/).
bool IsNull(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::optional<bool> BoolOf(std::string_view text) {
  for (const std::string_view yes : {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

bool LooksLikeInteger(std::string_view text) {
  static const RE2* const pattern = new RE2(
      "[-+]?0b_*[01][01_]*|[-+]?0_*[0-7][0-7_]*|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x_*[0-9a-fA-F][0-9a-fA-F_]*|"
      "[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+");
  return RE2::FullMatch(text, *pattern);
}

bool LooksLikeFloat(std::string_view text) {
  static const RE2* const pattern = new RE2(
      "[-+]?[0-9][0-9_]*\\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+|"
      "\\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\\.[0-9_]*|[-+]?\\.(?:inf|Inf|INF)|"
      "\\.(?:nan|NaN|NAN)");
  return RE2::FullMatch(text, *pattern);
}

bool LooksLikeTimestamp(std::string_view text) {
  static const RE2* const pattern = new RE2(
      "[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \\t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}"
      "(?:\\.[0-9]*)?(?:[ \\t]*(?:Z|[-+][0-9]{1,2}(?::?[0-9]{2})?))?");
  return RE2::FullMatch(text, *pattern);
}

// The decimal text of what LooksLikeInteger took. A number beyond 64 bits that is not decimal keeps its spelling.
std::string IntegerText(std::string_view written) {
  std::string digits;
  for (const char c : written) {
    if (c != '_') digits += c;
  }
  const bool negative = digits.front() == '-';
  if (negative || digits.front() == '+') digits.erase(0, 1);
  int base = 10;
  std::string_view rest = digits;
  if (rest.starts_with("0b")) {
    base = 2;
    rest.remove_prefix(2);
  } else if (rest.starts_with("0x")) {
    base = 16;
    rest.remove_prefix(2);
  } else if (rest.size() > 1 && rest.front() == '0') {
    base = 8;
    rest.remove_prefix(1);
  }
  std::uint64_t value = 0;
  bool fits = true;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    std::uint64_t part = 0;
    const std::string_view digits_of_part = rest.substr(0, colon);
    fits = fits && std::from_chars(digits_of_part.data(), digits_of_part.data() + digits_of_part.size(), part, base).ec ==
                       std::errc();
    fits = fits && value <= (std::numeric_limits<std::uint64_t>::max() - part) / 60;
    value = value * 60 + part;
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
  if (!fits) return base == 10 ? absl::StrCat(negative ? "-" : "", digits) : std::string(written);
  return absl::StrCat(negative && value != 0 ? "-" : "", value);
}

double FloatOf(std::string_view written) {
  std::string text;
  for (const char c : written) {
    if (c != '_') text += c;
  }
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.erase(0, 1);
  double value = 0;
  if (text.size() == 4 && text.front() == '.' && (text[1] == 'i' || text[1] == 'I')) {
    value = std::numeric_limits<double>::infinity();
  } else if (text.size() == 4 && text.front() == '.' && (text[1] == 'n' || text[1] == 'N')) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    std::string_view rest = text;
    for (;;) {
      const std::size_t colon = rest.find(':');
      const std::string_view part = rest.substr(0, colon);
      double number = 0;
      std::from_chars(part.data(), part.data() + part.size(), number);
      value = value * 60 + number;
      if (colon == std::string_view::npos) break;
      rest.remove_prefix(colon + 1);
    }
  }
  return negative ? -value : value;
}

// Java's Double.toString: the shortest digits, plain from a thousandth to ten million, else with an exponent.
std::string JavaDouble(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  const double size = std::fabs(value);
  const bool plain = size >= 1e-3 && size < 1e7;
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  std::string_view made(text.data(), static_cast<std::size_t>(end - text.data()));
  if (plain) return absl::StrCat(ToAbsl(made), made.find('.') == std::string_view::npos ? ".0" : "");
  const std::size_t e = made.find('e');
  const std::string_view digits = made.substr(0, e);
  int exponent = 0;
  const std::string_view power = made.substr(made[e + 1] == '+' ? e + 2 : e + 1);
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  return absl::StrCat(ToAbsl(digits), digits.find('.') == std::string_view::npos ? ".0" : "", "E", exponent);
}

}  // namespace

std::string YamlMark::ToString() const { return absl::StrCat("line ", line, ", column ", column); }

YamlValue YamlValue::Text(std::string text, YamlMark mark) {
  YamlValue value;
  value.kind_ = Kind::kText;
  value.mark_ = mark;
  value.scalar_ = std::move(text);
  return value;
}

YamlValue YamlValue::Plain(std::string_view written, YamlMark mark) {
  YamlValue value;
  value.mark_ = mark;
  if (IsNull(written)) {
    value.scalar_ = "null";
  } else if (const std::optional<bool> flag = BoolOf(written)) {
    value.kind_ = Kind::kBool;
    value.scalar_ = *flag ? "true" : "false";
  } else if (LooksLikeInteger(written)) {
    value.kind_ = Kind::kInteger;
    value.scalar_ = IntegerText(written);
  } else if (LooksLikeFloat(written)) {
    value.kind_ = Kind::kFloat;
    value.scalar_ = JavaDouble(FloatOf(written));
  } else {
    value.kind_ = LooksLikeTimestamp(written) ? Kind::kTimestamp : Kind::kText;
    value.scalar_ = written;
  }
  return value;
}

YamlValue YamlValue::List(std::vector<YamlValue> items, YamlMark mark) {
  YamlValue value;
  value.kind_ = Kind::kList;
  value.mark_ = mark;
  value.items_ = std::move(items);
  return value;
}

YamlValue YamlValue::Map(std::vector<Entry> entries, YamlMark mark) {
  YamlValue value;
  value.kind_ = Kind::kMap;
  value.mark_ = mark;
  value.entries_ = std::move(entries);
  return value;
}

std::string YamlValue::Description() const {
  switch (kind_) {
    case Kind::kNull:
      return "nothing";
    case Kind::kBool:
      return absl::StrCat("the boolean ", scalar_);
    case Kind::kInteger:
    case Kind::kFloat:
      return absl::StrCat("the number ", Shortened(scalar_, 40));
    case Kind::kTimestamp:
      return absl::StrCat("the date ", Shortened(scalar_, 40));
    case Kind::kText:
      return absl::StrCat("the text \"", Shortened(Redacted(scalar_), 80), "\"");  // it may be a url with a password
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a map";
  }
  return {};
}

std::string YamlValue::JavaText() const {
  if (kind_ == Kind::kNull) return "null";
  if (kind_ != Kind::kList && kind_ != Kind::kMap) return scalar_;
  std::string text = kind_ == Kind::kList ? "[" : "{";
  std::string_view separator = "";
  for (const YamlValue& item : items_) {
    absl::StrAppend(&text, ToAbsl(std::exchange(separator, ", ")), item.JavaText());
  }
  for (const auto& [key, value] : entries_) {
    absl::StrAppend(&text, ToAbsl(std::exchange(separator, ", ")), key.JavaText(), "=", value.JavaText());
  }
  text += kind_ == Kind::kList ? ']' : '}';
  return text;
}

std::optional<std::int32_t> YamlValue::AsJavaInt() const { return ParseJavaInt(JavaText()); }

const YamlValue* YamlValue::Find(std::string_view key) const {
  for (const auto& [name, value] : entries_) {
    if (name.kind_ == Kind::kText && name.scalar_ == key) return &value;
  }
  return nullptr;
}

std::size_t YamlValue::size() const {
  std::size_t total = 1;
  for (const YamlValue& item : items_) total += item.size();
  for (const auto& [key, value] : entries_) total += key.size() + value.size();
  return total;
}

}  // namespace fairlead
