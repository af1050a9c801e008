#include "fairlead/loadbalance/hash_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

using Addresses = std::vector<std::string_view>;

std::vector<std::string> Hosts(int first, int last) {
  std::vector<std::string> hosts;
  for (int i = first; i < last; ++i) hosts.push_back("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":20880");
  return hosts;
}
Addresses Views(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

// The ring as Dubbo builds it.
std::uint32_t OwnerInTree(const std::map<std::uint32_t, std::uint32_t>& tree, std::uint32_t position) {
  const auto at = tree.lower_bound(position);
  return at == tree.end() ? tree.begin()->second : at->second;
}
std::map<std::uint32_t, std::uint32_t> Tree(const Addresses& addresses, std::uint32_t nodes) {
  std::map<std::uint32_t, std::uint32_t> tree;
  for (std::uint32_t i = 0; i < addresses.size(); ++i) {
    for (std::uint32_t node = 0; node < nodes / 4; ++node) {
      for (const std::uint32_t value : RingPoints(addresses[i], node)) tree[value] = i;
    }
  }
  return tree;
}

void ExpectEqual(const HashRing& ring, const std::map<std::uint32_t, std::uint32_t>& tree) {
  Random random(37);
  for (int i = 0; i < 3000; ++i) {
    const auto position = static_cast<std::uint32_t>(random.Next());
    ASSERT_EQ(ring.Owner(position), OwnerInTree(tree, position)) << position;
  }
  for (const auto& [value, member] : tree) {
    ASSERT_EQ(ring.Owner(value), member);
    ASSERT_EQ(ring.Owner(value + 1), OwnerInTree(tree, value + 1));
  }
  ASSERT_EQ(ring.Owner(0), OwnerInTree(tree, 0));
  ASSERT_EQ(ring.Owner(~0u), OwnerInTree(tree, ~0u));
}

// MD5("") = d41d8cd98f00b204e9800998ecf8427e, MD5("abc") = 900150983cd24fb0d6963f7d28e17f72.
TEST(HashRingTest, PositionsAreLittleEndianWordsOfTheMd5Sum) {
  EXPECT_EQ(RingPosition({}), 0xd98c1dd4u);
  const std::string_view joined[] = {"a", "bc"};
  EXPECT_EQ(RingPosition(joined), 0x98500190u);
  const std::string_view text[] = {"10.0.0.1:208800"};
  EXPECT_EQ(RingPoints("10.0.0.1:20880", 0)[0], RingPosition(text));
  const std::string_view tenth[] = {"10.0.0.1:2088039"};
  EXPECT_EQ(RingPoints("10.0.0.1:20880", 39)[0], RingPosition(tenth));
}

TEST(HashRingTest, EqualsTheTree) {
  for (const int n : {1, 2, 5, 100}) {
    for (const std::uint32_t nodes : {4u, 7u, 160u}) {
      const auto hosts = Hosts(0, n);
      ExpectEqual(HashRing(Views(hosts), nodes), Tree(Views(hosts), nodes));
    }
  }
}

TEST(HashRingTest, ASharedPointBelongsToTheLastMember) {
  const Addresses twice{"10.0.0.1:1", "10.0.0.2:1", "10.0.0.1:1"};
  const HashRing ring(twice, 160);
  ExpectEqual(ring, Tree(twice, 160));
  EXPECT_EQ(ring.Owner(RingPoints("10.0.0.1:1", 3)[2]), 2u);
}

TEST(HashRingTest, BuiltFromAnotherRingItIsTheSameRing) {
  Random random(41);
  std::vector<std::string> before = Hosts(0, 40);
  before.push_back(before[3]);
  HashRing ring(Views(before), 160);
  for (int round = 0; round < 30; ++round) {
    // Some leave, some come, the order changes.
    std::vector<std::string> after;
    for (const std::string& host : before) {
      if (random.Below(6) != 0) after.push_back(host);
    }
    for (const std::string& host : Hosts(100 + 10 * round, 100 + 10 * round + static_cast<int>(random.Below(5)) + 1)) {
      after.push_back(host);
    }
    for (std::size_t i = after.size(); i > 1; --i) std::swap(after[i - 1], after[random.Below(i)]);
    std::vector<std::uint32_t> known;
    for (const std::string& host : after) {
      std::uint32_t at = HashRing::kUnknown;
      for (std::uint32_t i = 0; i < before.size(); ++i) {
        if (before[i] == host) at = i;
      }
      known.push_back(at);
    }
    HashRing next(Views(after), 160, &ring, known);
    const HashRing fresh(Views(after), 160);
    ASSERT_TRUE(std::equal(next.points().begin(), next.points().end(), fresh.points().begin(), fresh.points().end()));
    ring = std::move(next);
    before = std::move(after);
  }
}

TEST(HashRingTest, OnlyTheKeysOfALeavingMemberMove) {
  const auto hosts = Hosts(0, 20);
  auto fewer = hosts;
  fewer.erase(fewer.begin() + 7);
  const HashRing ring(Views(hosts), 160), without(Views(fewer), 160);
  Random random(43);
  int moved = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto position = static_cast<std::uint32_t>(random.Next());
    const std::string& owner = hosts[ring.Owner(position)];
    if (owner == hosts[7]) {
      ++moved;
    } else {
      ASSERT_EQ(fewer[without.Owner(position)], owner);
    }
  }
  EXPECT_NEAR(moved, 1000, 400);
}

TEST(HashRingTest, ReadForSomeItIsTheRingOfThose) {
  Random random(47);
  for (int round = 0; round < 40; ++round) {
    // Every address is there about twice, so that most points are shared.
    std::vector<std::string> all;
    for (int i = 0; i < 24; ++i) all.push_back(Hosts(0, 12)[random.Below(12)]);
    std::vector<std::uint32_t> ranks;
    std::vector<bool> present(all.size());
    Addresses some;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (random.Below(3) == 0) continue;
      present[i] = true;
      ranks.push_back(i);
      some.push_back(all[i]);
    }
    const HashRing ring(Views(all), 16), alone(some, 16);
    const auto is_present = [&](std::uint32_t member) { return present[member]; };
    const auto expect_equal = [&](std::uint32_t position) {
      ASSERT_EQ(ring.Owner(position, ring.points().size(), is_present), ranks[alone.Owner(position)])
          << round << ' ' << position;
    };
    for (const HashRing::Point& point : ring.points()) {
      expect_equal(point.value);
      expect_equal(point.value + 1);
    }
    for (int i = 0; i < 200; ++i) expect_equal(static_cast<std::uint32_t>(random.Next()));
  }
}

TEST(HashRingTest, LooksAtAsManyPointsAsAllowed) {
  const auto hosts = Hosts(0, 3);
  const HashRing ring(Views(hosts), 16);
  for (std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{10}, std::size_t{48}, std::size_t{1000}}) {
    std::size_t looked = 0;
    EXPECT_EQ(ring.Owner(7, limit, [&](std::uint32_t) { return ++looked > 1000; }), HashRing::kUnknown);
    EXPECT_EQ(looked, std::min<std::size_t>(limit, 48));
  }
}

}  // namespace
}  // namespace fairlead
