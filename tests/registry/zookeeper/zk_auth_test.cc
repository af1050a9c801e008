#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "fairlead/registry/zookeeper/zk_paths.h"
#include "fairlead/tests/registry/zookeeper/zk_probe.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"

namespace fairlead {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Session = RegistryBackend::Session;
using SteadyClock = std::chrono::steady_clock;

constexpr Category kProviders = Category::kProviders;
constexpr std::string_view kUrl = "dubbo://u:hidden@10.0.0.1:20880/a.B";

class ZkAuthTest : public ::testing::Test {
 protected:
  std::string root() const {
    return std::string("/") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  std::string parameters() const { return "session=4000&group=" + root(); }

  // Neither the user's password, right or wrong, nor that of a registered url.
  static void ExpectNoSecrets(ZkProbe& probe) {
    for (const char* secret : {"secret", "guess", "hidden"}) {
      for (const LogRecorder::Line& line : probe.log().lines()) {
        EXPECT_THAT(line.text + line.subject, Not(HasSubstr(secret)));
      }
      EXPECT_THAT(probe.Describe(), Not(HasSubstr(secret)));
      for (const ChildrenAnswer& answer : probe.Told("a.B", kProviders)) {
        EXPECT_THAT(answer.status.ToString(), Not(HasSubstr(secret)));
      }
    }
  }

  const std::string address_ = SharedServer().address();
};

TEST_F(ZkAuthTest, DigestOwnsWhatItCreates) {
  ZkProbe owner(address_, parameters(), "alice:secret");
  ASSERT_TRUE(owner.AwaitSession(Session::kConnected));
  ASSERT_EQ(owner.Put("a.B", kProviders, kUrl), absl::OkStatus());
  ASSERT_EQ(owner.Put("a.B", Category::kConfigurators, "override://0.0.0.0/a.B?timeout=1", false), absl::OkStatus());
  ZkClient look(address_, "alice:secret");
  for (const std::string& path :
       {root(), root() + "/a.B/providers", internal::ZkUrlPath(root(), "a.B", "providers", kUrl),
        internal::ZkUrlPath(root(), "a.B", "configurators", "override://0.0.0.0/a.B?timeout=1")}) {
    EXPECT_THAT(look.Acl(path), HasSubstr("digest:alice:")) << path;
    EXPECT_THAT(look.Acl(path), HasSubstr(":31")) << path;
    EXPECT_THAT(look.Acl(path), Not(HasSubstr("world"))) << path;
  }
  EXPECT_THAT(owner.Read("a.B", kProviders).children.size(), 1u);
  ExpectNoSecrets(owner);
}

TEST_F(ZkAuthTest, WithOtherOrNoCredentialsNothingIsReadAndTheReasonSaid) {
  ZkProbe owner(address_, parameters(), "alice:secret");
  ASSERT_TRUE(owner.AwaitSession(Session::kConnected));
  ASSERT_EQ(owner.Put("a.B", kProviders, kUrl), absl::OkStatus());
  for (const char* credentials : {"", "alice:guess", "bob:secret"}) {
    ZkProbe stranger(address_, parameters(), credentials);
    ASSERT_TRUE(stranger.AwaitSession(Session::kConnected));
    const absl::Status refused = stranger.Put("a.B", kProviders, kUrl);
    EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied) << credentials;
    EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("hidden")));
    const absl::Status unread = stranger.Read("a.B", kProviders).status;
    EXPECT_EQ(unread.code(), absl::StatusCode::kPermissionDenied) << credentials;
    EXPECT_THAT(std::string(unread.message()), HasSubstr("user and password of the registry url"));
    stranger.Watch("a.B", kProviders);
    ASSERT_TRUE(stranger.AwaitFailure("a.B", kProviders, absl::StatusCode::kPermissionDenied));
    ExpectNoSecrets(stranger);
  }
}

TEST_F(ZkAuthTest, ARefusedWatchIsTriedWithBackOffAndSeesTheListOnceItMay) {
  ZkProbe owner(address_, parameters(), "alice:secret");
  ASSERT_TRUE(owner.AwaitSession(Session::kConnected));
  ASSERT_EQ(owner.Put("a.B", kProviders, kUrl), absl::OkStatus());
  ZkProbe stranger(address_, parameters());
  const auto begin = SteadyClock::now();
  stranger.Watch("a.B", kProviders);
  ASSERT_TRUE(Eventually([&] { return stranger.Told("a.B", kProviders).size() >= 4; }));
  EXPECT_GE(SteadyClock::now() - begin, std::chrono::milliseconds(300)) << "at least 100 ms lie between two tries";
  ASSERT_EQ(owner.Stop(), absl::OkStatus());
  ZkClient(address_, "alice:secret").Delete(root());
  ZkClient(address_).Create(root() + "/a.B/providers/p1");
  ASSERT_TRUE(stranger.AwaitList("a.B", kProviders, {"p1"}));
  ZkClient(address_).Create(root() + "/a.B/providers/p2");
  ASSERT_TRUE(stranger.AwaitList("a.B", kProviders, {"p1", "p2"}));
}

// The server has no such scheme and says AUTH_FAILED, after which the library's handle is of no use any more.
TEST(ZkAuthFailedTest, RefusedCredentialsAreSaidAndTriedAgainWithBackOff) {
  ZookeeperServer server;
  server.set_java_options({"-Dzookeeper.DigestAuthenticationProvider.enabled=false"});
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ZkProbe probe(server.address(), "session=4000", "alice:secret");
  probe.Watch("a.B", kProviders);
  const auto begin = SteadyClock::now();
  ASSERT_TRUE(probe.Await([&] { return probe.log().count("FL-2-2") > 0; }));
  EXPECT_TRUE(Eventually([&] { return probe.Describe().find("refuses user and password") != std::string::npos; }));
  EXPECT_TRUE(Eventually([&] {
    const auto sessions = probe.sessions();
    return std::count(sessions.begin(), sessions.end(), Session::kExpired) >= 4;
  }));
  EXPECT_GE(SteadyClock::now() - begin, std::chrono::milliseconds(300)) << "three waits of 0.25, 0.5 and 1 s on average";
  server.Stop();
  server.set_java_options({});
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  EXPECT_THAT(probe.Describe(), Not(HasSubstr("refuses")));
  EXPECT_THAT(ZkClient(server.address(), "alice:secret").Acl("/dubbo/a.B/providers"), HasSubstr("digest:alice:"));
  for (const LogRecorder::Line& line : probe.log().lines()) {
    EXPECT_THAT(line.text + line.subject, Not(HasSubstr("secret")));
  }
}

}  // namespace
}  // namespace fairlead
