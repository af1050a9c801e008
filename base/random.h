#ifndef FAIRLEAD_BASE_RANDOM_H_
#define FAIRLEAD_BASE_RANDOM_H_

#include <cstdint>

namespace fairlead {

namespace internal {
__extension__ typedef unsigned __int128 Uint128;
}

// Turns any 64-bit number into a well mixed one (the SplitMix64 finaliser). Good for deriving seeds.
constexpr std::uint64_t Mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// A small fast generator for balancing decisions (the wyrand step: one add, one 64x64 multiply). Not for
// secrets. The sequence of a seed never changes. Not thread-safe: one per thread.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed = 0) : state_(seed) {}

  constexpr std::uint64_t Next() {
    state_ += 0xa0761d6478bd642fu;
    const internal::Uint128 product =
        static_cast<internal::Uint128>(state_) * static_cast<internal::Uint128>(state_ ^ 0xe7037ed1a0b428dbu);
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
  }

  // Uniform in [0, n) by multiply-and-shift; the bias is below n / 2^64. n must be positive.
  constexpr std::uint64_t Below(std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<internal::Uint128>(Next()) * n) >> 64);
  }

  // Where the sequence stands: Random(state()) goes on from here.
  constexpr std::uint64_t state() const { return state_; }

 private:
  std::uint64_t state_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_RANDOM_H_
