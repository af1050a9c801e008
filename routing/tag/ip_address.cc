#include "fairlead/routing/tag/ip_address.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

#include "fairlead/base/strings.h"
#include "fairlead/url/percent.h"

namespace fairlead {

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  if (text.empty() || absl::EqualsIgnoreCase(ToAbsl(text), "localhost")) return ParseV4("127.0.0.1");
  if (text.front() == '[') {
    if (text.size() < 3 || text.back() != ']') return std::nullopt;
    return ParseV6(text.substr(1, text.size() - 2));
  }
  if (const std::optional<IpAddress> v4 = ParseV4(text)) return v4;
  return ParseV6(text);
}

std::optional<IpAddress> IpAddress::ParseV4(std::string_view text) {
  constexpr std::size_t kLongest = 15;
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  Bytes bytes{};
  std::uint64_t value = 0;
  std::size_t part = 0;
  bool digits = false;
  for (const char c : text) {
    if (c == '.') {
      if (!digits || value > 0xff || part == 3) return std::nullopt;
      bytes[12 + part++] = static_cast<std::uint8_t>(value);
      value = 0;
      digits = false;
    } else if (absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
      digits = true;
    } else {
      return std::nullopt;
    }
  }
  // The last number fills what is left.
  if (!digits || value >= std::uint64_t{1} << (8 * (4 - part))) return std::nullopt;
  for (std::size_t at = 15; at >= 12 + part; --at, value >>= 8) bytes[at] = static_cast<std::uint8_t>(value);
  return IpAddress(true, bytes);
}

std::optional<IpAddress> IpAddress::ParseV6(std::string_view text) {
  if (const std::size_t percent = text.find('%'); percent != text.npos) {
    if (percent + 1 == text.size()) return std::nullopt;
    text = text.substr(0, percent);
  }
  if (text.size() < 2 || (text[0] == ':' && text[1] != ':')) return std::nullopt;
  Bytes bytes{};
  std::size_t filled = 0;
  std::optional<std::size_t> gap;  // where `::` stands
  std::size_t at = text[0] == ':' ? 1 : 0;
  while (at < text.size()) {
    if (text[at] == ':') {
      // Only `::` leaves nothing between two colons.
      if (gap) return std::nullopt;
      gap = filled;
      ++at;
      continue;
    }
    const std::size_t end = std::min(text.find(':', at), text.size());
    const std::string_view group = text.substr(at, end - at);
    if (group.find('.') != group.npos) {
      const std::optional<IpAddress> v4 = ParseV4(group);
      if (!v4 || std::count(group.begin(), group.end(), '.') != 3 || end != text.size() || filled > 12) return std::nullopt;
      std::copy(v4->bytes_.begin() + 12, v4->bytes_.end(), bytes.begin() + static_cast<std::ptrdiff_t>(filled));
      filled += 4;
      break;
    }
    std::uint32_t value = 0;
    for (const char c : group) {
      const int digit = HexDigit(c);
      if (digit < 0) return std::nullopt;
      value = value << 4 | static_cast<std::uint32_t>(digit);
      if (value > 0xffff) return std::nullopt;
    }
    if (filled == 16) return std::nullopt;
    bytes[filled++] = static_cast<std::uint8_t>(value >> 8);
    bytes[filled++] = static_cast<std::uint8_t>(value);
    at = end + 1;
    if (at == text.size()) return std::nullopt;  // a colon at the end that is not `::`
  }
  if (gap) {
    if (filled == 16) return std::nullopt;
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(*gap);
    const auto to = bytes.begin() + static_cast<std::ptrdiff_t>(filled);
    std::fill(from, std::copy_backward(from, to, bytes.end()), std::uint8_t{0});
    filled = 16;
  }
  if (filled != 16) return std::nullopt;
  constexpr Bytes kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::equal(bytes.begin(), bytes.begin() + 12, kMapped.begin())) {
    std::fill(bytes.begin(), bytes.begin() + 12, std::uint8_t{0});
    return IpAddress(true, bytes);
  }
  return IpAddress(false, bytes);
}

bool IpAddress::AnyOrLoopbackV4() const { return v4_ && (bytes_[12] == 127 || bytes_ == Bytes{}); }

IpAddress IpAddress::Masked(int prefix_length, std::uint8_t rest) const {
  IpAddress masked = *this;
  const int whole = v4_ ? 32 : 128;
  int keep = 128 - whole + std::clamp(prefix_length, 0, whole);
  for (std::uint8_t& byte : masked.bytes_) {
    const int bits = std::clamp(keep, 0, 8);
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits));
    byte = static_cast<std::uint8_t>((byte & mask) | (rest & ~mask));
    keep -= 8;
  }
  return masked;
}

}  // namespace fairlead
