#include "fairlead/registry/redis/redis_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/manual_executor.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RedisConnectionTest : public ::testing::Test, private RedisConnection::Observer {
 protected:
  class Stream final : public RedisStream {
   public:
    explicit Stream(std::vector<RedisWords>& sent) : sent_(sent) {}
    void Send(const RedisWords& command) override { sent_.push_back(command); }
    std::vector<RedisWords>& sent_;
  };

  void SetUp() override {
    RedisConnection::Observer& self = *this;
    connection_ = std::make_unique<RedisConnection>(
        executor_,
        [this](const RedisServer&, RedisStream::Events& events) {
          events_ = &events;
          return std::make_unique<Stream>(sent_);
        },
        RedisServer{"h", 1, "h:1"}, RedisConnection::Limits{milliseconds(100), milliseconds(50), 1000}, self);
  }
  void OnOpen(RedisConnection&) override { ++opened_; }
  void OnMessage(RedisConnection&, const std::string& channel, const std::string& payload) override {
    messages_.push_back(channel + "=" + payload);
    if (payload == "die") connection_.reset();
  }
  void OnLost(RedisConnection&, const absl::Status& why) override {
    lost_ = std::string(why.message());
    connection_.reset();
  }

  bool Ask(const std::string& word) {
    return connection_->Send({word}, [this](const RedisReply& reply) { answers_.push_back(reply.text); });
  }
  static RedisReply Text(const std::string& text) {
    RedisReply reply;
    reply.type = RedisReply::Type::kString;
    reply.text = text;
    return reply;
  }
  static RedisReply Array(const std::vector<std::string>& texts) {
    RedisReply reply;
    reply.type = RedisReply::Type::kArray;
    for (const std::string& text : texts) reply.items.push_back(Text(text));
    return reply;
  }

  FakeClock clock_;
  ManualExecutor executor_{clock_};
  std::vector<RedisWords> sent_;
  RedisStream::Events* events_ = nullptr;
  int opened_ = 0;
  std::vector<std::string> messages_;
  std::vector<std::string> answers_;
  std::string lost_;
  std::unique_ptr<RedisConnection> connection_;
};

TEST_F(RedisConnectionTest, AnswersComeInOrderAndMessagesBetweenThem) {
  events_->OnOpen();
  ASSERT_TRUE(Ask("a"));
  ASSERT_TRUE(Ask("b"));
  events_->OnReplies({Text("1"), Array({"message", "ch", "x"}), Array({"pmessage", "c*", "ch", "y"}), Text("2")});
  EXPECT_THAT(answers_, ElementsAre("1", "2"));
  EXPECT_THAT(messages_, ElementsAre("ch=x", "ch=y"));
}

TEST_F(RedisConnectionTest, NoConnectionInTime) {
  executor_.Advance(milliseconds(99));
  EXPECT_EQ(lost_, "");
  executor_.Advance(milliseconds(1));
  EXPECT_THAT(lost_, HasSubstr("no connection within 100 ms"));
}

TEST_F(RedisConnectionTest, AServerThatOwesAnAnswerAndSaysNothingIsLost) {
  events_->OnOpen();
  executor_.Advance(milliseconds(1000));
  ASSERT_TRUE(Ask("a"));
  executor_.Advance(milliseconds(49));
  EXPECT_EQ(lost_, "");
  executor_.Advance(milliseconds(1));
  EXPECT_THAT(lost_, HasSubstr("said nothing for 50 ms"));
}

TEST_F(RedisConnectionTest, AServerThatGoesOnAnsweringIsNot) {
  events_->OnOpen();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Ask("a"));
  for (int i = 0; i < 19; ++i) {
    executor_.Advance(milliseconds(40));
    events_->OnReplies({Text("1")});
  }
  EXPECT_EQ(lost_, "");
  executor_.Advance(milliseconds(101));
  EXPECT_THAT(lost_, HasSubstr("said nothing"));
}

TEST_F(RedisConnectionTest, WhatWaitsIsBounded) {
  events_->OnOpen();
  EXPECT_TRUE(Ask(std::string(2000, 'x'))) << "one is always taken";
  EXPECT_FALSE(Ask("a"));
  EXPECT_EQ(sent_.size(), 1u);
  events_->OnReplies({Text("1")});
  EXPECT_TRUE(Ask("a"));
}

// Debian's hiredis ends the process here.
TEST_F(RedisConnectionTest, AnAnswerToNoQuestionEndsTheConnectionOnly) {
  events_->OnOpen();
  events_->OnReplies({Text("OK"), Text("more")});
  EXPECT_THAT(lost_, HasSubstr("answer to no question"));
}

TEST_F(RedisConnectionTest, MayBeDestroyedByAnyCall) {
  events_->OnOpen();
  ASSERT_TRUE(connection_->Send({"a"}, [this](const RedisReply&) { connection_.reset(); }));
  events_->OnReplies({Text("1"), Text("2")});
  EXPECT_EQ(connection_, nullptr);
  SetUp();
  events_->OnOpen();
  events_->OnReplies({Array({"message", "ch", "die"}), Array({"message", "ch", "x"})});
  EXPECT_THAT(messages_, ElementsAre("ch=die"));
}

TEST_F(RedisConnectionTest, MalformedMessagesAreAnswers) {
  events_->OnOpen();
  events_->OnReplies({Array({"message", "ch"})});
  EXPECT_THAT(lost_, HasSubstr("answer to no question"));
}

// A long list on a slow link.
TEST_F(RedisConnectionTest, PartsOfAnAnswerAreSignsOfLife) {
  events_->OnOpen();
  ASSERT_TRUE(Ask("a"));
  for (int i = 0; i < 10; ++i) {
    executor_.Advance(milliseconds(40));
    ASSERT_EQ(lost_, "") << i;
    events_->OnReplies({});
  }
  executor_.Advance(milliseconds(101));
  EXPECT_THAT(lost_, HasSubstr("said nothing for 50 ms"));
}

// The clock ran on while nothing here did; the answer has been waiting.
TEST_F(RedisConnectionTest, AProcessThatWasHeldUpReadsBeforeItJudges) {
  events_->OnOpen();
  ASSERT_TRUE(Ask("a"));
  clock_.Advance(milliseconds(500));
  executor_.RunReady();
  EXPECT_EQ(lost_, "");
  events_->OnReplies({Text("1")});
  EXPECT_THAT(answers_, ElementsAre("1"));
}

}  // namespace
}  // namespace fairlead::internal
