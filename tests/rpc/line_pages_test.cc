#include "fairlead/rpc/line_pages.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fairlead/base/random.h"

namespace fairlead::internal {
namespace {

TEST(LinePages, EveryLineIsAlignedAndNobodyElses) {
  LinePages pages;
  std::set<void*> lines;
  for (int i = 0; i < 1000; ++i) {
    void* line = pages.Take();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(line) % LinePages::kLine, 0u);
    EXPECT_TRUE(lines.insert(line).second);
    std::memset(line, i & 0xff, LinePages::kLine);
  }
  EXPECT_EQ(pages.pages(), 16u);
  for (void* line : lines) pages.Give(line);
  EXPECT_EQ(pages.pages(), 0u);
}

TEST(LinePages, LinesGivenBackAreTakenBeforeAPageIsMade) {
  LinePages pages;
  std::vector<void*> lines;
  for (int i = 0; i < 640; ++i) lines.push_back(pages.Take());
  for (std::size_t i = 0; i < lines.size(); i += 2) pages.Give(lines[i]);
  EXPECT_EQ(pages.pages(), 10u);
  for (std::size_t i = 0; i < lines.size(); i += 2) lines[i] = pages.Take();
  EXPECT_EQ(pages.pages(), 10u);
  EXPECT_EQ(std::set<void*>(lines.begin(), lines.end()).size(), lines.size());
  for (void* line : lines) pages.Give(line);
}

// A list that is replaced again and again, half of it each time, must not spread over ever more pages.
TEST(LinePages, PartialChurnKeepsToAsManyPages) {
  LinePages pages;
  Random random(7);
  std::vector<void*> lines;
  for (int i = 0; i < 6400; ++i) lines.push_back(pages.Take());
  for (int round = 0; round < 50; ++round) {
    std::vector<void*> left;
    for (void*& line : lines) {
      if (random.Below(2) == 0) continue;
      left.push_back(line);
      line = pages.Take();
    }
    EXPECT_LE(pages.pages(), 200u);
    for (void* line : left) pages.Give(line);
  }
  EXPECT_LE(pages.pages(), 170u);
  for (void* line : lines) pages.Give(line);
  EXPECT_EQ(pages.pages(), 0u);
}

TEST(LinePages, ThreadsTakeAndGiveAtOnce) {
  LinePages pages;
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&pages, seed] {
      Random random(seed);
      std::vector<std::uint64_t*> held;
      for (std::uint64_t i = 0; i < 5000; ++i) {
        if (held.empty() || random.Below(2) == 0) {
          held.push_back(static_cast<std::uint64_t*>(pages.Take()));
          *held.back() = seed;
          continue;
        }
        std::swap(held[random.Below(held.size())], held.back());
        EXPECT_EQ(*held.back(), seed);
        pages.Give(held.back());
        held.pop_back();
      }
      for (void* line : held) pages.Give(line);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pages.pages(), 0u);
}

}  // namespace
}  // namespace fairlead::internal
