#include "fairlead/url/utf8.h"

#include <algorithm>
#include <cstddef>

namespace fairlead {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Piece {
  std::size_t length;
  bool valid;
};

unsigned char At(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}
bool Continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// The character, or the malformed piece, that `text` (not empty) begins with.
Piece Next(std::string_view text) {
  const unsigned char b0 = At(text, 0), b1 = At(text, 1), b2 = At(text, 2), b3 = At(text, 3);
  if (b0 < 0x80) return {1, true};
  if (b0 >= 0xC2 && b0 <= 0xDF) return {Continues(b1) ? 2u : 1u, Continues(b1)};
  if (b0 >= 0xE0 && b0 <= 0xEF) {
    if (!Continues(b1) || (b0 == 0xE0 && b1 < 0xA0)) return {1, false};
    if (!Continues(b2)) return {2, false};
    return {3, !(b0 == 0xED && b1 >= 0xA0)};  // a surrogate is one malformed piece of three bytes
  }
  if (b0 >= 0xF0 && b0 <= 0xF4) {
    if (!Continues(b1) || (b0 == 0xF0 && b1 < 0x90) || (b0 == 0xF4 && b1 > 0x8F)) return {1, false};
    if (!Continues(b2)) return {2, false};
    if (!Continues(b3)) return {3, false};
    return {4, true};
  }
  return {1, false};
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const Piece piece = Next(text);
    if (!piece.valid) return false;
    text.remove_prefix(piece.length);
  }
  return true;
}

void AppendReplacingMalformed(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const Piece piece = Next(text);
    out += piece.valid ? text.substr(0, piece.length) : kReplacement;
    text.remove_prefix(piece.length);
  }
}

bool Utf16Less(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() || in_b == b.end()) return in_a == a.end() && in_b != b.end();
  // The first differing byte decides as in UTF-8, except that surrogates (lead bytes F0 and up) sort below
  // U+E000..U+FFFF (lead bytes EE and EF).
  const auto rank = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0xEE && byte <= 0xEF ? byte + 0x100 : static_cast<int>(byte);
  };
  return rank(*in_a) < rank(*in_b);
}

}  // namespace fairlead
