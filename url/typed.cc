#include "fairlead/url/typed.h"

#include <charconv>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

template <class Int>
std::optional<Int> ParseInteger(std::string_view text) {
  // from_chars knows '-' but not '+', and would take "+-1" for a number once the '+' is gone.
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return std::nullopt;
  }
  Int value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

absl::StatusOr<std::int32_t> AsInt(std::string_view key, std::string_view value, std::int32_t fallback) {
  if (value.empty()) return fallback;
  if (const auto parsed = ParseJavaInt(value)) return *parsed;
  return absl::InvalidArgumentError(absl::StrCat("parameter ", ToAbsl(key), "=", ToAbsl(value.substr(0, 64)),
                                                 ": expected a decimal integer of 32 bits"));
}

absl::StatusOr<std::int32_t> Positive(absl::StatusOr<std::int32_t> value, std::int32_t fallback) {
  return value.ok() && *value <= 0 ? fallback : value;
}

// What `\s` means in Java's regular expressions.
bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::optional<std::int32_t> ParseJavaInt(std::string_view text) { return ParseInteger<std::int32_t>(text); }
std::optional<std::int64_t> ParseJavaLong(std::string_view text) { return ParseInteger<std::int64_t>(text); }
bool ParseJavaBool(std::string_view text) { return absl::EqualsIgnoreCase(ToAbsl(text), "true"); }

absl::StatusOr<std::int32_t> IntParam(const UrlParts& url, std::string_view key, std::int32_t fallback) {
  return AsInt(key, url.Param(key), fallback);
}

absl::StatusOr<std::int32_t> PositiveParam(const UrlParts& url, std::string_view key, std::int32_t fallback) {
  return Positive(IntParam(url, key, fallback), fallback);
}

absl::StatusOr<std::int32_t> MethodIntParam(const UrlParts& url, std::string_view method,
                                            std::string_view key, std::int32_t fallback) {
  return AsInt(key, url.MethodParam(method, key), fallback);
}

absl::StatusOr<std::int32_t> MethodPositiveParam(const UrlParts& url, std::string_view method,
                                                 std::string_view key, std::int32_t fallback) {
  return Positive(MethodIntParam(url, method, key, fallback), fallback);
}

bool BoolParam(const UrlParts& url, std::string_view key, bool fallback) {
  const std::string_view value = url.Param(key);
  return value.empty() ? fallback : ParseJavaBool(value);
}

bool MethodBoolParam(const UrlParts& url, std::string_view method, std::string_view key, bool fallback) {
  const std::string_view value = url.MethodParam(method, key);
  return value.empty() ? fallback : ParseJavaBool(value);
}

std::string_view CommaList::Split() {
  std::size_t i = 0;
  while (i < rest_.size()) {
    if (!IsBlank(rest_[i]) && rest_[i] != ',') {
      ++i;
      continue;
    }
    const std::size_t separator = i;
    while (i < rest_.size() && IsBlank(rest_[i])) ++i;
    if (i == rest_.size() || rest_[i] != ',') continue;  // blanks inside an element
    while (i < rest_.size() && rest_[i] == ',') ++i;
    while (i < rest_.size() && IsBlank(rest_[i])) ++i;
    const std::string_view element = rest_.substr(0, separator);
    rest_.remove_prefix(i);
    return element;
  }
  ended_ = true;
  return rest_;
}

std::optional<std::string_view> CommaList::Next() {
  while (!holds_) {
    if (ended_) return std::nullopt;
    held_ = Split();
    holds_ = !held_.empty();
    empty_ += holds_ ? 0 : 1;
  }
  if (empty_ > 0) {
    --empty_;
    return std::string_view();
  }
  holds_ = false;
  return held_;
}

std::vector<std::string_view> SplitCommaList(std::string_view text) {
  std::vector<std::string_view> parts;
  CommaList list(text);
  while (const auto part = list.Next()) parts.push_back(*part);
  return parts;
}

}  // namespace fairlead
