#include "fairlead/registry/burst_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Plays events (ms, ascending) and returns when the list is read.
std::vector<int> Reads(BurstWindow window, const std::vector<int>& events) {
  const Clock::SteadyTime start{std::chrono::hours(1)};
  std::vector<int> reads;
  int due = -1;
  const auto read_until = [&](int now) {
    if (due < 0 || due > now) return;
    window.OnRead(start + milliseconds(due));
    reads.push_back(due);
    due = -1;
  };
  for (const int at : events) {
    read_until(at);
    if (const auto wait = window.OnEvent(start + milliseconds(at))) {
      due = at + static_cast<int>(std::chrono::duration_cast<milliseconds>(*wait).count());
    } else {
      EXPECT_GE(due, at) << "an event was not covered";
    }
    read_until(at);
  }
  read_until(1'000'000);
  return reads;
}

std::vector<int> Every(int step, int until) {
  std::vector<int> events;
  for (int at = 0; at <= until; at += step) events.push_back(at);
  return events;
}

TEST(BurstWindow, FirstAtOnceTheRestOfTheWindowTogether) {
  EXPECT_EQ(Reads(BurstWindow(), {0, 10, 20, 99}), (std::vector<int>{0, 100}));
}

TEST(BurstWindow, TenEventsInOneWindowGiveTwoReads) {
  EXPECT_EQ(Reads(BurstWindow(BurstWindow::Limits::Fixed(milliseconds(1000))), Every(100, 900)),
            (std::vector<int>{0, 1000}));
}

TEST(BurstWindow, DoublesToItsLongest) {
  EXPECT_EQ(Reads(BurstWindow(), Every(10, 5000)),
            (std::vector<int>{0, 100, 300, 700, 1500, 2500, 3500, 4500, 5500}));
}

TEST(BurstWindow, AQuietWindowStartsAnew) {
  // The read at 300 opens a window of 400 which stays quiet; 700 is read at once, and 710 waits 100 again.
  EXPECT_EQ(Reads(BurstWindow(), {0, 50, 150, 700, 710}), (std::vector<int>{0, 100, 300, 700, 800}));
}

TEST(BurstWindow, AGivenValueIsHonouredExactly) {
  EXPECT_EQ(Reads(BurstWindow(BurstWindow::Limits::Fixed(milliseconds(250))), Every(10, 800)),
            (std::vector<int>{0, 250, 500, 750, 1000}));
}

TEST(BurstWindow, ZeroNeverWaits) {
  EXPECT_EQ(Reads(BurstWindow(BurstWindow::Limits::Fixed(milliseconds(0))), {0, 0, 1, 1, 2}),
            (std::vector<int>{0, 0, 1, 1, 2}));
}

// Whatever comes when: the first event after a quiet time is read at once, no event waits longer than the longest
// window, and within any window there are two reads at most.
TEST(BurstWindow, AnyStreamIsReadInTimeAndNotOften) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(Mix64(seed));
    const int first = 1 + static_cast<int>(random.Below(200));
    const int longest = random.Below(2) == 0 ? first : first + static_cast<int>(random.Below(2000));
    std::vector<int> events;
    int at = 0;
    for (int i = 0; i < 300; ++i) {
      at += random.Below(20) == 0 ? static_cast<int>(random.Below(5000)) : static_cast<int>(random.Below(30));
      events.push_back(at);
    }
    const std::vector<int> reads =
        Reads(BurstWindow(BurstWindow::Limits{milliseconds(first), milliseconds(longest)}), events);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const auto covered = std::lower_bound(reads.begin(), reads.end(), events[i]);
      ASSERT_NE(covered, reads.end()) << "seed " << seed;
      EXPECT_LE(*covered - events[i], longest) << "seed " << seed;
      const bool quiet = i == 0 || events[i] - events[i - 1] > 2 * longest;
      EXPECT_TRUE(!quiet || *covered == events[i]) << "seed " << seed;
    }
    for (std::size_t i = 2; i < reads.size(); ++i) {
      EXPECT_GE(reads[i] - reads[i - 2], first) << "three reads in one window, seed " << seed;
    }
  }
}

TEST(BurstWindow, AReadForAnotherReasonCoversWhatWasDue) {
  BurstWindow window;
  const Clock::SteadyTime now{std::chrono::hours(1)};
  window.OnRead(now);
  EXPECT_EQ(window.OnEvent(now + milliseconds(40)), nanoseconds(milliseconds(60)));
  EXPECT_TRUE(window.read_due());
  window.OnRead(now + milliseconds(50));
  EXPECT_FALSE(window.read_due());
  EXPECT_NE(window.OnEvent(now + milliseconds(51)), std::nullopt);
}

}  // namespace
}  // namespace fairlead
