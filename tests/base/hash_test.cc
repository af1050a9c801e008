#include "fairlead/base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <unordered_set>

namespace fairlead {
namespace {

TEST(HashBytes, KnownValues) {
  static_assert(std::endian::native == std::endian::little, "the values below are those of such machines");
  EXPECT_EQ(HashBytes(""), 0xa706dd2f4d197e6fu);
  EXPECT_EQ(HashBytes("a"), 0x5e025f9ade9eaf3eu);
  EXPECT_EQ(HashBytes("a", 7), 0xca96bd18e453df07u);
  EXPECT_EQ(HashBytes("12345678"), 0xa7abfe1aaf624a1bu);
  EXPECT_EQ(HashBytes("tri://10.0.0.1:50051/com.acme.Orders?version=1.0.0"), 0x85fbd590959c75b5u);
  EXPECT_EQ(HashBytes("tri://10.0.0.1:50051/com.acme.Orders?version=1.0.0", 7), 0x83bfd88e8357e88cu);
}

TEST(HashBytes, NullViewIsTheEmptyText) { EXPECT_EQ(HashBytes(std::string_view()), HashBytes("")); }

TEST(HashBytes, LengthCounts) {
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t n = 0; n <= 64; ++n) EXPECT_TRUE(seen.insert(HashBytes(std::string(n, '\0'))).second) << n;
}

TEST(HashBytes, IndependentOfAlignment) {
  const std::string text = "consumer://10.0.0.7/com.acme.Orders";
  for (std::size_t shift = 0; shift < 16; ++shift) {
    const std::string shifted = std::string(shift, 'x') + text;
    EXPECT_EQ(HashBytes(std::string_view(shifted).substr(shift)), HashBytes(text));
  }
}

TEST(HashBytes, UrlsThatDifferInFewDigitsDoNotCollide) {
  std::unordered_set<std::uint64_t> all, low;
  constexpr int kUrls = 200'000;
  for (int i = 0; i < kUrls; ++i) {
    const std::string url = "dubbo://10." + std::to_string(i / 65536) + "." + std::to_string(i / 256 % 256) +
                            "." + std::to_string(i % 256) + ":20880/com.acme.Orders?timestamp=1700000060000";
    const std::uint64_t hash = HashBytes(url);
    all.insert(hash);
    low.insert(hash & 0xffffff);
  }
  EXPECT_EQ(all.size(), kUrls);
  // Random 24-bit values: 200 000 - n^2 / 2^25 = 198 808 distinct expected, standard deviation about 35.
  EXPECT_NEAR(static_cast<double>(low.size()), 198'812, 200);
}

// Each input bit should turn each output bit with probability one half.
TEST(HashBytes, EveryInputBitReachesEveryOutputBit) {
  for (const std::size_t length : {std::size_t{3}, std::size_t{8}, std::size_t{21}}) {
    constexpr int kTexts = 400;
    Random random(5);
    for (std::size_t bit = 0; bit < length * 8; ++bit) {
      int flips[64] = {};
      for (int t = 0; t < kTexts; ++t) {
        std::string text(length, 0);
        for (char& c : text) c = static_cast<char>(random.Next());
        std::string other = text;
        other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
        const std::uint64_t changed = HashBytes(text) ^ HashBytes(other);
        for (int out = 0; out < 64; ++out) flips[out] += static_cast<int>(changed >> out & 1);
      }
      for (const int n : flips) ASSERT_NEAR(n, kTexts / 2, 70) << "length " << length << " bit " << bit;
    }
  }
}

TEST(HashBytes, SeedsGiveUnrelatedHashes) {
  std::unordered_set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    for (const char* text : {"", "a", "12345678", "a longer text than one word"}) {
      EXPECT_TRUE(seen.insert(HashBytes(text, seed)).second) << seed << text;
    }
  }
}

}  // namespace
}  // namespace fairlead
