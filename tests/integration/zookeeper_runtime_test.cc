// Providers and consumers through a real server that is killed, frozen and restarted under them.
#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <thread>

#include "fairlead/tests/integration/zookeeper_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kService[] = "com.acme.Orders";
constexpr char kConsumer[] = "consumer://10.9.8.7/com.acme.Orders?application=shop";

class ZookeeperRuntimeTest : public ZookeeperFixture {
 protected:
  absl::StatusOr<Registration> Register(const std::string& address, const std::string& params = "") {
    return runtime_->Register(registry(), "dubbo://" + address + "/com.acme.Orders?application=orders" +
                                              (params.empty() ? "" : "&" + params));
  }
};

TEST_F(ZookeeperRuntimeTest, AProvidersNodeIsWhatDubboWrites) {
  auto registration = Register("10.0.0.1:20880", "timestamp=5&pid=7");
  ASSERT_TRUE(registration.ok()) << registration.status();
  ZkClient look(server_->address());
  // pid is one of the parameters that Dubbo does not register.
  const std::string path = PathOf(kService, "providers",
                                  "dubbo://10.0.0.1:20880/com.acme.Orders?application=orders&interface=com.acme.Orders&timestamp=5");
  EXPECT_TRUE(look.Exists(path));
  EXPECT_NE(look.EphemeralOwner(path), 0);
  *registration = Registration();
  EXPECT_TRUE(Eventually([&] { return !look.Exists(path); }));
}

TEST_F(ZookeeperRuntimeTest, ADynamicFalseProviderIsPersistent) {
  auto registration = Register("10.0.0.1:20880", "dynamic=false");
  ASSERT_TRUE(registration.ok());
  ZkClient look(server_->address());
  const auto children = look.Children("/dubbo/com.acme.Orders/providers");
  ASSERT_TRUE(children.has_value());
  ASSERT_EQ(children->size(), 1u);
  EXPECT_EQ(look.EphemeralOwner("/dubbo/com.acme.Orders/providers/" + children->front()), 0);
}

TEST_F(ZookeeperRuntimeTest, AConsumerNodeIsRegistered) {
  const auto directory = Refer(kConsumer);
  ZkClient look(server_->address());
  EXPECT_TRUE(Eventually([&] { return look.Children("/dubbo/com.acme.Orders/consumers").value_or(std::vector<std::string>()).size() == 1; }));
}

TEST_F(ZookeeperRuntimeTest, ProvidersComeAndGo) {
  const auto directory = Refer(kConsumer);
  EXPECT_EQ(directory->Select({}).status().code(), absl::StatusCode::kUnavailable);
  auto a = Register("10.0.0.1:20880");
  EXPECT_TRUE(Eventually([&] { return Addresses(*directory) == std::set<std::string>{"10.0.0.1:20880"}; }));
  auto b = Register("10.0.0.2:20880");
  EXPECT_TRUE(Eventually([&] { return Addresses(*directory).size() == 2; }));
  *a = Registration();
  EXPECT_TRUE(Eventually([&] { return Addresses(*directory) == std::set<std::string>{"10.0.0.2:20880"}; }));
}

TEST_F(ZookeeperRuntimeTest, RuleUrlsRoute) {
  auto a = Register("10.0.0.1:20880", "region=hz"), b = Register("10.0.0.2:20880", "region=sh");
  ZkClient admin(server_->address());
  admin.Create(PathOf(kService, "routers",
                      "route://0.0.0.0/com.acme.Orders?category=routers&dynamic=false&force=true&interface=com.acme.Orders&rule=" +
                          PercentEncode("method=pay => region=sh")));
  const auto directory = Refer(kConsumer);
  EXPECT_THAT(Addresses(*directory, {.method = directory->Method("pay")}), ElementsAre("10.0.0.2:20880"))
      << "a rule that was there before is obeyed by the first pick";
  EXPECT_EQ(Addresses(*directory).size(), 2u);
}

TEST_F(ZookeeperRuntimeTest, MalformedChildrenAreSkippedNamedAndCounted) {
  auto a = Register("10.0.0.1:20880");
  ZkClient admin(server_->address());
  for (const char* bad : {"%zz", "hello", "dubbo%3A%2F%2F10.0.0.3%3Anan%2Fcom.acme.Orders%3Finterface%3Dcom.acme.Orders", "%"}) {
    admin.Create(std::string("/dubbo/com.acme.Orders/providers/") + bad);
  }
  admin.Create(std::string("/dubbo/com.acme.Orders/configurators/") + PercentEncode("override://h:nan/com.acme.Orders?x=1"));
  admin.Create(PathOf(kService, "routers", "route://0.0.0.0/com.acme.Orders?category=routers&rule=" + PercentEncode("a==b => c=d")));
  const auto directory = Refer(kConsumer);
  EXPECT_THAT(Addresses(*directory), ElementsAre("10.0.0.1:20880"));
  EXPECT_TRUE(directory->Select({}).ok());
  const PickTrace trace = directory->Explain({});
  EXPECT_THAT(trace.ToString(), HasSubstr("a==b"));
  auto b = Register("10.0.0.2:20880");
  EXPECT_TRUE(Eventually([&] { return Addresses(*directory).size() == 2; }));
}

TEST_F(ZookeeperRuntimeTest, AnUnreachableRegistryFailsAtTheDeadlineNamingAddressAndTime) {
  const std::string nobody = "zookeeper://127.0.0.1:" + std::to_string(ZookeeperServer::FreePort());
  const auto start = std::chrono::steady_clock::now();
  const auto directory = runtime_->Refer(nobody + "?timeout=600", kConsumer, protocol_);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(directory.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(directory.status().message(), HasSubstr(nobody.substr(12)));
  EXPECT_THAT(directory.status().message(), HasSubstr("600"));
  EXPECT_GE(took, milliseconds(600));
  EXPECT_LT(took, seconds(5));
}

TEST_F(ZookeeperRuntimeTest, WithCheckFalseItStartsAndHealsByItself) {
  auto a = Register("10.0.0.1:20880");
  a->Unregister();
  server_->Stop();
  auto late = runtime_->Refer(registry(), std::string(kConsumer) + "&check=false", protocol_);
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_EQ((*late)->Select({}).status().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(server_->Start().ok());
  auto b = Register("10.0.0.2:20880");
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_TRUE(Eventually([&] { return Addresses(**late) == std::set<std::string>{"10.0.0.2:20880"}; }, seconds(40)));
}

TEST_F(ZookeeperRuntimeTest, PicksGoOnWhileTheServerIsFrozenKilledAndRestarted) {
  auto other = *Runtime::Create({.extensions = DefaultExtensions(), .log = lines_.sink()});
  const std::string provider = "dubbo://10.0.0.1:20880/com.acme.Orders?application=orders&dynamic=false";
  auto a = other->Register(registry(), provider);
  ASSERT_TRUE(a.ok()) << a.status();
  const auto directory = Refer(kConsumer);
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0};
  std::atomic<long> picks{0};
  std::thread caller([&] {
    while (!stop) {
      failed += !directory->Select({}).ok();
      ++picks;
    }
  });
  server_->Freeze();
  std::promise<void>().get_future().wait_for(milliseconds(500));
  server_->Thaw();
  server_->Kill();
  ASSERT_TRUE(server_->Start().ok());
  auto b = other->Register(registry(), "dubbo://10.0.0.2:20880/com.acme.Orders?application=orders");
  EXPECT_TRUE(b.ok()) << b.status();
  EXPECT_TRUE(Eventually([&] { return Addresses(*directory).size() == 2; }, seconds(40)));
  stop = true;
  caller.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(picks, 1000);
}

TEST_F(ZookeeperRuntimeTest, ARuntimeEndsInTimeWhileItsServerIsFrozen) {
  auto other = *Runtime::Create({.extensions = DefaultExtensions(), .log = lines_.sink()});
  auto a = other->Register(registry(), "dubbo://10.0.0.1:20880/com.acme.Orders?application=orders");
  ASSERT_TRUE(a.ok()) << a.status();
  const auto directory = Refer(kConsumer);
  server_->Freeze();
  const auto began = std::chrono::steady_clock::now();
  std::promise<absl::Status> told;
  other->Shutdown(milliseconds(500), [&](absl::Status status) { told.set_value(std::move(status)); });
  auto status = told.get_future();
  ASSERT_EQ(status.wait_for(seconds(10)), std::future_status::ready);
  EXPECT_FALSE(status.get().ok()) << "nobody has confirmed that the url is gone";
  EXPECT_LT(std::chrono::steady_clock::now() - began, milliseconds(3500)) << "the deadline, and 2 s for a good-bye";
  other.reset();
  const auto without = std::chrono::steady_clock::now();
  runtime_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - without, seconds(3)) << "without Shutdown too";
  server_->Thaw();
}

TEST_F(ZookeeperRuntimeTest, WhatWasRegisteredIsBackAfterALostSession) {
  auto a = Register("10.0.0.1:20880");
  ASSERT_TRUE(a.ok());
  const auto directory = Refer(kConsumer);
  ASSERT_THAT(Addresses(*directory), ElementsAre("10.0.0.1:20880"));
  ZkClient look(server_->address());
  const auto children = *look.Children("/dubbo/com.acme.Orders/providers");
  const std::string path = "/dubbo/com.acme.Orders/providers/" + children.front();
  const std::int64_t before = look.EphemeralOwner(path);
  const auto lost_and_back = [&] {
    // Longer than the longest session the server grants. Yet a client that is heard before the server looks at its
    // clock keeps its session.
    server_->Freeze();
    std::promise<void>().get_future().wait_for(seconds(5));
    server_->Thaw();
    return Eventually([&] {
      ZkClient now(server_->address());
      const std::int64_t owner = now.EphemeralOwner(path);
      return owner != 0 && owner != before;
    }, seconds(10));
  };
  EXPECT_TRUE(lost_and_back() || lost_and_back() || lost_and_back());
  EXPECT_TRUE(Eventually([&] { return Addresses(*directory) == std::set<std::string>{"10.0.0.1:20880"}; }));
}

TEST_F(ZookeeperRuntimeTest, ADeletedTreeIsWatchedAgain) {
  auto a = Register("10.0.0.1:20880");
  const auto directory = Refer(kConsumer);
  ZkClient admin(server_->address());
  admin.Delete("/dubbo");
  admin.Create(PathOf(kService, "providers", "dubbo://10.0.0.7:20880/com.acme.Orders?interface=com.acme.Orders"));
  EXPECT_TRUE(Eventually([&] { return Addresses(*directory).count("10.0.0.7:20880") == 1; }, seconds(40)));
}

TEST_F(ZookeeperRuntimeTest, ABurstOfProvidersEndsRight) {
  const auto directory = Refer(kConsumer);
  ZkClient admin(server_->address());
  std::vector<std::string> paths;
  for (int i = 0; i < 500; ++i) {
    paths.push_back(PathOf(kService, "providers",
                           "dubbo://10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1) +
                               ":20880/com.acme.Orders?interface=com.acme.Orders"));
  }
  admin.CreateMany(paths);
  EXPECT_TRUE(Eventually([&] { return Addresses(*directory).size() == 500; }));
  EXPECT_LT(directory->Explain({}).snapshot, 20u) << "500 changes are a few updates";
}

TEST_F(ZookeeperRuntimeTest, RealProviderProcessesRestartOneAfterTheOtherUnderLoad) {
  const std::string command = std::string(FAIRLEAD_TEST_DATA) + "/examples/rolling_restart_test.sh zookeeper://" + server_->address() + " " FAIRLEAD_EXAMPLES;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace
}  // namespace fairlead
