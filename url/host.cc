#include "fairlead/url/host.h"

#include <arpa/inet.h>

#include <cstring>
#include <optional>

#include "absl/strings/match.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

// The shortest form with its zone; absent when `text` is no IPv6 literal.
std::optional<std::string> Ipv6(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  std::string_view zone;
  if (const std::size_t percent = text.find('%'); percent != std::string_view::npos) {
    zone = text.substr(percent + 1);
    if (zone.substr(0, 2) == "25" && zone.size() > 2) zone.remove_prefix(2);
    if (zone.empty()) return std::nullopt;
    text = text.substr(0, percent);
  }
  char buffer[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof buffer || text.find(':') == std::string_view::npos ||
      text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  in6_addr address;
  if (inet_pton(AF_INET6, buffer, &address) != 1) return std::nullopt;
  std::string shortest = inet_ntop(AF_INET6, &address, buffer, sizeof buffer);
  if (!zone.empty()) {
    shortest += '%';
    shortest += zone;
  }
  return shortest;
}

// 127 and three times a dot with one to three digits, whose value does not matter.
bool IsLoopbackText(std::string_view host) {
  if (host.substr(0, 3) != "127") return false;
  host.remove_prefix(3);
  for (int part = 0; part < 3; ++part) {
    if (host.empty() || host.front() != '.') return false;
    host.remove_prefix(1);
    std::size_t digits = 0;
    while (digits < host.size() && host[digits] >= '0' && host[digits] <= '9') ++digits;
    if (digits < 1 || digits > 3) return false;
    host.remove_prefix(digits);
  }
  return host.empty();
}

}  // namespace

std::string CanonicalHost(std::string_view host) { return Ipv6(host).value_or(std::string(host)); }
bool IsIpv6Literal(std::string_view text) { return Ipv6(text).has_value(); }

bool IsAnyHost(const UrlParts& url) { return url.host == "0.0.0.0" || BoolParam(url, "anyhost", false); }

bool IsLocalHost(const UrlParts& url) {
  const std::string_view host = url.host.has_value() ? std::string_view(*url.host) : std::string_view();
  return IsLoopbackText(host) || absl::EqualsIgnoreCase(ToAbsl(host), "localhost") ||
         BoolParam(url, "localhost", false);
}

}  // namespace fairlead
