// Which servers a client finds, and what it does about those that are dead, silent or hang.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <string>

#include "fairlead/registry/zookeeper/zk_paths.h"
#include "fairlead/registry/zookeeper/zookeeper_registry.h"
#include "fairlead/tests/registry/zookeeper/zk_probe.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Session = RegistryBackend::Session;
using SteadyClock = std::chrono::steady_clock;

constexpr Category kProviders = Category::kProviders;

// Takes connections and never says a word, as a server that hangs or a firewall that forgot the way back.
class SilentServer {
 public:
  SilentServer() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_TRUE(fd_ >= 0 && bind(fd_, any, size) == 0 && listen(fd_, 64) == 0 && getsockname(fd_, any, &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  ~SilentServer() { close(fd_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

bool Serves(const ZookeeperServer& server, ZkProbe& probe) {
  std::ostringstream session;
  session << "0x" << std::hex << probe.session_id().session;
  return server.Ask("cons").find(session.str()) != std::string::npos;
}

TEST(ZkServersTest, OneGoodServerAmongBadOnes) {
  const std::string dead = "127.0.0.1:" + std::to_string(ZookeeperServer::FreePort());
  ZkProbe probe(dead, "session=4000&group=/OneGoodServer&backup=no-such-host.invalid:2181," + SharedServer().address());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  EXPECT_EQ(probe.Put("a.B", kProviders, "x"), absl::OkStatus());
}

// Two servers that know nothing of each other: what the second one has is all that is true after the first one's death.
TEST(ZkServersTest, WhenTheServerDiesTheBackupServes) {
  ZookeeperServer servers[2];
  for (ZookeeperServer& server : servers) ASSERT_EQ(server.Start(), absl::OkStatus());
  ZkProbe probe(servers[0].address(), "session=4000&backup=" + servers[1].address());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  const bool first = Serves(servers[0], probe);
  ZookeeperServer& chosen = servers[first ? 0 : 1];
  ZookeeperServer& other = servers[first ? 1 : 0];
  ASSERT_TRUE(Serves(chosen, probe));
  ZkClient(other.address()).Create("/dubbo/a.B/providers/p1");
  chosen.Kill();
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p1"}));
  ASSERT_TRUE(probe.AwaitSession(Session::kNew));
  EXPECT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own", "p1"}));
  EXPECT_TRUE(Serves(other, probe));
}

TEST(ZkServersTest, ASilentServerIsLeftForAGoodOne) {
  SilentServer silent[2];
  ZkProbe probe(silent[0].address(), "session=1000&group=/Silent&backup=" + silent[1].address() + "," + SharedServer().address());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  EXPECT_EQ(probe.Put("a.B", kProviders, "x"), absl::OkStatus());
}

TEST(ZkServersTest, AClientThatOnlyFindsSilenceStartsOverSaysSoAndStopsInTime) {
  SilentServer silent;
  ZkProbe probe(silent.address(), "session=600");
  ASSERT_TRUE(Eventually([&] { return probe.log().count("FL-2-3") > 0; }));
  EXPECT_THAT(probe.sessions(), IsEmpty());
  EXPECT_EQ(probe.Put("a.B", kProviders, "x").code(), absl::StatusCode::kUnavailable);
  const auto begin = SteadyClock::now();
  EXPECT_THAT(probe.Stop().code(), AnyOf(absl::StatusCode::kOk, absl::StatusCode::kDeadlineExceeded));
  EXPECT_LT(SteadyClock::now() - begin, milliseconds(1900));
}

TEST(ZkServersTest, AServerThatLostItsDataIsJoinedSoonWhateverTheSession) {
  ZookeeperServer server;
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ZkProbe probe(server.address(), "session=60000");
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  ASSERT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  server.Kill();
  server.Wipe();
  ASSERT_EQ(server.Start(), absl::OkStatus());
  // Its first client: the server is at an earlier change than the probe has seen.
  ASSERT_TRUE(Eventually([&] { return probe.sessions().back() == Session::kNew; }, std::chrono::seconds(30)));
}

TEST(ZkServersTest, AServerThatHangsIsNoticedItsHandleReplacedAndTheListRightAfterwards) {
  ZookeeperServer server;
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ZkProbe probe(server.address(), "session=1000");
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  ASSERT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  server.Freeze();
  ASSERT_TRUE(probe.AwaitSession(Session::kSuspended));
  ASSERT_TRUE(Eventually([&] { return probe.log().count("FL-2-3") > 0; }));
  EXPECT_EQ(probe.sessions().back(), Session::kSuspended) << "what is known stays in use";
  server.Thaw();
  ZkClient(server.address()).Create("/dubbo/a.B/providers/p1");
  // Whether the thawed server first ends the session or first hears that its client is back is its own race.
  const auto back = [&] {
    const Session last = probe.sessions().back();
    return last == Session::kNew || last == Session::kReconnected;
  };
  ASSERT_TRUE(Eventually(back, std::chrono::seconds(30)));
  ASSERT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"own", "p1"}));
}

TEST(ZkServersTest, IPv6) {
  if (ZookeeperServer::FreePort(true) == 0) GTEST_SKIP() << "no IPv6 on this machine";
  ZookeeperServer server;
  server.set_ipv6(true);
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ASSERT_THAT(server.address(), HasSubstr("[::1]:"));
  ZkProbe main(server.address());
  ASSERT_TRUE(main.AwaitSession(Session::kConnected));
  EXPECT_EQ(main.Put("a.B", kProviders, "x"), absl::OkStatus());
  EXPECT_THAT(main.Describe(), HasSubstr(server.address()));
  ZkProbe backup("127.0.0.1:" + std::to_string(ZookeeperServer::FreePort()), "session=4000&backup=" + server.address());
  ASSERT_TRUE(backup.AwaitSession(Session::kConnected));
  EXPECT_THAT(backup.Read("a.B", kProviders).children, ElementsAre("x"));
}

TEST(ZkServersTest, AGroupOfSeveralPartsIsARootBelowOthersAsUnderAChroot) {
  const std::string address = SharedServer().address();
  ZkProbe probe(address,
                "session=4000&group=chroot/dubbo&dubbo.config-center.root-path=/chroot/dubbo/config");
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, "x"), absl::OkStatus());
  ZkClient client(address);
  EXPECT_TRUE(client.Exists("/chroot/dubbo/a.B/providers/x"));
  client.Create("/chroot/dubbo/config/dubbo/app.tag-router", "rule");
  probe.WatchServices();
  probe.WatchConfig("dubbo", "app.tag-router");
  EXPECT_TRUE(probe.AwaitServices({"a.B"}));
  EXPECT_TRUE(probe.AwaitConfig("dubbo", "app.tag-router", "rule"));
}

TEST(ZkServersTest, APathOfTheUrlThatMayBeMeantForAChrootIsWarnedOf) {
  UrlPool pool;
  const LogRecorder recorder;
  Logger logger(recorder.sink(), RealClock());
  const auto executor = MakeThreadExecutor("chroot");
  const auto warned = [&](const char* text) {
    const std::size_t before = recorder.count("FL-2-9");
    const auto url = Url::Parse(text, pool);
    EXPECT_TRUE(MakeZookeeperRegistryFactory()->Create(*url, {executor, &RealClock(), &pool, &logger, 1}).ok());
    return recorder.count("FL-2-9") > before;
  };
  EXPECT_FALSE(warned("zookeeper://h1:1"));
  EXPECT_FALSE(warned("zookeeper://h2:1/org.apache.dubbo.registry.RegistryService?group=g"));
  EXPECT_FALSE(warned("zookeeper://h2:1/com.alibaba.dubbo.registry.RegistryService"));
  EXPECT_TRUE(warned("zookeeper://u:secret@h3:1/chroot?group=g"));
  EXPECT_THAT(recorder.lines().back().text, HasSubstr("group=/chroot/g"));
  executor->Stop();
}

// An unreachable server makes the library write a hundred lines a second.
TEST(ZkServersTest, TheLibrarysLinesComeThroughTheHookLimitedAndNotToStandardError) {
  ::testing::internal::CaptureStderr();
  std::size_t lines = 0;
  {
    ZkProbe refused("127.0.0.1:" + std::to_string(ZookeeperServer::FreePort()), "session=600");
    ZkProbe unresolvable("no-such-host.invalid:2181");
    EXPECT_TRUE(Eventually([&] { return refused.log().count("FL-2-3") > 0; }));  // two sessions of refusals
    EXPECT_TRUE(Eventually([&] { return unresolvable.log().count("FL-2-1") > 0; }));
    EXPECT_THAT(refused.Describe(), HasSubstr("refused"));
    lines = refused.log().count("FL-2-4");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_GE(lines, 1u);
  EXPECT_LE(lines, 2u) << "one a minute";
}

}  // namespace
}  // namespace fairlead
