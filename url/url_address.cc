#include "fairlead/url/url_address.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/host.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::int32_t kDefaultPort = 9090;
constexpr std::string_view kBackup = "backup";

// What `\s` means in Java's regular expressions.
bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Decodes the escapes that are well formed; '+' stays.
std::string DecodeEscapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
    if (low >= 0) {
      out += static_cast<char>(high << 4 | low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool IsEmpty(const std::optional<std::string>& field) { return !field.has_value() || field->empty(); }

void FillFrom(const std::optional<std::string>& from, std::optional<std::string>& field) {
  if (IsEmpty(field) && !IsEmpty(from)) field = from;
}

// Where the credentials of `rest` (the text behind the protocol, without the query) end; kNone without any. An '@'
// behind the first slash belongs to the path, unless a '#' or '/' before it stands where only a password can: then
// the text up to the slash must be `user:...`, with no port in the colon's place.
std::size_t FindCredentialsEnd(std::string_view rest) {
  const std::size_t slash = rest.find('/');
  if (const std::size_t at = rest.substr(0, slash).rfind('@'); at != kNone) return at;
  const std::size_t at = rest.rfind('@');
  if (at == kNone || slash == kNone) return kNone;
  const std::string_view head = rest.substr(0, slash);
  const std::size_t colon = head.find(':');
  if (colon == kNone || head.front() == '[') return kNone;
  const std::string_view after = head.substr(colon + 1);
  const bool port = std::all_of(after.begin(), after.end(), [](char c) { return c >= '0' && c <= '9'; });
  return port || IsIpv6Literal(head) ? kNone : at;
}

std::string WithBrackets(std::string_view literal) {
  return literal.front() == '[' ? std::string(literal) : absl::StrCat("[", ToAbsl(literal), "]");
}

// `[v6]` or `[v6%zone]:port`: the part in brackets, them included; empty when `text` begins with no such literal.
std::string_view BracketedHost(std::string_view text) {
  if (text.empty() || text.front() != '[') return {};
  const std::size_t close = text.find(']');
  if (close == kNone || !IsIpv6Literal(text.substr(0, close + 1))) return {};
  return close + 1 == text.size() || text[close + 1] == ':' ? text.substr(0, close + 1) : std::string_view();
}

}  // namespace

absl::StatusOr<HostPort> SplitHostPort(std::string_view text) {
  const std::string_view bracketed = BracketedHost(text);
  std::size_t colon = kNone;
  if (!bracketed.empty()) {
    colon = bracketed.size() == text.size() ? kNone : bracketed.size();
  } else if (!IsIpv6Literal(text)) {
    colon = text.rfind(':');
  }
  if (colon == kNone) return HostPort{text, 0};
  const auto port = ParseJavaInt(text.substr(colon + 1));
  if (!port.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("address \"", Redacted(text), "\": expected a decimal port after the last ':'"));
  }
  return HostPort{text.substr(0, colon), std::max(*port, 0)};
}

absl::StatusOr<UrlParts> ParseLenient(std::string_view text) {
  text = TrimBlanks(text);
  const std::size_t plain = text.find("://");
  if (plain == kNone) {
    // Encoded text and file:/path have nothing that a person would spell in another way.
    absl::StatusOr<UrlParts> strict = UrlParts::ParseAny(text);
    if (strict.ok() && strict->protocol.has_value()) {
      if (strict->host.has_value() && IsIpv6Literal(*strict->host)) strict->host = WithBrackets(*strict->host);
      return strict;
    }
  }
  const std::size_t begin = plain == kNone ? 0 : plain + 3;
  const std::size_t question = text.find('?', begin);
  const std::string_view rest = text.substr(begin, question == kNone ? kNone : question - begin);
  const std::size_t credentials_end = FindCredentialsEnd(rest);

  UrlParts url;
  std::string_view location = credentials_end == kNone ? rest : rest.substr(credentials_end + 1);
  const std::string_view authority = location.substr(0, location.find_first_of("/#"));
  const std::string_view tail = location.substr(authority.size());

  // What remains after the credentials and the host is plain to the strict parser.
  std::string simple(text.substr(0, begin));
  std::optional<HostPort> ipv6;
  if (IsIpv6Literal(authority)) {
    ipv6 = HostPort{authority, 0};
  } else if (!BracketedHost(authority).empty()) {
    FAIRLEAD_ASSIGN_OR_RETURN(ipv6, SplitHostPort(authority));
  } else if (!authority.empty() && authority.front() == '[') {
    return absl::InvalidArgumentError(
        absl::StrCat("url \"", Redacted(text), "\": expected an IPv6 address and ']' after '['"));
  }
  if (!ipv6.has_value()) simple += authority;
  simple += tail;
  if (question != kNone) simple += text.substr(question);
  FAIRLEAD_ASSIGN_OR_RETURN(url, UrlParts::Parse(simple));
  if (ipv6.has_value()) {
    url.host = WithBrackets(ipv6->host);
    url.port = ipv6->port;
  } else if (url.host.has_value() && IsIpv6Literal(*url.host)) {
    url.host = WithBrackets(*url.host);
  }
  if (credentials_end != kNone) {
    const std::string_view credentials = rest.substr(0, credentials_end);
    const std::size_t colon = credentials.find(':');
    url.username = DecodeEscapes(credentials.substr(0, colon));
    if (colon != kNone) url.password = DecodeEscapes(credentials.substr(colon + 1));
  }
  return url;
}

absl::StatusOr<UrlParts> ParseAddress(std::string_view address, const UrlParts& defaults) {
  address = TrimBlanks(address);
  if (address.empty()) return absl::InvalidArgumentError("registry address is empty: expected protocol://host:port");
  std::string_view first = address;
  std::string backup;
  if (address.find("://") == kNone && address.find('?') == kNone) {
    const std::vector<std::string_view> hosts = SplitCommaList(address);
    if (hosts.empty()) return absl::InvalidArgumentError("registry address has no host: expected host:port[,host:port]");
    first = hosts.front();
    for (std::size_t i = 1; i < hosts.size(); ++i) absl::StrAppend(&backup, i > 1 ? "," : "", ToAbsl(hosts[i]));
  }
  FAIRLEAD_ASSIGN_OR_RETURN(UrlParts url, ParseLenient(first));
  if (!backup.empty()) url.params.insert_or_assign(kBackup, backup);
  FillFrom(defaults.protocol, url.protocol);
  if (IsEmpty(url.protocol)) url.protocol = "dubbo";
  FillFrom(defaults.username, url.username);
  FillFrom(defaults.password, url.password);
  FillFrom(defaults.path, url.path);
  if (url.port <= 0) url.port = defaults.port > 0 ? defaults.port : kDefaultPort;
  UrlParams filled;
  for (const auto& [key, value] : defaults.params) {
    if (!value.empty() && url.Param(key).empty()) filled.insert_or_assign(key, value);
  }
  url.params.Overlay(filled);
  return url;
}

absl::StatusOr<std::vector<UrlParts>> ParseAddresses(std::string_view addresses, const UrlParts& defaults) {
  std::vector<UrlParts> urls;
  while (true) {
    const std::size_t end = addresses.find_first_of("|;");
    const std::string_view one = TrimBlanks(addresses.substr(0, end));
    if (!one.empty()) {
      FAIRLEAD_ASSIGN_OR_RETURN(UrlParts url, ParseAddress(one, defaults));
      urls.push_back(std::move(url));
    }
    if (end == kNone) break;
    addresses.remove_prefix(end + 1);
  }
  if (urls.empty()) return absl::InvalidArgumentError("registry addresses are empty: expected protocol://host:port");
  return urls;
}

std::vector<std::string> BackupAddresses(const UrlParts& url, std::int32_t default_port) {
  const auto with_default_port = [&](std::string_view address) {
    const absl::StatusOr<HostPort> split = SplitHostPort(address);
    if (address.empty() || default_port <= 0 || !split.ok() || split->port > 0) return std::string(address);
    const std::string host = IsIpv6Literal(split->host) ? WithBrackets(split->host) : std::string(split->host);
    return absl::StrCat(host, ":", default_port);
  };
  std::vector<std::string> addresses = {with_default_port(url.Address())};
  for (const std::string_view backup : SplitCommaList(url.Param(kBackup))) {
    addresses.push_back(with_default_port(backup));
  }
  return addresses;
}

absl::StatusOr<std::vector<UrlParts>> BackupUrls(const UrlParts& url) {
  std::vector<UrlParts> urls = {url};
  for (const std::string_view backup : SplitCommaList(url.Param(kBackup))) {
    UrlParts other = url;
    FAIRLEAD_RETURN_IF_ERROR(SetAddress(backup, other));
    urls.push_back(std::move(other));
  }
  return urls;
}

absl::Status SetAddress(std::string_view address, UrlParts& url) {
  FAIRLEAD_ASSIGN_OR_RETURN(const HostPort split, SplitHostPort(address));
  url.host = split.host;
  if (split.host.size() < address.size()) url.port = split.port;
  return absl::OkStatus();
}

}  // namespace fairlead
