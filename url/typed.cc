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

std::vector<std::string_view> SplitCommaList(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0, i = 0;
  while (i < text.size()) {
    if (!IsBlank(text[i]) && text[i] != ',') {
      ++i;
      continue;
    }
    const std::size_t separator = i;
    while (i < text.size() && IsBlank(text[i])) ++i;
    if (i == text.size() || text[i] != ',') continue;  // blanks inside an element
    while (i < text.size() && text[i] == ',') ++i;
    while (i < text.size() && IsBlank(text[i])) ++i;
    parts.push_back(text.substr(start, separator - start));
    start = i;
  }
  parts.push_back(text.substr(start));
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  return parts;
}

}  // namespace fairlead
