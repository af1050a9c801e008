#include "fairlead/url/percent.h"

#include <array>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/utf8.h"

namespace fairlead {
namespace {

constexpr std::array<bool, 256> kUnchanged = [] {
  std::array<bool, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = true;
  for (const char c : {'.', '-', '*', '_'}) table[static_cast<std::size_t>(c)] = true;
  return table;
}();

}  // namespace

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string PercentEncode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (kUnchanged[byte]) {
      out += c;
    } else if (c == ' ') {
      out += '+';
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

absl::StatusOr<std::string> PercentDecode(std::string_view text, MalformedUtf8 malformed) {
  std::string out;
  out.reserve(text.size());
  std::string run;  // the bytes of adjacent escapes, which are decoded together
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      ++i;
      continue;
    }
    const std::size_t start = i;
    run.clear();
    while (i < text.size() && text[i] == '%') {
      if (i + 3 > text.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("truncated escape at offset ", i, ": '%' needs two hex digits"));
      }
      const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("malformed escape at offset ", i, ": '%' needs two hex digits"));
      }
      run += static_cast<char>(high << 4 | low);
      i += 3;
    }
    if (IsUtf8(run)) {
      out += run;
    } else if (malformed == MalformedUtf8::kReplace) {
      AppendReplacingMalformed(run, out);
    } else {
      return absl::InvalidArgumentError(absl::StrCat("the escapes at offset ", start, " are not UTF-8"));
    }
  }
  return out;
}

}  // namespace fairlead
