#include "fairlead/base/log.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/log_recorder.h"

namespace fairlead {
namespace {

using std::chrono::seconds;

class LoggerTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  LogRecorder recorder_;
  Logger logger_{recorder_.sink(), clock_};
};

TEST_F(LoggerTest, PassesTheLineOn) {
  logger_.Info("FL-1-1", "a", "one");
  logger_.Warn("FL-1-2", "b", "two");
  logger_.Error("FL-1-3", "c", "three");
  const auto lines = recorder_.lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].severity, Severity::kInfo);
  EXPECT_EQ(lines[1].severity, Severity::kWarning);
  EXPECT_EQ(lines[2].severity, Severity::kError);
  EXPECT_EQ(lines[1].code, "FL-1-2");
  EXPECT_EQ(lines[1].subject, "b");
  EXPECT_EQ(lines[1].text, "two");
}

TEST_F(LoggerTest, HoldsRepeatsBackForAMinuteAndSaysHowMany) {
  for (int i = 0; i < 5; ++i) logger_.Warn("FL-1-2", "a", "down");
  clock_.Advance(seconds(59));
  logger_.Warn("FL-1-2", "a", "down");
  EXPECT_EQ(recorder_.count("FL-1-2"), 1u);
  clock_.Advance(seconds(1));
  logger_.Warn("FL-1-2", "a", "still down");
  ASSERT_EQ(recorder_.lines().size(), 2u);
  EXPECT_EQ(recorder_.lines()[1].text, "still down (5 like it held back)");
  clock_.Advance(seconds(60));
  logger_.Warn("FL-1-2", "a", "again");
  EXPECT_EQ(recorder_.lines().back().text, "again");
}

TEST_F(LoggerTest, TheQuietMinuteBeginsAtTheLineThatPassed) {
  logger_.Warn("FL-1-2", "a", "1");
  for (int i = 0; i < 6; ++i) {
    clock_.Advance(seconds(20));
    logger_.Warn("FL-1-2", "a", "more");
  }
  EXPECT_EQ(recorder_.count("FL-1-2"), 3u);
}

TEST_F(LoggerTest, OtherSubjectsAndCodesAreNotHeldBack) {
  logger_.Warn("FL-1-2", "a", "x");
  logger_.Warn("FL-1-2", "b", "x");
  logger_.Warn("FL-1-3", "a", "x");
  EXPECT_EQ(recorder_.lines().size(), 3u);
}

TEST_F(LoggerTest, BadInputsAreHeldBackOneByOne) {
  const std::string alike(500, 'x');
  for (int i = 0; i < 3; ++i) logger_.WarnOfEach("FL-1-2", std::string(1000, 's'), {alike + "1", alike + "2"});
  ASSERT_EQ(recorder_.count("FL-1-2"), 2u);
  EXPECT_EQ(recorder_.lines()[1].text, alike + "2");
  EXPECT_EQ(logger_.Count("FL-1-2"), 6u);
  logger_.WarnOf("FL-1-2", "s", "input", "one reason");
  logger_.WarnOf("FL-1-2", "s", "input", "another reason");
  logger_.WarnOf("FL-1-2", "t", "input", "another path");
  EXPECT_EQ(recorder_.count("FL-1-2"), 4u);
  logger_.WarnOfEach("FL-1-3", "s", std::vector<std::string>(1000, "all bad"));
  EXPECT_EQ(logger_.Count("FL-1-3"), Logger::kMostOfEach);
}

TEST_F(LoggerTest, CountsEveryLine) {
  for (int i = 0; i < 7; ++i) logger_.Warn("FL-1-2", i % 2 == 0 ? "a" : "b", "x");
  EXPECT_EQ(logger_.Count("FL-1-2"), 7u);
  EXPECT_EQ(logger_.Count("FL-9-9"), 0u);
  Logger silent(nullptr, clock_);
  silent.Warn("FL-1-2", "a", "x");
  EXPECT_EQ(silent.Count("FL-1-2"), 1u);
}

TEST_F(LoggerTest, RemembersABoundedNumberOfPairs) {
  for (int i = 0; i < 1024; ++i) logger_.Warn("FL-1-2", "s" + std::to_string(i), "x");
  EXPECT_EQ(recorder_.count("FL-1-2"), 1024u);
  // The table is full, but a known pair needs no room.
  logger_.Warn("FL-1-2", "s0", "x");
  logger_.Warn("FL-1-2", "s1023", "x");
  EXPECT_EQ(recorder_.count("FL-1-2"), 1024u);
  // The pair too many makes it forget, after which known pairs pass once more.
  logger_.Warn("FL-1-2", "new", "x");
  logger_.Warn("FL-1-2", "s0", "x");
  logger_.Warn("FL-1-2", "s0", "x");
  EXPECT_EQ(recorder_.count("FL-1-2"), 1026u);
}

TEST_F(LoggerTest, SinkMayUseTheLoggerAndMayThrow) {
  Logger* self = nullptr;
  std::uint64_t seen = 0;
  int calls = 0;
  Logger logger(
      [&](const LogRecord&) {
        ++calls;
        seen = self->Count("FL-1-2");
        self->Warn("FL-1-9", "a", "from within");
        throw std::runtime_error("the host's trouble");
      },
      clock_);
  self = &logger;
  logger.Warn("FL-1-2", "a", "x");
  logger.Warn("FL-1-2", "b", "x");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(seen, 2u);
  EXPECT_EQ(logger.Count("FL-1-9"), 2u);
}

TEST_F(LoggerTest, OneSinkCallAtATime) {
  int unguarded = 0;
  Logger logger([&](const LogRecord&) { ++unguarded; }, clock_);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        logger.Warn("FL-1-2", std::to_string(t) + "/" + std::to_string(i), "x");
        logger.Warn("FL-1-3", "shared", "x");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(unguarded, 801);
  EXPECT_EQ(logger.Count("FL-1-3"), 800u);
}

TEST(StderrLogSink, WritesOneLine) {
  ::testing::internal::CaptureStderr();
  const LogSink sink = StderrLogSink();
  sink({Severity::kInfo, "FL-1-1", "svc", "hello"});
  sink({Severity::kWarning, "FL-1-2", "svc", "two\nlines\tand \x1b[31mcolour\x7f"});
  sink({Severity::kError, "FL-1-3", "", "gr\xc3\xbc\xc3\x9f"});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "fairlead I FL-1-1 svc: hello\n"
            "fairlead W FL-1-2 svc: two lines and  [31mcolour \n"
            "fairlead E FL-1-3 : gr\xc3\xbc\xc3\x9f\n");
}

}  // namespace
}  // namespace fairlead
