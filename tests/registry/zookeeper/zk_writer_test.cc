#include "fairlead/registry/zookeeper/zk_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "fairlead/registry/zookeeper/zk_paths.h"
#include "fairlead/tests/registry/zookeeper/zk_probe.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using Session = RegistryBackend::Session;

constexpr Category kProviders = Category::kProviders;
constexpr std::string_view kUrl = "dubbo://10.0.0.1:20880/a.B?application=x&version=1.0.0";
constexpr std::string_view kOther = "dubbo://10.0.0.2:20880/a.B";

class ZkWriterTest : public ::testing::Test {
 protected:
  std::string root() const {
    return std::string("/") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  std::string parameters() const { return "session=4000&group=" + root(); }
  std::string PathOf(std::string_view url, std::string_view category = "providers") const {
    return internal::ZkUrlPath(root(), "a.B", category, url);
  }

  const std::string address_ = SharedServer().address();
  ZkClient client_{address_};
};

TEST_F(ZkWriterTest, PutStoresAsDubboDoes) {
  ZkProbe probe(address_, parameters());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  const std::string path =
      root() + "/a.B/providers/dubbo%3A%2F%2F10.0.0.1%3A20880%2Fa.B%3Fapplication%3Dx%26version%3D1.0.0";
  EXPECT_EQ(client_.EphemeralOwner(path), probe.session_id().session);
  EXPECT_THAT(client_.Get(path), Optional(std::string()));
  EXPECT_EQ(client_.Acl(path), "world:anyone:31");
  EXPECT_EQ(client_.EphemeralOwner(root() + "/a.B/providers"), 0);

  ASSERT_EQ(probe.Put("a.B", Category::kConfigurators, "override://0.0.0.0/a.B?timeout=1", false),
            absl::OkStatus());
  const std::string rule = PathOf("override://0.0.0.0/a.B?timeout=1", "configurators");
  EXPECT_TRUE(client_.Exists(rule));
  EXPECT_EQ(client_.EphemeralOwner(rule), 0);

  EXPECT_EQ(probe.Stop(), absl::OkStatus());
  EXPECT_FALSE(client_.Exists(path));
  EXPECT_TRUE(client_.Exists(rule));
}

TEST_F(ZkWriterTest, PutAgainAndRemoveAgainAreFine) {
  ZkProbe probe(address_, parameters());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  EXPECT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  EXPECT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  EXPECT_EQ(client_.EphemeralOwner(PathOf(kUrl)), probe.session_id().session);
  EXPECT_EQ(probe.Remove("a.B", kProviders, kUrl), absl::OkStatus());
  EXPECT_FALSE(client_.Exists(PathOf(kUrl)));
  EXPECT_EQ(probe.Remove("a.B", kProviders, kUrl), absl::OkStatus());
  EXPECT_EQ(probe.Remove("never.Seen", kProviders, kUrl), absl::OkStatus());
}

// The node of a session that died silently is still there when its process comes back; taken for ours, it
// would vanish for good with the old session.
TEST_F(ZkWriterTest, ForeignEphemeralIsReplacedAndNeverMissing) {
  ZkClient dead(address_);
  dead.Create(PathOf(kUrl), "", true);
  ZkProbe watcher(address_, parameters() + "&delay-notification=0");
  watcher.Watch("a.B", kProviders);
  ASSERT_TRUE(watcher.AwaitList("a.B", kProviders, {std::string(kUrl)}));

  ZkProbe probe(address_, parameters());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  EXPECT_EQ(client_.EphemeralOwner(PathOf(kUrl)), probe.session_id().session);
  ExpireSession(address_, dead.id());
  EXPECT_EQ(client_.EphemeralOwner(PathOf(kUrl)), probe.session_id().session);

  client_.Create(PathOf(kOther));
  ASSERT_TRUE(watcher.AwaitList("a.B", kProviders, {std::string(kUrl), std::string(kOther)}));
  for (const ChildrenAnswer& answer : watcher.Told("a.B", kProviders))
    EXPECT_THAT(answer.children, Not(IsEmpty()));
}

TEST_F(ZkWriterTest, NodeOfTheOtherKindIsReplaced) {
  client_.Create(PathOf(kUrl));
  client_.Create(PathOf(kOther), "", true);
  ZkProbe probe(address_, parameters());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  EXPECT_EQ(probe.Put("a.B", kProviders, kUrl, true), absl::OkStatus());
  EXPECT_EQ(client_.EphemeralOwner(PathOf(kUrl)), probe.session_id().session);
  EXPECT_EQ(probe.Put("a.B", kProviders, kOther, false), absl::OkStatus());
  EXPECT_TRUE(client_.Exists(PathOf(kOther)));
  EXPECT_EQ(client_.EphemeralOwner(PathOf(kOther)), 0);
  EXPECT_EQ(probe.Put("a.B", kProviders, kOther, false), absl::OkStatus());
}

TEST_F(ZkWriterTest, NodeWithChildrenIsAnError) {
  client_.Create(PathOf(kUrl) + "/child");
  ZkProbe probe(address_, parameters());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  EXPECT_EQ(probe.Put("a.B", kProviders, kUrl).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(probe.Remove("a.B", kProviders, kUrl).code(), absl::StatusCode::kFailedPrecondition);
}

// Dubbo remembers the parents it made and never makes them again.
TEST_F(ZkWriterTest, DeletedParentsAreMadeAgain) {
  ZkProbe probe(address_, parameters());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  client_.Delete(root());
  EXPECT_EQ(probe.Put("a.B", kProviders, kOther), absl::OkStatus());
  EXPECT_TRUE(client_.Exists(PathOf(kOther)));
}

TEST_F(ZkWriterTest, NodeDeletedByHandIsRestoredWithItsParents) {
  ZkProbe probe(address_, parameters());
  ZkProbe watcher(address_, parameters());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  watcher.Watch("a.B", kProviders);
  ASSERT_TRUE(watcher.AwaitList("a.B", kProviders, {std::string(kUrl)}));
  for (int round = 0; round < 2; ++round) {
    client_.Delete(root());
    ASSERT_TRUE(watcher.AwaitMissing("a.B", kProviders));
    ASSERT_TRUE(watcher.AwaitList("a.B", kProviders, {std::string(kUrl)}));
    EXPECT_EQ(client_.EphemeralOwner(PathOf(kUrl)), probe.session_id().session);
  }
  EXPECT_GE(probe.log().count("FL-2-5"), 1u);

  // What was removed stays away. The other node, restored later, shows that enough time went by.
  ASSERT_EQ(probe.Remove("a.B", kProviders, kUrl), absl::OkStatus());
  ASSERT_EQ(probe.Put("a.B", kProviders, kOther), absl::OkStatus());
  client_.Delete(root());
  ASSERT_TRUE(watcher.AwaitMissing("a.B", kProviders));
  ASSERT_TRUE(watcher.AwaitList("a.B", kProviders, {std::string(kOther)}));
}

TEST_F(ZkWriterTest, TwinsNodeIsLeftAloneWhenRestoring) {
  ZkProbe probe(address_, parameters());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.Put("a.B", kProviders, kUrl), absl::OkStatus());
  ZkProbe watcher(address_, parameters());
  watcher.Watch("a.B", kProviders);
  ASSERT_TRUE(watcher.AwaitList("a.B", kProviders, {std::string(kUrl)}));
  ZkProbe twin(address_, parameters());
  ASSERT_TRUE(twin.AwaitSession(Session::kConnected));
  ASSERT_EQ(twin.Put("a.B", kProviders, kUrl), absl::OkStatus());
  ASSERT_EQ(twin.Put("a.B", kProviders, kOther), absl::OkStatus());
  // The second node, deleted after the first one's replacement, is restored after it too.
  client_.Delete(PathOf(kOther));
  ASSERT_TRUE(watcher.AwaitList("a.B", kProviders, {std::string(kUrl)}));
  ASSERT_TRUE(watcher.AwaitList("a.B", kProviders, {std::string(kUrl), std::string(kOther)}));
  EXPECT_EQ(client_.EphemeralOwner(PathOf(kUrl)), twin.session_id().session);
  // When the twin goes, ours takes its place.
  ASSERT_EQ(twin.Stop(), absl::OkStatus());
  ASSERT_TRUE(watcher.AwaitList("a.B", kProviders, {}));
  ASSERT_TRUE(watcher.AwaitList("a.B", kProviders, {std::string(kUrl)}));
  EXPECT_EQ(client_.EphemeralOwner(PathOf(kUrl)), probe.session_id().session);
}

TEST_F(ZkWriterTest, ManyPutsInFlight) {
  constexpr int kCount = 500;
  ZkProbe probe(address_, parameters());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  std::atomic<int> done{0};
  std::atomic<int> failed{0};
  probe.Run([&](RegistryBackend& backend) {
    for (int i = 0; i < kCount; ++i) {
      backend.Put("s" + std::to_string(i % 50) + ".B", kProviders,
                  std::string(kUrl) + "&n=" + std::to_string(i), true, [&](const absl::Status& status) {
                    if (!status.ok()) ++failed;
                    ++done;
                  });
    }
  });
  ASSERT_TRUE(probe.Await([&] { return done == kCount; }));
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(client_.Children(root() + "/s0.B/providers")->size(), 10u);
}

}  // namespace
}  // namespace fairlead
