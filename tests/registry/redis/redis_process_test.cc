// What the registry does to the process it lives in: threads, signals, descriptors, fork.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <optional>

#include "fairlead/base/asio_executor.h"
#include "fairlead/registry/redis/redis_io.h"
#include "fairlead/registry/redis/redis_registry.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/tests/support/redis_server.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using Session = RegistryBackend::Session;
constexpr Category kProviders = Category::kProviders;

struct ThreadStatus {
  std::string name;
  std::uint64_t blocked = 0;  // bit n - 1: signal n
};

std::vector<ThreadStatus> LibraryThreads() {
  std::vector<ThreadStatus> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "status");
    ThreadStatus thread;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("Name:\t")) thread.name = line.substr(6);
      if (line.starts_with("SigBlk:\t")) thread.blocked = std::stoull(line.substr(8), nullptr, 16);
    }
    if (thread.name.starts_with("fl-redis")) threads.push_back(thread);
  }
  return threads;
}

std::size_t Descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

// A backend whose executor the test runs by hand, so that a forked child can run it too.
class RedisProcessTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(server_.Start(), absl::OkStatus()); }
  void Create() {
    const auto url = Url::Parse("redis://" + server_.address() + "?session=4000&reconnect.period=50", pool_);
    auto made = MakeRedisRegistryFactory()->Create(*url, {executor_, &RealClock(), &pool_, &logger_, 1});
    ASSERT_EQ(made.status(), absl::OkStatus());
    backend_ = *std::move(made);
    backend_->Start([this](Session session) { session_ = session; });
    ASSERT_TRUE(RunUntil([this] { return session_ == Session::kConnected; }));
  }
  void Stop() {
    bool stopped = false;
    backend_->Stop([&](const absl::Status&) { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    backend_.reset();
    executor_->RunReady();
  }
  bool RunUntil(const std::function<bool()>& condition, int seconds = 30) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    auto last = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() < deadline) {
      const auto now = std::chrono::steady_clock::now();
      executor_->Advance(now - last);
      last = now;
      executor_->RunReady();
      if (condition()) return true;
      std::this_thread::yield();
    }
    return false;
  }
  std::optional<absl::Status> Put(const std::string& url, int seconds = 30) {
    const auto result = std::make_shared<std::optional<absl::Status>>();
    backend_->Put("a.B", kProviders, url, true, [result](absl::Status status) { *result = std::move(status); });
    RunUntil([&] { return result->has_value(); }, seconds);
    return *result;
  }

  // What the child does; 0 when all is as it should be.
  int Child() {
    if (Put("child")->code() != absl::StatusCode::kFailedPrecondition) return 1;
    std::optional<absl::Status> read, watched, stopped;
    backend_->Read("a.B", kProviders, [&](const ChildrenAnswer& answer) { read = answer.status; });
    executor_->RunReady();
    if (!read || read->code() != absl::StatusCode::kFailedPrecondition) return 2;
    backend_->Watch("a.B", kProviders, [&](const ChildrenAnswer& answer) { watched = answer.status; });
    executor_->RunReady();
    if (!watched || watched->code() != absl::StatusCode::kFailedPrecondition) return 3;
    if (backend_->Describe().find("forked") == std::string::npos) return 4;
    backend_->Stop([&](absl::Status status) { stopped = std::move(status); });
    executor_->RunReady();
    if (!stopped || stopped->code() != absl::StatusCode::kFailedPrecondition) return 5;
    backend_.reset();
    return 0;
  }

  RedisServer server_;
  FakeClock clock_;
  const std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  UrlPool pool_;
  LogRecorder recorder_;
  Logger logger_{recorder_.sink(), clock_};
  std::unique_ptr<RegistryBackend> backend_;
  std::optional<Session> session_;
};

TEST_F(RedisProcessTest, TheThreadIsNamedBlocksSignalsAndEndsAndNoDescriptorStays) {
  const std::size_t before = Descriptors();
  Create();
  ASSERT_EQ(LibraryThreads().size(), 1u);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD, SIGPIPE, SIGPROF}) {
    EXPECT_TRUE(LibraryThreads().front().blocked >> (signal - 1) & 1) << signal;
  }
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
  ASSERT_EQ(Put("before"), absl::OkStatus());
  const pid_t child = fork();
  if (child == 0) _exit(Child());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(Put("after"), absl::OkStatus());
  EXPECT_EQ(session_, Session::kConnected);
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
