// What the registry does to the process it lives in: threads, signals, descriptors, fork.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <vector>

#include "fairlead/registry/redis/redis_io.h"
#include "fairlead/registry/redis/redis_registry.h"
#include "fairlead/tests/registry/hand_run_backend.h"
#include "fairlead/tests/support/library_threads.h"
#include "fairlead/tests/support/redis_server.h"

namespace fairlead {
namespace {

constexpr Category kProviders = Category::kProviders;

std::vector<ThreadStatus> LibraryThreads() { return ThreadsNamed("fl-redis"); }

std::size_t Descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

class RedisProcessTest : public HandRunBackend {
 protected:
  void SetUp() override { ASSERT_EQ(server_.Start(), absl::OkStatus()); }
  void Create() {
    HandRunBackend::Create(*MakeRedisRegistryFactory(),
                           "redis://" + server_.address() + "?session=4000&reconnect.period=50");
  }

  RedisServer server_;
};

TEST_F(RedisProcessTest, TheThreadIsNamedBlocksSignalsAndEndsAndNoDescriptorStays) {
  const std::size_t before = Descriptors();
  Create();
  ASSERT_EQ(LibraryThreads().size(), 1u);
  EXPECT_TRUE(LibraryThreads().front().BlocksSignals());
  EXPECT_EQ(Put("x"), absl::OkStatus());
  Stop();
  EXPECT_TRUE(LibraryThreads().empty());
  EXPECT_EQ(Descriptors(), before);
}

// The default action ends the process, and the host's own handler must not be called for our connections either.
TEST_F(RedisProcessTest, WritingToALostServerRaisesNoSigpipe) {
  static volatile sig_atomic_t pipes = 0;
  struct sigaction action {}, old{};
  action.sa_handler = [](int) { pipes = pipes + 1; };
  sigaction(SIGPIPE, &action, &old);
  Create();
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 200; ++i) backend_->Put("a.B", kProviders, "u" + std::to_string(i), true, [](const absl::Status&) {});
    server_.Kill();
    for (int i = 0; i < 200; ++i) backend_->Put("a.B", kProviders, "u" + std::to_string(i), true, [](const absl::Status&) {});
    ASSERT_EQ(server_.Start(), absl::OkStatus());
    session_.reset();
    ASSERT_TRUE(RunUntil([this] { return session_ == Session::kNew; }));
  }
  Stop();
  EXPECT_EQ(pipes, 0);
  sigaction(SIGPIPE, &old, nullptr);
}

TEST_F(RedisProcessTest, AForkedChildFailsAndTheParentsSessionLivesOn) {
  Create();
  ExpectOnlyTheParentsWorks(false);
  EXPECT_EQ(RedisTestClient(server_.port()).Ask({"HLEN", "/dubbo/a.B/providers"}), "2");
  Stop();
}

TEST_F(RedisProcessTest, WithoutStopThreadAndConnectionsEndWithTheOwner) {
  const std::size_t before = Descriptors();
  Create();
  backend_->Put("a.B", kProviders, "x", true, [](const absl::Status&) { ADD_FAILURE() << "called after the end"; });
  backend_.reset();
  executor_->RunReady();
  EXPECT_TRUE(LibraryThreads().empty());
  EXPECT_EQ(Descriptors(), before);
}

// An executor that is held up while messages pour in: what waits for it is bounded, and nothing is lost.
TEST_F(RedisProcessTest, AFloodOfMessagesWaitsInTheSocketNotInMemory) {
  struct Counter final : internal::RedisStream::Events {
    void OnOpen() override { open = true; }
    void OnReplies(std::vector<internal::RedisReply> replies) override {
      largest = std::max(largest, replies.size());
      all += replies.size();
    }
    void OnClosed(absl::Status why) override { ADD_FAILURE() << why; }
    bool open = false;
    std::size_t largest = 0, all = 0;
  };
  constexpr std::size_t kMessages = 60000;
  Counter counter;
  const auto io = *internal::RedisIo::Start(*executor_);
  const auto stream = io->Dial({"127.0.0.1", server_.port(), server_.address()}, counter);
  stream->Send({"SUBSCRIBE", "flood"});
  ASSERT_TRUE(RunUntil([&] { return counter.all == 1; }));
  RedisTestClient(server_.port()).AskMany(std::vector<std::vector<std::string>>(kMessages, {"PUBLISH", "flood", "x"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_TRUE(RunUntil([&] { return counter.all == kMessages + 1; }));
  EXPECT_GE(counter.largest, 1000u);
  EXPECT_LT(counter.largest, internal::RedisIo::kMostWaiting + 5000);
}

TEST_F(RedisProcessTest, DestroyedWhileItConnectsOrLooksUpAName) {
  for (int round = 0; round < 20; ++round) {
    for (const std::string& host : {std::string("localhost"), std::string("127.0.0.1"), std::string("nobody.invalid")}) {
      const auto url = Url::Parse("redis://" + host + ":" + std::to_string(server_.port()), pool_);
      auto backend = *MakeRedisRegistryFactory()->Create(*url, {executor_, &RealClock(), &pool_, &logger_, 1});
      backend->Start([](Session) {});
      executor_->RunReady();
    }
  }
}

}  // namespace
}  // namespace fairlead
