#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "fairlead/registry/zookeeper/zookeeper_registry.h"
#include "fairlead/tests/registry/hand_run_backend.h"
#include "fairlead/tests/registry/zookeeper/zk_probe.h"
#include "fairlead/tests/support/library_threads.h"
#include "fairlead/tests/support/zookeeper_server.h"

namespace fairlead {
namespace {

using Session = RegistryBackend::Session;

constexpr Category kProviders = Category::kProviders;

std::vector<ThreadStatus> LibraryThreads() { return ThreadsNamed("fl-zk-"); }

TEST(ZkProcessTest, ThreadsAreNamedBlockSignalsAndEnd) {
  {
    ZkProbe probe(SharedServer().address(), "session=4000&group=/Threads");
    ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
    // The helper that opened the handle may still be about to end.
    ASSERT_TRUE(probe.Await([] { return LibraryThreads().size() == 2; }));
    for (const ThreadStatus& thread : LibraryThreads()) EXPECT_TRUE(thread.BlocksSignals()) << thread.name;
    ASSERT_EQ(probe.Stop(), absl::OkStatus());
  }
  EXPECT_TRUE(LibraryThreads().empty());
}

using ZkForkTest = HandRunBackend;

TEST_F(ZkForkTest, ChildFailsAndTheParentsSessionLivesOn) {
  Create(*MakeZookeeperRegistryFactory(), "zookeeper://" + SharedServer().address() + "?session=4000&group=/Fork");
  ExpectOnlyTheParentsWorks(true);
  EXPECT_EQ(ZkClient(SharedServer().address()).Children("/Fork/a.B/providers")->size(), 2u);
  Stop();
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
