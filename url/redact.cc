#include "fairlead/url/redact.h"

#include <algorithm>

namespace fairlead {
namespace {

constexpr std::size_t kShown = 256;
constexpr std::string_view kStars = "***";

bool EqualsIgnoringCase(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() && std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
         });
}

// Length of the delimiter `plain` or its escape `escape` (lower case) at `at`, 0 when there is none.
std::size_t DelimiterAt(std::string_view text, std::size_t at, char plain, std::string_view escape) {
  if (text[at] == plain) return 1;
  return EqualsIgnoringCase(text.substr(at, 3), escape) ? 3 : 0;
}

std::size_t FindDelimiter(std::string_view text, std::size_t from, std::size_t end, char plain,
                          std::string_view escape) {
  for (std::size_t i = from; i < end; ++i) {
    if (DelimiterAt(text, i, plain, escape) > 0) return i;
  }
  return end;
}

// Where the text behind the protocol begins, and where the query does.
struct Authority {
  std::size_t begin = 0, query = 0;
};

Authority FindAuthority(std::string_view text) {
  Authority found;
  found.query = FindDelimiter(text, 0, text.size(), '?', "%3f");
  // A password may itself hold ':' and '/', so only a colon with two slashes after it ends a protocol.
  for (std::size_t i = 0; i < found.query; ++i) {
    std::size_t at = i, length = DelimiterAt(text, at, ':', "%3a");
    if (length == 0) continue;
    at += length;
    int slashes = 0;
    while (slashes < 2 && at < found.query && (length = DelimiterAt(text, at, '/', "%2f")) > 0) {
      at += length;
      ++slashes;
    }
    if (slashes == 2) {
      found.begin = at;
      break;
    }
  }
  return found;
}

}  // namespace

std::string Redacted(std::string_view text) {
  std::string out;
  const Authority authority = FindAuthority(text);
  // A password may hold '/' and '?', so the credentials end at the last '@' that no parameter stands before.
  const std::size_t first_value = FindDelimiter(text, authority.query, text.size(), '=', "%3d");
  std::size_t last_at = text.size();
  for (std::size_t i = authority.begin; i < first_value; ++i) {
    if (DelimiterAt(text, i, '@', "%40") > 0) last_at = i;
  }
  std::size_t from = 0;
  if (last_at < text.size()) {
    const std::size_t colon = FindDelimiter(text, authority.begin, last_at, ':', "%3a");
    if (colon < last_at) {
      const std::size_t password = colon + DelimiterAt(text, colon, ':', "%3a");
      out += text.substr(0, password);
      out += kStars;
      from = last_at;
    }
  }
  constexpr std::string_view kPassword = "password";
  while (from < text.size() && out.size() <= kShown) {
    if (from >= authority.query && text.substr(from, kPassword.size()) == kPassword) {
      const std::size_t after_key = from + kPassword.size();
      const std::size_t equals = after_key < text.size() ? DelimiterAt(text, after_key, '=', "%3d") : 0;
      if (equals > 0) {
        out += text.substr(from, kPassword.size() + equals);
        out += kStars;
        from = FindDelimiter(text, after_key + equals, text.size(), '&', "%26");
        continue;
      }
    }
    out += text[from++];
  }
  if (out.size() > kShown) {
    out.resize(kShown);
    out += "... (" + std::to_string(text.size()) + " bytes)";
  }
  std::replace_if(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  return out;
}

}  // namespace fairlead
