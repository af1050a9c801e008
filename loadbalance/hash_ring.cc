#include "fairlead/loadbalance/hash_ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <new>
#include <type_traits>
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

// The first of `points` above the value, not far from their begin as a rule.
const HashRing::Point* Above(std::span<const HashRing::Point> points, std::uint32_t value) {
  std::size_t reach = 1;
  while (reach < points.size() && points[reach].value <= value) reach *= 2;
  return std::upper_bound(points.data(), points.data() + std::min(reach + 1, points.size()), value,
                          [](std::uint32_t of, const HashRing::Point& point) { return of < point.value; });
}

// The points of `old` whose members are still there, by `now` = what has become of each, and the fresh ones, all in
// order. Returns the end of what was written. Nearly as quick as a copy when few are fresh and members kept their order.
HashRing::Point* Merge(std::span<const HashRing::Point> old, std::span<const std::uint32_t> now,
                       std::span<const HashRing::Point> fresh, HashRing::Point* out) {
  HashRing::Point* const begin = out;
  // Points of one value stand in order of their members, whichever list they came from.
  const auto append = [&](HashRing::Point point) {
    HashRing::Point* at = out++;
    while (at != begin && at[-1].value == point.value && at[-1].member > point.member) {
      *at = at[-1];
      --at;
    }
    *at = point;
  };
  std::uint32_t latest = 0;
  bool in_order = true;
  for (const std::uint32_t member : now) {
    if (member == HashRing::kUnknown) continue;
    in_order = in_order && member >= latest;
    latest = member;
  }
  const auto keep = [&](std::span<const HashRing::Point> points) {
    for (const HashRing::Point& point : points) {
      const std::uint32_t member = now[point.member];
      if (in_order) {
        // Written in any case, and taken back by the next one: a branch would be lost at each that is gone.
        *out = {point.value, member};
        out += member != HashRing::kUnknown;
      } else if (member != HashRing::kUnknown) {
        append({point.value, member});
      }
    }
  };
  for (const HashRing::Point& point : fresh) {
    const auto block = static_cast<std::size_t>(Above(old, point.value) - old.data());
    keep(old.first(block));
    old = old.subspan(block);
    append(point);
  }
  keep(old);
  return out;
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

namespace {

static_assert(sizeof(Md5) <= sizeof(RingKey) && alignof(Md5) <= alignof(RingKey) && std::is_trivially_destructible_v<Md5>);
Md5& Md5In(std::array<std::byte, 128>& state) { return *std::launder(reinterpret_cast<Md5*>(state.data())); }

}  // namespace

RingKey::RingKey() { new (state_.data()) Md5(); }
void RingKey::Add(std::string_view text) { Md5In(state_).Add(text); }
std::uint32_t RingKey::Position() { return Md5In(state_).Words()[0]; }

HashRing::HashRing(std::span<const std::string_view> addresses, std::uint32_t nodes, const HashRing* like,
                   std::span<const std::uint32_t> known, PointsOf points_of)
    : members_(addresses.size()) {
  std::vector<std::uint32_t> now(like == nullptr ? 0 : like->members_, kUnknown);  // by member of `like`
  std::vector<Point> fresh;
  for (std::uint32_t i = 0; i < addresses.size(); ++i) {
    if (like != nullptr && known[i] != kUnknown && now[known[i]] == kUnknown) {
      now[known[i]] = i;
      continue;
    }
    for (std::uint32_t node = 0; node < nodes / 4; ++node) {
      for (const std::uint32_t value : points_of(addresses[i], node)) fresh.push_back({value, i});
    }
  }
  SortByValue(fresh);
  size_ = static_cast<std::uint32_t>(addresses.size() * (nodes / 4 * 4));
  points_.reset(new Point[size_ + kPadding]);
  Point* end = points_.get();
  if (like == nullptr) {
    end = std::copy(fresh.begin(), fresh.end(), end);
  } else {
    end = Merge(like->points(), now, fresh, end);
  }
  std::fill_n(end, kPadding, Point{std::numeric_limits<std::uint32_t>::max(), 0});
  Index();
}

void HashRing::Index() {
  // About two points a bucket.
  const unsigned bits = std::clamp(static_cast<unsigned>(std::bit_width(size_)), 2u, 31u) - 1;
  shift_ = static_cast<std::uint8_t>(32 - bits);
  first_.assign(std::size_t{1} << bits, kUnknown);
  // Backwards, so that the first point of a bucket has the last word.
  for (std::uint32_t at = size_; at-- > 0;) first_[points_[at].value >> shift_] = at;
  std::uint32_t next = size_;
  for (std::size_t bucket = first_.size(); bucket-- > 0;) {
    next = first_[bucket] == kUnknown ? next : first_[bucket];
    first_[bucket] = next;
  }
}

}  // namespace fairlead
