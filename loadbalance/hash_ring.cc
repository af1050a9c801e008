#include "fairlead/loadbalance/hash_ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include <nettle/md5.h>

namespace fairlead {
namespace {

class Md5 {
 public:
  Md5() { md5_init(&state_); }
  void Add(std::string_view text) {
    md5_update(&state_, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
  }
  std::array<std::uint32_t, 4> Words() {
    std::array<std::uint8_t, MD5_DIGEST_SIZE> digest;
    md5_digest(&state_, digest.size(), digest.data());
    std::array<std::uint32_t, 4> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = static_cast<std::uint32_t>(digest[4 * i]) | static_cast<std::uint32_t>(digest[4 * i + 1]) << 8 |
                 static_cast<std::uint32_t>(digest[4 * i + 2]) << 16 |
                 static_cast<std::uint32_t>(digest[4 * i + 3]) << 24;
    }
    return words;
  }

 private:
  md5_ctx state_;
};

bool Before(const HashRing::Point& a, const HashRing::Point& b) {
  return a.value != b.value ? a.value < b.value : a.member < b.member;
}

// REQUIRES: points in order of members. Linear: three stable passes over the digits of the value, after which those of
// one value still are in order of members.
void SortByValue(std::vector<HashRing::Point>& points) {
  constexpr unsigned kBits = 11;
  constexpr std::size_t kDigits = std::size_t{1} << kBits;
  if (points.size() < kDigits) {
    std::sort(points.begin(), points.end(), Before);
    return;
  }
  std::vector<HashRing::Point> sorted(points.size());
  for (unsigned shift = 0; shift < 32; shift += kBits) {
    std::array<std::uint32_t, kDigits + 1> begin{};
    for (const HashRing::Point& point : points) ++begin[(point.value >> shift) % kDigits + 1];
    for (std::size_t digit = 0; digit < kDigits; ++digit) begin[digit + 1] += begin[digit];
    for (const HashRing::Point& point : points) sorted[begin[(point.value >> shift) % kDigits]++] = point;
    points.swap(sorted);
  }
}

}  // namespace

std::array<std::uint32_t, 4> RingPoints(std::string_view address, std::uint32_t index) {
  std::array<char, 10> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), index).ptr;
  Md5 md5;
  md5.Add(address);
  md5.Add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  return md5.Words();
}

std::uint32_t RingPosition(std::span<const std::string_view> key) {
  Md5 md5;
  for (const std::string_view text : key) md5.Add(text);
  return md5.Words()[0];
}

HashRing::HashRing(std::span<const std::string_view> addresses, std::uint32_t nodes, const HashRing* like,
                   std::span<const std::uint32_t> known)
    : members_(addresses.size()) {
  std::vector<std::uint32_t> now(like == nullptr ? 0 : like->members_, kUnknown);  // by member of `like`
  std::vector<Point> fresh;
  for (std::uint32_t i = 0; i < addresses.size(); ++i) {
    if (like != nullptr && known[i] != kUnknown && now[known[i]] == kUnknown) {
      now[known[i]] = i;
      continue;
    }
    for (std::uint32_t node = 0; node < nodes / 4; ++node) {
      for (const std::uint32_t value : RingPoints(addresses[i], node)) fresh.push_back({value, i});
    }
  }
  SortByValue(fresh);
  // About two points a bucket.
  const std::size_t size = addresses.size() * (nodes / 4 * 4);
  const unsigned bits = std::clamp(static_cast<unsigned>(std::bit_width(size)), 2u, 31u) - 1;
  shift_ = 32 - bits;
  first_.resize(std::size_t{1} << bits);
  if (like == nullptr) {
    points_ = std::move(fresh);
  } else {
    points_.resize(size);
    Point* out = points_.data();
    // Points of one value stand in order of their members, whichever list they came from.
    const auto append = [&, begin = out](Point point) {
      Point* at = out++;
      while (at != begin && at[-1].value == point.value && at[-1].member > point.member) {
        *at = at[-1];
        --at;
      }
      *at = point;
    };
    auto next = fresh.begin();
    for (const Point& old : like->points_) {
      const std::uint32_t member = now[old.member];
      if (member == kUnknown) continue;
      while (next != fresh.end() && next->value < old.value) append(*next++);
      append({old.value, member});
    }
    while (next != fresh.end()) append(*next++);
  }
  std::uint32_t bucket = 0;
  for (std::uint32_t at = 0; at < points_.size(); ++at) {
    for (const std::uint32_t last = points_[at].value >> shift_; bucket <= last; ++bucket) first_[bucket] = at;
  }
  for (; bucket < first_.size(); ++bucket) first_[bucket] = static_cast<std::uint32_t>(points_.size());
}

}  // namespace fairlead
