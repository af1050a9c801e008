#include "fairlead/routing/tag/address_pattern.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

using Views = std::vector<std::string_view>;

// As Java's String.split: empty texts at the end are dropped.
Views Split(std::string_view text, char separator) {
  Views parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && text[at] != separator) continue;
    parts.push_back(text.substr(begin, at - begin));
    begin = at + 1;
  }
  while (parts.size() > 1 && parts.back().empty()) parts.pop_back();
  return parts;
}

std::string_view JavaTrimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// Java's Integer.parseInt of a text without minus, decimal or hexadecimal.
std::optional<std::int32_t> Number(std::string_view text, bool hexadecimal) {
  if (!hexadecimal) return ParseJavaInt(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    const std::size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    value = value * 16 + static_cast<std::int64_t>(digit < 16 ? digit : digit - 6);
    if (value > INT32_MAX) return std::nullopt;
  }
  return static_cast<std::int32_t>(value);
}

// The number of which the text is what Java writes.
std::optional<std::int32_t> WrittenNumber(std::string_view text, bool hexadecimal) {
  if (text == "0" || text == "00" || text == "000" || text == "0000") return 0;
  const std::string_view digits = hexadecimal ? "0123456789abcdef" : "0123456789";
  if (text.empty() || text.front() == '0' || text.find_first_not_of(digits) != text.npos) return std::nullopt;
  return Number(text, hexadecimal);
}

bool HasExpression(std::string_view text) { return text.find_first_of("*-") != text.npos; }

}  // namespace

AddressPattern::AddressPattern(std::string_view text, Compat compat) : text_(text), compat_(compat) {
  const std::string_view trimmed = JavaTrimmed(text_);
  const char* wrong = nullptr;
  if (text_.find('/') != text_.npos) {
    kind_ = Kind::kNetwork;
    CompileNetwork();
    if (!network_) wrong = "expected an address, '/' and the length of its prefix, without a port";
  } else if (trimmed != "*" && trimmed != "*.*.*.*") {
    kind_ = Kind::kParts;
    v4_ = CompileForm(trimmed, true);
    v6_ = CompileForm(trimmed, false);
    if (!CanMatch(v4_) && !CanMatch(v6_)) {
      const bool v6 = std::count(trimmed.begin(), trimmed.end(), ':') > 1;
      wrong = v6 ? v6_.malformed : v4_.malformed;
      if (wrong == nullptr) wrong = "it has a part or a port that no address has";
    }
  }
  if (wrong != nullptr) {
    status_ = absl::InvalidArgumentError(absl::StrCat("the address \"", Shortened(text_, 80), "\": ", wrong));
  }
}

void AddressPattern::CompileNetwork() {
  const std::size_t slash = text_.find('/');
  const std::optional<IpAddress> address = IpAddress::Parse(std::string_view(text_).substr(0, slash));
  const std::optional<std::int32_t> length = ParseJavaInt(std::string_view(text_).substr(slash + 1));
  if (address && length) network_ = {address->First(*length), address->Last(*length)};
}

AddressPattern::Form AddressPattern::CompileForm(std::string_view text, bool v4) {
  Form form;
  std::optional<std::string_view> port;
  if (const std::size_t close = text.find("]:"); text.substr(0, 1) == "[" && close != text.npos) {
    port = text.substr(close + 2);
    text = text.substr(1, close - 1);
  } else if (text.substr(0, 1) == "[" && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  } else if (const std::size_t colon = text.find(':'); v4 && colon != text.npos) {
    port = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  if (port) {
    form.any_port = false;
    const std::optional<std::int32_t> number = ParseJavaInt(*port);
    if (number && std::to_string(*number) == *port) form.port = *number;
  }
  const Views parts = Split(text, v4 ? '.' : ':');
  const bool expression = HasExpression(text);
  if (v4 && parts.size() != 4) {
    form.malformed = "expected four parts divided by dots";
  } else if (!v4 && parts.size() != 8 && expression) {
    form.malformed = "an IPv6 pattern with '*' or '-' must have all eight parts";
  } else if (!v4 && parts.size() != 8 && text.find("::") == text.npos) {
    form.malformed = "expected eight parts divided by colons, or '::'";
  } else if (!expression) {
    form.address = IpAddress::Parse(text);
    if (!form.address) form.malformed = "it is neither a literal address nor a pattern; names are not looked up";
  } else {
    for (const std::string_view part : parts) form.parts.push_back(CompilePart(part, v4));
  }
  return form;
}

AddressPattern::Part AddressPattern::CompilePart(std::string_view text, bool v4) {
  using Kind = Part::Kind;
  if (text == "*") return {Kind::kAny, 0, 0};
  const std::size_t dash = text.find('-');
  if (dash == text.npos) {
    const std::optional<std::int32_t> number = WrittenNumber(text, !v4);
    return number ? Part{Kind::kRange, *number, *number} : Part{Kind::kNever, 0, 0};
  }
  const std::optional<std::int32_t> low = Number(text.substr(0, dash), !v4), high = Number(text.substr(dash + 1), !v4);
  const bool one_dash = text.find('-', dash + 1) == text.npos;
  return one_dash && low && high ? Part{Kind::kRange, *low, *high} : Part{Kind::kMalformed, 0, 0};
}

bool AddressPattern::CanMatch(const Form& form) {
  if (form.malformed != nullptr || (!form.any_port && form.port < 0)) return false;
  return std::all_of(form.parts.begin(), form.parts.end(), [](const Part& part) {
    return part.kind == Part::Kind::kAny || (part.kind == Part::Kind::kRange && part.low <= part.high);
  });
}

AddressPattern::Answer AddressPattern::Match(const std::optional<IpAddress>& host, int port) const {
  if (kind_ == Kind::kAny) return Answer::kYes;
  if (!host) return Answer::kCannot;
  if (kind_ == Kind::kNetwork) {
    if (!network_) return Answer::kCannot;
    return host->Between((*network_)[0], (*network_)[1]) ? Answer::kYes : Answer::kNo;
  }
  const bool as_v6 = !host->v4() || (compat_ == Compat::kStrict && host->AnyOrLoopbackV4());
  const Form& form = as_v6 ? v6_ : v4_;
  if (!form.any_port && form.port != port) return Answer::kNo;
  if (form.malformed != nullptr) return Answer::kCannot;
  if (form.address) return *form.address == *host ? Answer::kYes : Answer::kNo;
  return MatchParts(form, *host);
}

AddressPattern::Answer AddressPattern::MatchParts(const Form& form, const IpAddress& host) {
  const bool same_family = host.parts() == form.parts.size();
  for (std::size_t i = 0; i < form.parts.size(); ++i) {
    const Part& part = form.parts[i];
    if (part.kind == Part::Kind::kAny) continue;
    if (part.kind == Part::Kind::kMalformed) return Answer::kCannot;
    if (!same_family) {
      // Dubbo cuts the IPv4 text at colons: it is the first part, and there is no second.
      const bool compares_texts = i == 0 && (part.kind == Part::Kind::kNever || part.low == part.high);
      return compares_texts ? Answer::kNo : Answer::kCannot;
    }
    if (part.kind == Part::Kind::kNever || host.part(i) < part.low || host.part(i) > part.high) return Answer::kNo;
  }
  return Answer::kYes;
}

}  // namespace fairlead
