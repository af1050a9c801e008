#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "fairlead/registry/zookeeper/zk_session.h"
#include "fairlead/registry/zookeeper/zookeeper_registry.h"
#include "fairlead/tests/registry/zookeeper/zk_probe.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/tests/support/zookeeper_server.h"

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
    if (thread.name.starts_with("fl-zk-")) threads.push_back(thread);
  }
  return threads;
}

TEST(ZkProcessTest, ThreadsAreNamedBlockSignalsAndEnd) {
  {
    ZkProbe probe(SharedServer().address(), "session=4000&group=/Threads");
    ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
    // The helper that opened the handle may still be about to end.
    ASSERT_TRUE(probe.Await([] { return LibraryThreads().size() == 2; }));
    for (const ThreadStatus& thread : LibraryThreads()) {
      for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD, SIGPIPE, SIGPROF}) {
        EXPECT_TRUE(thread.blocked >> (signal - 1) & 1) << thread.name << " " << signal;
      }
    }
    ASSERT_EQ(probe.Stop(), absl::OkStatus());
  }
  EXPECT_TRUE(LibraryThreads().empty());
}

// A backend whose executor the test runs by hand, so that a forked child can run it too.
class ZkForkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto url =
        Url::Parse("zookeeper://" + SharedServer().address() + "?session=4000&group=/Fork", pool_);
    RegistryContext context{executor_, &clock_, &pool_, &logger_, 1};
    auto made = MakeZookeeperRegistryFactory()->Create(*url, context);
    ASSERT_EQ(made.status(), absl::OkStatus());
    backend_ = *std::move(made);
    backend_->Start([this](Session session) { session_ = session; });
    ASSERT_TRUE(RunUntil([this] { return session_ == Session::kConnected; }));
  }
  void TearDown() override {
    bool stopped = false;
    backend_->Stop([&](const absl::Status&) { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    backend_.reset();
    executor_->RunReady();
  }

  bool RunUntil(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < deadline) {
      executor_->RunReady();
      if (condition()) return true;
      std::this_thread::yield();
    }
    return false;
  }

  std::optional<absl::Status> Put(const std::string& url) {
    std::optional<absl::Status> result;
    backend_->Put("a.B", kProviders, url, true, [&](absl::Status status) { result = std::move(status); });
    RunUntil([&] { return result.has_value(); });
    return result;
  }

  // What the child does; 0 when all is as it should be.
  int Child() {
    if (Put("child") == std::nullopt || Put("child")->code() != absl::StatusCode::kFailedPrecondition)
      return 1;
    std::optional<absl::Status> read;
    backend_->Read("a.B", kProviders, [&](const ChildrenAnswer& answer) { read = answer.status; });
    executor_->RunReady();
    if (!read || read->code() != absl::StatusCode::kFailedPrecondition) return 2;
    std::optional<absl::Status> watched;
    backend_->Watch("a.B", kProviders, [&](const ChildrenAnswer& answer) { watched = answer.status; });
    executor_->RunReady();
    if (!watched || watched->code() != absl::StatusCode::kFailedPrecondition) return 3;
    std::optional<absl::Status> mapped;
    backend_->ReadMapping("a.B", [&](const absl::StatusOr<std::string>& answer) { mapped = answer.status(); });
    executor_->RunReady();
    if (!mapped || mapped->code() != absl::StatusCode::kFailedPrecondition) return 6;
    if (backend_->Describe().find("forked") == std::string::npos) return 4;
    std::optional<absl::Status> stopped;
    backend_->Stop([&](absl::Status status) { stopped = std::move(status); });
    executor_->RunReady();
    if (!stopped || stopped->code() != absl::StatusCode::kFailedPrecondition) return 5;
    backend_.reset();
    return 0;
  }

  FakeClock clock_;
  const std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  UrlPool pool_;
  LogRecorder recorder_;
  Logger logger_{recorder_.sink(), clock_};
  std::unique_ptr<RegistryBackend> backend_;
  std::optional<Session> session_;
};

TEST_F(ZkForkTest, ChildFailsAndTheParentsSessionLivesOn) {
  ASSERT_EQ(Put("before"), absl::OkStatus());
  const pid_t child = fork();
  if (child == 0) _exit(Child());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(Put("after"), absl::OkStatus());
  EXPECT_EQ(session_, Session::kConnected);
  EXPECT_EQ(ZkClient(SharedServer().address()).Children("/Fork/a.B/providers")->size(), 2u);
}

// Destroyed without Stop, as by a host that drops everything: the session still ends.
TEST(ZkAbandonTest, SessionEndsWithItsOwner) {
  FakeClock clock;
  auto executor = std::make_shared<ManualExecutor>(clock);
  UrlPool pool;
  LogRecorder recorder;
  Logger logger(recorder.sink(), clock);
  const auto url =
      Url::Parse("zookeeper://" + SharedServer().address() + "?session=4000&group=/Abandon", pool);
  auto backend = *MakeZookeeperRegistryFactory()->Create(*url, {executor, &clock, &pool, &logger, 1});
  bool put = false;
  backend->Start([&](Session) {
    backend->Put("a.B", kProviders, "x", true, [&](const absl::Status& status) { put = status.ok(); });
  });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!put && std::chrono::steady_clock::now() < deadline) executor->RunReady();
  ASSERT_TRUE(put);
  backend.reset();
  executor.reset();
  ZkClient client(SharedServer().address());
  while (!client.Children("/Abandon/a.B/providers")->empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(client.Children("/Abandon/a.B/providers")->empty());
  while (!LibraryThreads().empty() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
}

}  // namespace
}  // namespace fairlead
