#include "fairlead/registry/zookeeper/zk_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "fairlead/registry/zookeeper/zk_paths.h"
#include "fairlead/tests/registry/zookeeper/zk_probe.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"

namespace fairlead {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Session = RegistryBackend::Session;
using SteadyClock = std::chrono::steady_clock;

constexpr Category kProviders = Category::kProviders;

std::string PathOf(const std::string& url, const std::string& service = "a.B") {
  return internal::ZkUrlPath("/dubbo", service, "providers", url);
}

// A server of the test's own, to be ill-treated.
class ZkSessionTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(server_.Start(), absl::OkStatus()); }

  ZookeeperServer server_;
};

TEST_F(ZkSessionTest, SameSessionAfterServerRestart) {
  ZkProbe probe(server_.address());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own"}));
  const std::int64_t session = probe.session_id().session;

  server_.Stop();
  ASSERT_TRUE(probe.AwaitSession(Session::kSuspended));
  EXPECT_EQ(probe.Put("a.B", kProviders, "late").code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(probe.Describe(), HasSubstr("suspended"));
  ASSERT_EQ(server_.Start(), absl::OkStatus());
  ZkClient client(server_.address());
  client.Create(PathOf("p1"));
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own", "p1"}));
  EXPECT_THAT(probe.sessions(), ElementsAre(Session::kConnected, Session::kSuspended, Session::kReconnected));
  EXPECT_EQ(probe.session_id().session, session);
  EXPECT_EQ(probe.Told("a.B", kProviders).back().generation, 1u);
  EXPECT_EQ(client.EphemeralOwner(PathOf("own")), session);
}

TEST_F(ZkSessionTest, KilledServerComesBackWithTheSession) {
  ZkProbe probe(server_.address());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own"}));
  server_.Kill();
  ASSERT_TRUE(probe.AwaitSession(Session::kSuspended));
  ASSERT_EQ(server_.Start(), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitSession(Session::kReconnected));
  EXPECT_EQ(probe.Put("a.B", kProviders, "more"), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"more", "own"}));
}

TEST_F(ZkSessionTest, ExpiredSessionIsReplacedAndEverythingReadAgain) {
  ZkProbe probe(server_.address());
  probe.Watch("a.B", kProviders);
  probe.WatchConfig("dubbo", "app.tag-router");
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own"}));
  const std::int64_t session = probe.session_id().session;

  ExpireSession(server_.address(), probe.session_id());
  ASSERT_TRUE(probe.AwaitSession(Session::kNew));
  EXPECT_EQ(probe.sessions()[probe.sessions().size() - 2], Session::kExpired);
  EXPECT_NE(probe.session_id().session, session);
  // What was dynamic is gone until the caller puts it again.
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  EXPECT_EQ(probe.Told("a.B", kProviders).back().generation, 2u);
  ASSERT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own"}));
  EXPECT_EQ(ZkClient(server_.address()).EphemeralOwner(PathOf("own")), probe.session_id().session);
  // Watches live on in the new session.
  ZkClient(server_.address()).Create("/dubbo/config/dubbo/app.tag-router", "rule");
  ASSERT_TRUE(probe.AwaitConfig("dubbo", "app.tag-router", "rule"));
}

TEST_F(ZkSessionTest, ExpiryAgainAndAgain) {
  ZkProbe probe(server_.address());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  ZkClient client(server_.address());
  for (int i = 0; i < 4; ++i) {
    const std::int64_t session = probe.session_id().session;
    ExpireSession(server_.address(), probe.session_id());
    client.Delete(PathOf("p" + std::to_string(i - 1)));
    client.Create(PathOf("p" + std::to_string(i)));
    ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p" + std::to_string(i)}));
    // By the number: the new session, too, may be suspended and resumed on a busy machine.
    ASSERT_TRUE(Eventually([&] { return probe.session_id().session != session; })) << ::testing::PrintToString(probe.sessions());
  }
}

TEST_F(ZkSessionTest, FrozenServerSuspendsAndTheListIsRightAfterwards) {
  ZkProbe probe(server_.address());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  server_.Freeze();
  ASSERT_TRUE(probe.AwaitSession(Session::kSuspended));
  server_.Thaw();
  ZkClient(server_.address()).Create(PathOf("p1"));
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p1"}));
  // Whether the session outlived the freeze is the server's to say.
  EXPECT_THAT(probe.sessions().back(), AnyOf(Session::kReconnected, Session::kNew));
}

TEST_F(ZkSessionTest, WipedServerIsANewSession) {
  ZkProbe probe(server_.address());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own"}));
  server_.Stop();
  server_.Wipe();
  ASSERT_EQ(server_.Start(), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitSession(Session::kNew));
  ASSERT_TRUE(probe.AwaitMissing("a.B", kProviders));
  ASSERT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own"}));
}

// The library's own search may skip servers; a handle that found none for two sessions is replaced, and the
// session, which the server remembers across its restart, goes on.
TEST_F(ZkSessionTest, LongSearchStartsOverInTheSameSession) {
  ZkProbe probe(server_.address(), "session=1500");
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own"}));
  const std::size_t lists = probe.Told("a.B", kProviders).size();
  const std::int64_t session = probe.session_id().session;
  server_.Stop();
  ASSERT_TRUE(probe.Await([&] { return probe.log().count("FL-2-3") == 1; }));
  EXPECT_EQ(probe.sessions().back(), Session::kSuspended);
  ASSERT_EQ(server_.Start(), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitSession(Session::kReconnected));
  EXPECT_EQ(probe.session_id().session, session);
  // The watches went with the handle: everything is read again.
  ASSERT_TRUE(Eventually([&] { return probe.Told("a.B", kProviders).size() > lists; }));
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own"}));
  ZkClient client(server_.address());
  EXPECT_EQ(client.EphemeralOwner(PathOf("own")), session);
  client.Create(PathOf("p1"));
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own", "p1"}));
  EXPECT_GT(probe.Told("a.B", kProviders).size(), lists + 1);
}

TEST_F(ZkSessionTest, StopOfAFrozenServerKeepsItsDeadline) {
  ZkProbe probe(server_.address());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  server_.Freeze();
  const auto begin = SteadyClock::now();
  EXPECT_THAT(probe.Stop().code(), AnyOf(absl::StatusCode::kOk, absl::StatusCode::kDeadlineExceeded));
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::milliseconds(1900));
}

TEST_F(ZkSessionTest, StopTwiceAndInsideACallback) {
  ZkProbe probe(server_.address());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  std::atomic<bool> stopping{false};
  int told = 0;
  int done = 0;
  probe.Run([&](RegistryBackend& backend) {
    for (const std::string service : {"a.B", "c.D"}) {
      backend.Watch(service, kProviders, [&](const ChildrenAnswer&) {
        ++told;
        stopping = true;
        backend.Stop([&](const absl::Status&) { ++done; });
      });
    }
  });
  ASSERT_TRUE(probe.Await([&] { return stopping.load(); }));
  EXPECT_EQ(probe.Stop(), absl::OkStatus());
  probe.Run([&](RegistryBackend&) {
    EXPECT_EQ(told, 1);
    EXPECT_EQ(done, 1);
  });
}

TEST(ZkConnectTest, ServerThatComesLater) {
  ZookeeperServer server;
  ASSERT_EQ(server.Start(), absl::OkStatus());
  server.Stop();
  ZkProbe probe(server.address());
  probe.Watch("a.B", kProviders);
  EXPECT_EQ(probe.Put("a.B", kProviders, "x").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(probe.Read("a.B", kProviders).status.code(), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(probe.Await([&] { return probe.log().count("FL-2-4") > 0; }));
  EXPECT_THAT(probe.sessions(), IsEmpty());
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
}

TEST(ZkConnectTest, UnresolvableNameIsRetriedAndSaid) {
  ZkProbe probe("no-such-host.invalid:2181");
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.Await([&] { return probe.log().count("FL-2-1") > 0; }));
  EXPECT_EQ(probe.Put("a.B", kProviders, "x").code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(probe.sessions(), IsEmpty());
  EXPECT_THAT(probe.Describe(), HasSubstr("no-such-host.invalid"));
  const auto begin = SteadyClock::now();
  EXPECT_EQ(probe.Stop(), absl::OkStatus());
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(2));
}

TEST(ZkConnectTest, StopBeforeStartAndWhileConnecting) {
  ZkProbe never("127.0.0.1:1", "session=4000", "", false);
  EXPECT_EQ(never.Stop(), absl::OkStatus());
  ZkProbe connecting("127.0.0.1:" + std::to_string(ZookeeperServer::FreePort()));
  EXPECT_EQ(connecting.Stop(), absl::OkStatus());
}

TEST(ZkConnectTest, ManySessionsComeAndGo) {
  for (int i = 0; i < 20; ++i) {
    ZkProbe probe(SharedServer().address(), "session=4000&group=/ManySessions");
    probe.Watch("a.B", kProviders);
    if (i % 2 == 0) {
      ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
      ASSERT_EQ(probe.Put("a.B", kProviders, "x"), absl::OkStatus());
    }
  }
}

}  // namespace
}  // namespace fairlead
