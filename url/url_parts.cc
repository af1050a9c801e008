#include "fairlead/url/url_parts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/service_key.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/utf8.h"

namespace fairlead {
namespace {

constexpr std::string_view kDefaultPrefix = "default.";

// Collects the items of a query in the order of the text and settles duplicates at the end, so that a hostile
// text with very many items stays cheap.
class QueryItems {
 public:
  void Add(std::string key, std::string value) {
    if (std::string_view(key).substr(0, kDefaultPrefix.size()) == kDefaultPrefix) has_defaults_ = true;
    items_.emplace_back(std::move(key), std::move(value));
  }

  UrlParams Take() {
    if (!has_defaults_) return UrlParams::From(std::move(items_));
    // The first `default.k` gives `k`, unless `k` is written out anywhere.
    std::vector<UrlParams::value_type> defaults;
    for (auto item = items_.rbegin(); item != items_.rend(); ++item) {
      const std::string_view key = item->first;
      if (key.substr(0, kDefaultPrefix.size()) == kDefaultPrefix) {
        defaults.emplace_back(std::string(key.substr(kDefaultPrefix.size())), item->second);
      }
    }
    UrlParams params = UrlParams::From(std::move(defaults));
    params.Overlay(UrlParams::From(std::move(items_)));
    return params;
  }

 private:
  std::vector<UrlParams::value_type> items_;
  bool has_defaults_ = false;
};

absl::Status Malformed(std::string_view text, std::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat("url \"", Redacted(text), "\": ", ToAbsl(expected)));
}

// `whole` is only what an error shows.
absl::StatusOr<UrlParts> ParseBodyOf(std::string_view whole, std::string_view body) {
  constexpr std::size_t kNone = std::string_view::npos;
  UrlParts url;
  const std::size_t fragment = body.find('#');
  std::size_t begin = 0;
  std::size_t protocol_end = body.find("://");
  if (protocol_end != kNone) {
    begin = protocol_end + 3;
  } else if ((protocol_end = body.find(":/")) != kNone) {
    begin = protocol_end + 1;  // file:/path, whose slash begins the path
  }
  if (protocol_end == 0) return Malformed(whole, "expected a protocol before \"://\"");
  if (protocol_end != kNone) url.protocol = body.substr(0, protocol_end);

  // A fragment inside the protocol leaves nothing behind it.
  const std::size_t end = std::min(fragment, body.size());
  std::string_view rest = begin < end ? body.substr(begin, end - begin) : std::string_view();

  if (const std::size_t slash = rest.find('/'); slash != kNone) {
    url.SetPath(rest.substr(slash + 1));
    rest = rest.substr(0, slash);
  }

  // At the very beginning of the text an '@' belongs to the host.
  if (const std::size_t at = rest.rfind('@'); at != kNone && begin + at > 0) {
    const std::string_view credentials = rest.substr(0, at);
    const std::size_t colon = credentials.find(':');
    url.username = credentials.substr(0, colon);
    if (colon != kNone) url.password = credentials.substr(colon + 1);
    begin += at + 1;
    rest.remove_prefix(at + 1);
  }

  if (const std::size_t colon = rest.rfind(':');
      colon != kNone && begin + colon > 0 && begin + colon + 1 < body.size()) {
    // A '%' behind the last colon begins the zone of an IPv6 address, so that colon begins no port.
    if (rest.find('%', colon) == kNone) {
      const auto port = ParseJavaInt(rest.substr(colon + 1));
      if (!port.has_value()) {
        return Malformed(whole, "expected a decimal port after the last ':' of the address");
      }
      url.port = std::max(*port, 0);
      rest = rest.substr(0, colon);
    }
  }
  if (!rest.empty()) url.host = rest;
  return url;
}

// Dubbo's scanner of encoded parameters keeps offsets that point behind an escaped '=' or '&' (three characters).
// Where an unescaped one stands, its neighbours lose characters; that is reproduced, with Java's characters being
// UTF-16 units of a text that is ASCII in every name a registry writes.
class EncodedQuery {
 public:
  explicit EncodedQuery(std::string_view text) : text_(text) {}

  absl::StatusOr<UrlParams> Parse() {
    std::size_t name = 0, value = 0;  // value <= name: no '=' seen in this item
    std::size_t i = 0;
    for (; i < text_.size(); ++i) {
      char c = text_[i];
      const std::size_t start = i;
      if (c == '%') {
        if (i + 3 > text_.size()) return Escape(i);
        const int high = HexDigit(text_[i + 1]), low = HexDigit(text_[i + 2]);
        if (high < 0 || low < 0) return Escape(i);
        c = static_cast<char>(high << 4 | low);
        i += 2;
      }
      if (c == '=') {
        if (name == i) {
          name = i + 1;
        } else if (value <= name) {
          value = i + 1;
        }
      } else if (c == '&' || c == ';') {
        FAIRLEAD_RETURN_IF_ERROR(Add(name, value, start == i ? i - std::min<std::size_t>(i, 2) : start));
        name = i + 1;
      }
    }
    FAIRLEAD_RETURN_IF_ERROR(Add(name, value, i));
    return items_.Take();
  }

 private:
  absl::Status Escape(std::size_t offset) const {
    return absl::InvalidArgumentError(
        absl::StrCat("malformed or truncated escape at offset ", offset, " of the parameters"));
  }

  absl::Status Add(std::size_t name, std::size_t value, std::size_t end) {
    if (name >= end) return absl::OkStatus();
    if (value <= name) value = end + 1;
    FAIRLEAD_ASSIGN_OR_RETURN(std::string key, Decode(name, value < 3 ? 0 : value - 3));
    std::string text;
    if (value < end) {
      FAIRLEAD_ASSIGN_OR_RETURN(text, Decode(value, end));
    }
    items_.Add(std::move(key), std::move(text));
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Decode(std::size_t from, std::size_t end) const {
    if (from >= end) return std::string();
    return PercentDecode(text_.substr(from, end - from), MalformedUtf8::kReject);
  }

  std::string_view text_;
  QueryItems items_;
};

std::size_t FindEscapedQuestionMark(std::string_view text) {
  for (std::size_t at = text.find("%3"); at != std::string_view::npos; at = text.find("%3", at + 1)) {
    if (at + 2 < text.size() && (text[at + 2] == 'F' || text[at + 2] == 'f')) return at;
  }
  return std::string_view::npos;
}

// Java's String.trim.
std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

void PrintParams(const UrlParams& params, std::span<const std::string_view> only, bool question_mark,
                 std::string& out) {
  std::vector<const UrlParams::value_type*> shown;
  shown.reserve(params.size());
  bool wide = false;
  for (const auto& item : params) {
    if (item.first.empty()) continue;
    if (!only.empty() && std::find(only.begin(), only.end(), std::string_view(item.first)) == only.end()) continue;
    shown.push_back(&item);
    wide = wide || static_cast<unsigned char>(item.first.front()) >= 0xEE ||
           std::any_of(item.first.begin(), item.first.end(), [](char c) { return static_cast<unsigned char>(c) >= 0xEE; });
  }
  if (wide) {
    std::sort(shown.begin(), shown.end(), [](const auto* a, const auto* b) { return Utf16Less(a->first, b->first); });
  }
  for (const auto* item : shown) {
    if (item != shown.front()) {
      out += '&';
    } else if (question_mark) {
      out += '?';
    }
    out += item->first;
    out += '=';
    out += Trim(item->second);
  }
}

}  // namespace

absl::StatusOr<UrlParts> UrlParts::Parse(std::string_view text) {
  const std::size_t question = text.find('?');
  FAIRLEAD_ASSIGN_OR_RETURN(UrlParts url, ParseBodyOf(text, text.substr(0, question)));
  if (question != std::string_view::npos) url.params = ParseQuery(text.substr(question + 1));
  return url;
}

absl::StatusOr<UrlParts> UrlParts::ParseEncoded(std::string_view text) {
  const std::size_t question = FindEscapedQuestionMark(text);
  UrlParams params;
  if (question != std::string_view::npos) {
    absl::StatusOr<UrlParams> parsed = EncodedQuery(text.substr(question + 3)).Parse();
    if (!parsed.ok()) return Malformed(text, FromAbsl(parsed.status().message()));
    params = *std::move(parsed);
  }
  const absl::StatusOr<std::string> body = PercentDecode(text.substr(0, question), MalformedUtf8::kReject);
  if (!body.ok()) return Malformed(text, FromAbsl(body.status().message()));
  FAIRLEAD_ASSIGN_OR_RETURN(UrlParts url, ParseBodyOf(text, *body));
  url.params = std::move(params);
  return url;
}

absl::StatusOr<UrlParts> UrlParts::ParseAny(std::string_view text) {
  if (text.find("://") == std::string_view::npos) {
    for (std::size_t at = text.find("%3"); at != std::string_view::npos; at = text.find("%3", at + 1)) {
      const auto lower = [&](std::size_t i) {
        const char c = i < text.size() ? text[i] : '\0';
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      };
      if (lower(at + 2) == 'a' && text.substr(at + 3, 2) == "%2" && lower(at + 5) == 'f' &&
          text.substr(at + 6, 2) == "%2" && lower(at + 8) == 'f') {
        return ParseEncoded(text);
      }
    }
  }
  return Parse(text);
}

absl::StatusOr<UrlParts> UrlParts::ParseBody(std::string_view body) { return ParseBodyOf(body, body); }

UrlParams UrlParts::ParseQuery(std::string_view query) {
  QueryItems items;
  std::size_t name = 0, value = 0;  // value <= name: no '=' seen in this item
  for (std::size_t i = 0; i <= query.size(); ++i) {
    const bool ends = i == query.size() || query[i] == '&' || query[i] == ';';
    if (!ends) {
      if (query[i] == '=') {
        if (name == i) {
          name = i + 1;  // an '=' before any key is skipped
        } else if (value <= name) {
          value = i + 1;
        }
      }
      continue;
    }
    if (name < i) {
      const bool has_value = value > name;
      const std::size_t key_end = has_value ? value - 1 : i;
      items.Add(std::string(query.substr(name, key_end - name)),
                has_value ? std::string(query.substr(value, i - value)) : std::string());
    }
    name = i + 1;
  }
  return items.Take();
}

std::string_view UrlParts::Param(std::string_view key, std::string_view fallback) const {
  const std::string* value = params.Find(key);
  return value == nullptr || value->empty() ? fallback : std::string_view(*value);
}

const std::string* UrlParts::FindMethodParam(std::string_view method, std::string_view key) const {
  // Dubbo takes the text before the first dot as the method, so no method has a dot in its name.
  if (method.empty() || method.find('.') != std::string_view::npos) return nullptr;
  if (const std::string* methods = params.Find(names::kMethods);
      methods != nullptr && !methods->empty() && methods->find(method) == std::string::npos) {
    return nullptr;
  }
  return params.Find(method, key);
}

std::string_view UrlParts::MethodParam(std::string_view method, std::string_view key,
                                       std::string_view fallback) const {
  const std::string* value = FindMethodParam(method, key);
  return value != nullptr && !value->empty() ? std::string_view(*value) : Param(key, fallback);
}

void UrlParts::SetPath(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('/'), text.size()));
  path = text;
}

std::string UrlParts::ServiceInterface() const {
  return std::string(Param(names::kInterface, path.has_value() ? std::string_view(*path) : std::string_view()));
}

std::string UrlParts::ServiceKey() const {
  if (!HasInterface(*this)) return {};
  return BuildServiceKey(ServiceInterface(), Param(names::kGroup), Param(names::kVersion));
}

std::string UrlParts::ColonKey() const {
  std::string key = ServiceInterface();
  key += ':';
  key += Param(names::kVersion);
  key += ':';
  key += Param(names::kGroup);
  return key;
}

std::string UrlParts::Address() const {
  std::string address = host.value_or(std::string());
  if (port > 0) {
    address += ':';
    address += std::to_string(port);
  }
  return address;
}

std::string UrlParts::ToString() const { return Print(*this, {}); }
std::string UrlParts::ToFullString() const { return Print(*this, {.credentials = true}); }
std::string UrlParts::ToIdentityString() const { return Print(*this, {.credentials = true, .params = false}); }

std::string UrlParts::QueryString() const {
  std::string out;
  PrintParams(params, {}, false, out);
  return out;
}

std::string Print(const UrlParts& url, const UrlPrint& what) {
  std::string out;
  if (url.protocol.has_value() && !url.protocol->empty()) {
    out += *url.protocol;
    out += "://";
  }
  if (what.credentials && url.username.has_value() && !url.username->empty()) {
    out += *url.username;
    if (url.password.has_value() && !url.password->empty()) {
      out += ':';
      out += *url.password;
    }
    out += '@';
  }
  if (url.host.has_value() && !url.host->empty()) out += url.Address();
  const std::string path = what.service_key_as_path ? url.ServiceKey() : url.path.value_or(std::string());
  if (!path.empty()) {
    out += '/';
    out += path;
  }
  if (what.params) PrintParams(url.params, what.only, true, out);
  return out;
}

}  // namespace fairlead
