#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "fairlead/base/executor.h"

namespace fairlead {
namespace {

TEST(Timer, CancelsOnceAndWhenDestroyed) {
  int cancelled = 0;
  {
    Timer timer([&] { ++cancelled; });
    EXPECT_TRUE(timer.armed());
    timer.Cancel();
    EXPECT_EQ(cancelled, 1);
    EXPECT_FALSE(timer.armed());
    timer.Cancel();
  }
  EXPECT_EQ(cancelled, 1);
  {
    const Timer timer([&] { ++cancelled; });
  }
  EXPECT_EQ(cancelled, 2);
}

TEST(Timer, DefaultIsUnarmed) {
  Timer timer;
  EXPECT_FALSE(timer.armed());
  timer.Cancel();
}

TEST(Timer, MovePassesTheDutyOn) {
  int first = 0, second = 0;
  Timer timer([&] { ++first; });
  Timer moved(std::move(timer));
  EXPECT_FALSE(timer.armed());
  EXPECT_TRUE(moved.armed());
  EXPECT_EQ(first, 0);
  moved = Timer([&] { ++second; });
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  Timer& same = moved;
  moved = std::move(same);
  EXPECT_TRUE(moved.armed());
  EXPECT_EQ(second, 0);
  moved = Timer();
  EXPECT_EQ(second, 1);
}

TEST(Timer, MayBeDestroyedByItsOwnCancel) {
  auto timer = std::make_unique<Timer>();
  *timer = Timer([&] { timer.reset(); });
  timer->Cancel();
  EXPECT_EQ(timer, nullptr);
}

}  // namespace
}  // namespace fairlead
