#include "fairlead/loadbalance/hash_ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>

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
                   std::span<const std::uint32_t> known) {
  std::vector<Point> fresh, kept;
  std::vector<std::uint32_t> now;  // by member of `like`
  if (like != nullptr) {
    std::uint32_t members = 0;
    for (const Point& point : like->points_) members = std::max(members, point.member + 1);
    now.resize(members, kUnknown);
  }
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
  if (like == nullptr) {
    points_ = std::move(fresh);
  } else {
    for (const Point& point : like->points_) {
      if (now[point.member] != kUnknown) kept.push_back({point.value, now[point.member]});
    }
    // Values are in order already; the members of one value are when the ranks have not moved.
    for (std::size_t begin = 0; begin < kept.size();) {
      std::size_t end = begin + 1;
      while (end < kept.size() && kept[end].value == kept[begin].value) ++end;
      if (end - begin > 1) {
        std::sort(kept.begin() + static_cast<std::ptrdiff_t>(begin), kept.begin() + static_cast<std::ptrdiff_t>(end),
                  Before);
      }
      begin = end;
    }
    points_.reserve(kept.size() + fresh.size());
    std::merge(kept.begin(), kept.end(), fresh.begin(), fresh.end(), std::back_inserter(points_), Before);
  }
  BuildIndex();
}

void HashRing::BuildIndex() {
  // About two points a bucket.
  const unsigned bits = std::clamp(static_cast<unsigned>(std::bit_width(points_.size())), 2u, 31u) - 1;
  shift_ = 32 - bits;
  first_.resize(std::size_t{1} << bits);
  std::uint32_t at = 0;
  for (std::size_t bucket = 0; bucket < first_.size(); ++bucket) {
    const std::uint32_t begin = static_cast<std::uint32_t>(bucket) << shift_;
    while (at < points_.size() && points_[at].value < begin) ++at;
    first_[bucket] = at;
  }
}

}  // namespace fairlead
