// What a server refuses by ending the connection: packets above its jute.maxbuffer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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
using Session = RegistryBackend::Session;

constexpr Category kProviders = Category::kProviders;
constexpr std::string_view kUrl = "dubbo://10.0.0.1:20880/a.B?application=x&version=1.0.0";

std::string UrlOfBytes(std::size_t bytes) {
  std::string url = std::string(kUrl) + "&filler=";
  return url + std::string(bytes - url.size(), 'x');
}

// The library repeats all watches in one packet after a reconnect. A server that refuses it would end every connection
// as soon as it stands.
void ExpectWatchesSurviveARestart(ZookeeperServer& server, int watches) {
  const std::string filler(80, 'x');
  ZkProbe probe(server.address());
  probe.Run([&](RegistryBackend& backend) {
    for (int i = 0; i < watches; ++i) {
      backend.WatchConfig("dubbo", "watched-" + filler + std::to_string(i),
                          [](const absl::StatusOr<std::optional<std::string>>&) {});
    }
  });
  const std::string last = "watched-" + filler + "last";
  probe.WatchConfig("dubbo", last);
  ASSERT_TRUE(probe.AwaitConfig("dubbo", last, std::nullopt));
  EXPECT_THAT(probe.Describe(), HasSubstr(std::to_string(watches + 1) + " watches"));
  ASSERT_EQ(server.Restart(), absl::OkStatus());
  ZkClient client(server.address());
  client.Create("/dubbo/config/dubbo/" + last, "rule");
  ASSERT_TRUE(probe.AwaitConfig("dubbo", last, "rule"));
  EXPECT_THAT(probe.sessions().back(), AnyOf(Session::kReconnected, Session::kNew));
  EXPECT_LE(probe.sessions().size(), 7u);
  client.Set("/dubbo/config/dubbo/" + last, "rule 2");
  ASSERT_TRUE(probe.AwaitConfig("dubbo", last, "rule 2"));
}

TEST(ZkLimitsTest, TwelveThousandWatchesSurviveAReconnect) {
  ZookeeperServer server;
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ExpectWatchesSurviveARestart(server, 12000);
}

TEST(ZkLimitsTest, WatchesAboveALowerLimitOfTheServerSurviveAReconnect) {
  ZookeeperServer server;
  server.set_java_options({"-Djute.maxbuffer=100000"});
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ExpectWatchesSurviveARestart(server, 2000);
}

TEST(ZkLimitsTest, AUrlAboveTheLimitIsRefusedNamingItAndHarmsNothing) {
  ZkProbe probe(SharedServer().address(), "session=4000&group=/TooLong");
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  const absl::Status status = probe.Put("a.B", kProviders, UrlOfBytes(600000));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("500000 bytes"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("jute.maxbuffer"));
  EXPECT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  EXPECT_THAT(probe.sessions(), ElementsAre(Session::kConnected));
}

// Replacing says the path twice, in one packet.
TEST(ZkLimitsTest, TheLongestUrlCanBeCreatedAndReplaced) {
  const std::string url = UrlOfBytes(499000);
  ZkProbe first(SharedServer().address(), "session=4000&group=/Longest");
  ZkProbe second(SharedServer().address(), "session=4000&group=/Longest");
  ASSERT_TRUE(first.AwaitSession(Session::kConnected));
  ASSERT_TRUE(second.AwaitSession(Session::kConnected));
  EXPECT_EQ(first.Put("a.B", kProviders, url), absl::OkStatus());
  EXPECT_EQ(second.Put("a.B", kProviders, url), absl::OkStatus());
  EXPECT_EQ(ZkClient(SharedServer().address()).EphemeralOwner(internal::ZkUrlPath("/Longest", "a.B", "providers", url)),
            second.session_id().session);
  EXPECT_THAT(second.sessions(), ElementsAre(Session::kConnected));
}

TEST(ZkLimitsTest, AUrlAboveALowerLimitOfTheServerEndsTwoConnectionsAndNoMore) {
  ZookeeperServer server;
  server.set_java_options({"-Djute.maxbuffer=100000"});
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ZkProbe probe(server.address());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  const std::int64_t session = probe.session_id().session;
  for (std::size_t connections = 1; connections <= 2; ++connections) {
    EXPECT_EQ(probe.Put("a.B", kProviders, UrlOfBytes(200000)).code(), absl::StatusCode::kUnavailable);
    ASSERT_TRUE(Eventually([&] {
      return probe.sessions().size() == 1 + 2 * connections && probe.sessions().back() == Session::kReconnected;
    }));
  }
  const absl::Status refused = probe.Put("a.B", kProviders, UrlOfBytes(200000));
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("jute.maxbuffer"));
  EXPECT_EQ(probe.log().count("FL-2-8"), 1u);
  EXPECT_EQ(probe.Put("a.B", kProviders, "dubbo://10.0.0.2:20880/a.B"), absl::OkStatus());
  EXPECT_EQ(probe.sessions().size(), 5u);
  EXPECT_EQ(probe.session_id().session, session);
}

}  // namespace
}  // namespace fairlead
