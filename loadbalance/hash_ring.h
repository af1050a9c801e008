#ifndef FAIRLEAD_LOADBALANCE_HASH_RING_H_
#define FAIRLEAD_LOADBALANCE_HASH_RING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace fairlead {

// The four ring points that Dubbo gives the text `address` + decimal `index`: the words of its MD5 sum, little endian.
std::array<std::uint32_t, 4> RingPoints(std::string_view address, std::uint32_t index);
// What stands for RingPoints in a test whose points are to meet.
using PointsOf = std::array<std::uint32_t, 4> (*)(std::string_view address, std::uint32_t index);
// The ring position of a key: the first of the four words of its MD5 sum. The key is the texts joined.
std::uint32_t RingPosition(std::span<const std::string_view> key);
// The same, text by text, without memory of its own.
class RingKey {
 public:
  RingKey();
  void Add(std::string_view text);
  // REQUIRES: called once, last
  std::uint32_t Position();

 private:
  // The state of the MD5 sum.
  alignas(std::uint64_t) std::array<std::byte, 128> state_;
};

// Dubbo's consistent hash ring, point by point: member i of `addresses` owns nodes / 4 * 4 points, a point that several
// members share belongs to the last of them, and a position belongs to the next point at or after it, around the ring.
//
// Building: nodes / 4 MD5 sums a member that `like` does not know, and a linear sort; 8 bytes a point and
// about 2 for the index. Owner: constant on average. Immutable; thread-safe.
class HashRing {
 public:
  HashRing() = default;
  // nodes >= 4. `like`: a ring of the same nodes whose points are taken over, with `known[i]` = the member of it
  // that has the address of member i, or kUnknown; nullptr = none.
  static constexpr std::uint32_t kUnknown = 0xffffffffu;
  HashRing(std::span<const std::string_view> addresses, std::uint32_t nodes, const HashRing* like = nullptr,
           std::span<const std::uint32_t> known = {}, PointsOf points_of = RingPoints);

  struct Point {
    std::uint32_t value;
    std::uint32_t member;
    friend bool operator==(const Point&, const Point&) = default;
  };
  // The owner of `position` on the ring of those members alone for whom `present(member)` is true: the last present
  // member of the first point at or after it that has one. kUnknown when `look_at_most` points have none.
  template <class Present>
  std::uint32_t Owner(std::uint32_t position, std::size_t look_at_most, Present&& present) const {
    std::uint32_t at = view().LowerBound(position);
    std::uint32_t owner = kUnknown;
    for (std::size_t looked = 0; looked < look_at_most && looked < size_; ++looked) {
      const Point& point = points_[at];
      if (present(point.member)) owner = point.member;
      if (++at == size_) at = 0;
      if (owner != kUnknown && points_[at].value != point.value) break;
    }
    return owner;
  }
  std::uint32_t Owner(std::uint32_t position) const { return view().Owner(position); }

  // What a look-up reads, for who has the ring's own memory out of the way. Valid as long as the ring.
  struct View {
    const Point* points = nullptr;
    const std::uint32_t* first = nullptr;
    std::uint32_t size = 0;
    std::uint8_t shift = 0;

    // The first point at or after the position, around the ring.
    std::uint32_t LowerBound(std::uint32_t position) const {
      std::uint32_t at = first[position >> shift];
      // How many points of a bucket lie below a position is a throw of dice, which a branch for each would lose.
      for (;;) {
        std::uint32_t below = 0;
        for (std::uint32_t i = 0; i < kPadding; ++i) below += points[at + i].value < position;
        at += below;
        if (below < kPadding) [[likely]] break;
      }
      return at < size ? at : 0;
    }
    std::uint32_t Owner(std::uint32_t position) const {
      std::uint32_t at = LowerBound(position);
      while (points[at + 1].value == points[at].value && at + 1 < size) [[unlikely]] ++at;
      return points[at].member;
    }
  };
  View view() const { return {points_.get(), first_.data(), size_, shift_}; }

  std::span<const Point> points() const { return {points_.get(), size_}; }  // ascending by (value, member)

 private:
  // So many points of the highest value follow the last, so that a look-up may read on.
  static constexpr std::uint32_t kPadding = 4;

  void Index();

  std::unique_ptr<Point[]> points_;
  std::vector<std::uint32_t> first_;  // by the high bits of a position: the first point not below their range
  std::uint32_t size_ = 0;            // of points_
  std::uint8_t shift_ = 0;
  std::size_t members_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_HASH_RING_H_
