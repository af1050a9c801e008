#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fairlead/base/asio_executor.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/registry/zookeeper/zk_backend.h"
#include "fairlead/registry/zookeeper/zk_options.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using ::testing::SizeIs;

constexpr int kProviders = 50;

// The registry that applications use, on a real server.
class ZkFailbackTest : public ::testing::Test, public NotifyListener {
 protected:
  void SetUp() override { ASSERT_EQ(server_.Start(), absl::OkStatus()); }
  void TearDown() override {
    std::promise<void> done;
    executor_->Post([&] {
      if (registry_ == nullptr) return done.set_value();
      registry_->Destroy([&](const absl::Status&) { done.set_value(); });
    });
    done.get_future().wait();
    std::promise<void> dropped;
    executor_->Post([&] {
      registry_.reset();
      dropped.set_value();
    });
    dropped.get_future().wait();
  }

  void OnExecutor(const std::function<void()>& work) {
    std::promise<void> done;
    executor_->Post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  void Create() {
    OnExecutor([this] {
      const Url url = *Url::Parse(
          "zookeeper://" + server_.address() + "?session=4000&check=false&retry.period=200", pool_);
      RegistryContext context{executor_, &RealClock(), &pool_, &logger_, 3};
      auto backend = std::make_unique<internal::ZkBackend>(*internal::ZkOptions::Parse(url), context);
      session_ = &backend->session();
      registry_ = FailbackRegistry::Create(url, std::move(backend), context);
    });
  }
  void Register(int n) {
    registry_->Register(*Url::Parse("dubbo://10.0.0." + std::to_string(n) + ":20880/a.B", pool_), nullptr);
  }

  void Notify(Notification full) override {
    const std::lock_guard lock(mutex_);
    providers_ = full.urls.size();
    changed_.notify_all();
  }
  bool AwaitProviders(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return providers_ == count; });
  }

  // Every provider's node, and whose it is.
  bool AwaitNodesOf(const std::function<std::int64_t()>& session) {
    ZkClient client(server_.address());
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < deadline) {
      const std::int64_t owner = session();
      const auto nodes = client.Children("/dubbo/a.B/providers");
      if (nodes && nodes->size() == kProviders &&
          std::all_of(nodes->begin(), nodes->end(), [&](const std::string& node) {
            return client.EphemeralOwner("/dubbo/a.B/providers/" + node) == owner;
          })) {
        return true;
      }
    }
    return false;
  }
  ZkClientId session_id() {
    ZkClientId id;
    OnExecutor([&] { id = {session_->id().id, session_->id().password}; });
    return id;
  }

  ZookeeperServer server_;
  UrlPool pool_;
  LogRecorder recorder_;
  Logger logger_{recorder_.sink(), RealClock()};
  const std::shared_ptr<Executor> executor_ = MakeThreadExecutor("failback");
  std::shared_ptr<FailbackRegistry> registry_;
  const internal::ZkSession* session_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t providers_ = 9999;
};

// A server that goes away in the middle of fifty registrations; all fifty stand in the end.
TEST_F(ZkFailbackTest, RegistrationsConvergeAcrossALostServerAndAnExpiredSession) {
  Create();
  const std::shared_ptr<NotifyListener> listener(std::shared_ptr<void>(), this);
  OnExecutor([&] {
    registry_->Subscribe(*Url::Parse("consumer://10.1.1.1/a.B?category=providers", pool_), listener, nullptr);
    for (int n = 0; n < 20; ++n) Register(n);
  });
  ASSERT_TRUE(AwaitProviders(20));
  server_.Freeze();
  OnExecutor([&] {
    for (int n = 20; n < kProviders; ++n) Register(n);
  });
  server_.Kill();
  ASSERT_EQ(server_.Start(), absl::OkStatus());
  ASSERT_TRUE(AwaitProviders(kProviders));
  const ZkClientId first = session_id();
  EXPECT_TRUE(AwaitNodesOf([&] { return first.session; }));

  ExpireSession(server_.address(), first);
  EXPECT_TRUE(AwaitNodesOf([this] { return session_id().session; }));
  EXPECT_NE(session_id().session, first.session);
  ASSERT_TRUE(AwaitProviders(kProviders));
  EXPECT_EQ(recorder_.count("FL-1-1"), 0u) << "the thirty that the lost link met are no trouble of their own";
  OnExecutor([this] { EXPECT_EQ(registry_->status().last_error, absl::OkStatus()); });
}

}  // namespace
}  // namespace fairlead
