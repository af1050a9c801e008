// Ephemeral nodes of ours that go missing, and writes of which nobody knows how they ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fairlead/registry/zookeeper/zk_paths.h"
#include "fairlead/tests/registry/zookeeper/zk_probe.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"

namespace fairlead {
namespace {

using ::testing::HasSubstr;
using Session = RegistryBackend::Session;

constexpr Category kProviders = Category::kProviders;
constexpr std::string_view kUrl = "dubbo://10.0.0.1:20880/a.B?application=x";

std::string PathOf(const std::string& root, std::string_view url, std::string_view service = "a.B") {
  return internal::ZkUrlPath(root, service, "providers", url);
}

TEST(ZkRestoreTest, RestoringThatIsRefusedIsTriedAgainAndSaid) {
  const std::string address = SharedServer().address();
  ZkProbe probe(address, "session=4000&group=/Refused");
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  ZkClient(address).Delete("/Refused");
  ZkClient owner(address, "alice:secret");
  owner.Create("/Refused");
  ASSERT_TRUE(Eventually([&] { return probe.log().count("FL-2-5") == 1; }));
  EXPECT_THAT(probe.log().lines().back().text, HasSubstr("not restored yet"));
  EXPECT_FALSE(owner.Exists("/Refused/a.B"));
  owner.Delete("/Refused");
  EXPECT_TRUE(Eventually([&] {
    return ZkClient(address).EphemeralOwner(PathOf("/Refused", kUrl)) == probe.session_id().session;
  }));
}

// The request is on its way when the connection ends: mostly the node comes to stand, but nobody has heard of it.
TEST(ZkRestoreTest, APutOfUnknownOutcomeSucceedsWhenRepeated) {
  ZookeeperServer server;
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ZkProbe probe(server.address());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, "dubbo://10.0.0.2:20880/a.B"), absl::OkStatus());
  server.Freeze();
  EXPECT_EQ(probe.Put("a.B", kProviders, kUrl).code(), absl::StatusCode::kUnavailable);
  server.Thaw();
  ASSERT_TRUE(Eventually([&] { return probe.sessions().size() >= 3; }));
  if (probe.sessions().back() != Session::kReconnected) GTEST_SKIP() << "too slow: the session did not outlive the freeze";
  ZkClient look(server.address());
  const std::int64_t session = probe.session_id().session;
  EXPECT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  EXPECT_EQ(look.EphemeralOwner(PathOf("/dubbo", kUrl)), session);
  // From now on it is looked after as any other.
  look.Delete(PathOf("/dubbo", kUrl));
  EXPECT_TRUE(Eventually([&] { return look.EphemeralOwner(PathOf("/dubbo", kUrl)) == session; }));
}

TEST(ZkRestoreTest, ATreeDeletedUnderManyServicesComesBack) {
  constexpr int kServices = 40;
  const std::string address = SharedServer().address();
  ZkProbe probe(address, "session=4000&group=/Many");
  ZkProbe watcher(address, "session=4000&group=/Many");
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  const auto service = [](int n) { return "s" + std::to_string(n) + ".B"; };
  for (int n = 0; n < kServices; ++n) {
    ASSERT_EQ(probe.Put(service(n), kProviders, kUrl), absl::OkStatus());
    watcher.Watch(service(n), kProviders);
  }
  for (int n = 0; n < kServices; ++n) {
    ASSERT_TRUE(watcher.AwaitList(service(n), kProviders, {std::string(kUrl)}));
  }
  ZkClient(address).Delete("/Many");
  for (int n = 0; n < kServices; ++n) {
    ASSERT_TRUE(Eventually([&] {
      const auto told = watcher.Told(service(n), kProviders);
      return std::any_of(told.begin(), told.end(), [](const ChildrenAnswer& answer) { return answer.missing; });
    }));
    ASSERT_TRUE(watcher.AwaitList(service(n), kProviders, {std::string(kUrl)}));
    EXPECT_EQ(ZkClient(address).EphemeralOwner(PathOf("/Many", kUrl, service(n))), probe.session_id().session);
  }
}

}  // namespace
}  // namespace fairlead
