#include "fairlead/routing/lint/field_lint.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::int32_t kMostPort = 65535;

bool IsOnlyOf(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == text.npos;
}

// A number from 0 to `most` as urls have it: without sign and leading zeros.
bool IsPlainNumber(std::string_view text, std::int32_t most) {
  const std::optional<std::int32_t> number = ParseJavaInt(text);
  return number.has_value() && *number >= 0 && *number <= most && std::to_string(*number) == text;
}

bool IsIpV4(std::string_view text) {
  int parts = 0;
  for (std::size_t begin = 0; begin <= text.size(); ++parts) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    if (!IsPlainNumber(text.substr(begin, end - begin), 255)) return false;
    begin = end + 1;
  }
  return parts == 4;
}

// `v3.0`: what consoles write and dubbo-go insists on.
bool IsVersion(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'v' && text[0] != 'V')) return false;
  for (std::size_t begin = 1; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    if (!IsOnlyOf(text.substr(begin, end - begin), kDigits)) return false;
    begin = end + 1;
  }
  return true;
}

std::string Written(std::string_view name, const YamlValue& value) {
  return absl::StrCat("`", ToAbsl(name), ": ", Shortened(value.JavaText(), 80), "`");
}

}  // namespace

YamlMark MarkOfField(const YamlValue& map, std::string_view field) {
  for (const auto& [key, value] : map.entries()) {
    if (key.text() != nullptr && *key.text() == field) return key.mark();
  }
  return map.mark();
}

void LintFlag(const YamlValue& map, std::string_view name, bool when_absent, LintReport& report) {
  const YamlValue* value = map.Find(name);
  if (value == nullptr) return;
  const YamlMark mark = MarkOfField(map, name);
  if (value->is_null()) {
    return report.Add("control-unreadable", mark, absl::StrCat("`", ToAbsl(name), "` has no value, so it is ", when_absent ? "true" : "false",
                                                               ", as if it were not there"));
  }
  const std::string text = value->JavaText();
  if (absl::EqualsIgnoreCase(text, "true") || absl::EqualsIgnoreCase(text, "false")) return;
  report.Add("control-unreadable", mark, absl::StrCat(Written(name, *value), " is neither true nor false and counts as false"));
}

void LintControls(const YamlValue& root, std::string_view otherwise, LintReport& report) {
  LintFlag(root, "enabled", true, report);
  const YamlValue* scope = root.Find("scope");
  if (scope != nullptr && scope->text() != nullptr && *scope->text() != "service" && *scope->text() != "application") {
    report.Add("control-unreadable", MarkOfField(root, "scope"),
               absl::StrCat(Written("scope", *scope), " is neither `service` nor `application`", ToAbsl(otherwise)));
  }
  const YamlValue* version = root.Find("configVersion");
  if (version != nullptr && version->text() != nullptr && !IsVersion(*version->text())) {
    report.Add("version-unusual", MarkOfField(root, "configVersion"),
               absl::StrCat(Written("configVersion", *version), " is no version as consoles write it: what is asked is whether it begins "
                                                                "with `v3.0` or `v3.1`"));
  }
}

void LintKeptPrefix(std::string_view key, std::string_view what, YamlMark mark, LintReport& report) {
  for (const std::string_view prefix : {std::string_view("consumer."), std::string_view("provider.")}) {
    if (!key.starts_with(prefix)) continue;
    report.Add("prefix-kept", mark, absl::StrCat(ToAbsl(what), " is `", Shortened(key, 80), "` with the `", ToAbsl(prefix), "`, which is erased "
                                                 "only in conditions that are one text; nobody has such a parameter"));
  }
}

const char* WhyNoHost(std::string_view host) {
  if (host.find('/') != host.npos) return "is no host, nor is a network compared as one here";
  if (IsOnlyOf(host, "0123456789.-") && std::count(host.begin(), host.end(), '.') == 3 && host.find('-') != host.npos) {
    return "is no host, nor is a range of addresses compared as one here";
  }
  if (IsOnlyOf(host, "0123456789.") && !IsIpV4(host)) return "is no IPv4 address as urls have them";
  // IPv6 hosts have brackets in urls.
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  return host.find(':') != host.npos && !brackets ? "has a port or no brackets, and a host has neither" : nullptr;
}

const char* WhyNoAddress(std::string_view address) {
  if (address == "0.0.0.0:*") return nullptr;
  if (address.find('/') != address.npos) return "is no address, nor is a network compared as one here";
  if (address.find('*') != address.npos) return "has a `*`, which is compared as it is here";
  const std::size_t from = address.starts_with('[') ? std::min(address.find(']'), address.size()) : 0;
  const std::size_t colon = address.find(':', from);
  if (colon == address.npos) return WhyNoHost(address);
  if (!IsPlainNumber(address.substr(colon + 1), kMostPort)) return "has a port that no url has";
  return WhyNoHost(address.substr(0, colon));
}

}  // namespace fairlead::internal
