// Trees that real Dubbo Java providers wrote, loaded byte for byte into a real server, and what a consumer sees.
#include <gmock/gmock.h>

#include "fairlead/tests/integration/zookeeper_fixture.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RecordedTreesTest : public ZookeeperFixture {
 protected:
  // The recorder's ephemeral nodes belong to this client, so they go when it does.
  std::unique_ptr<ZkClient> Load(std::string_view scenario) {
    auto client = std::make_unique<ZkClient>(server_->address());
    client->Load(ReadDubboTree(scenario));
    return client;
  }
};

TEST_F(RecordedTreesTest, BothLevelsGiveTheInterfacesProvider) {
  auto provider = Load("boot_all_local");
  const auto directory = Refer("consumer://10.9.8.7/peer.DemoService?application=me", "enable-empty-protection=false");
  EXPECT_THAT(Addresses(*directory), ElementsAre("192.0.2.2:20880"));
  EXPECT_TRUE(directory->Select({}).ok());
  const Url url = directory->List({})[0];
  EXPECT_EQ(url.Param("application"), "me");
  EXPECT_EQ(url.Param("remote.application"), "demo-provider");
  EXPECT_GT(url.timestamp_ms(), 0) << "the base of warm-up";
  // A clean SIGTERM: every ephemeral node goes.
  provider.reset();
  EXPECT_TRUE(Eventually([&] { return directory->Select({}).status().code() == absl::StatusCode::kUnavailable; }));
}

TEST_F(RecordedTreesTest, ApplicationLevelAloneIsSaid) {
  for (const char* scenario : {"boot_instance_local", "boot_instance_remote"}) {
    auto provider = Load(scenario);
    const auto directory = Refer("consumer://10.9.8.7/peer.DemoService?application=me");
    EXPECT_THAT(Addresses(*directory), IsEmpty());
    EXPECT_TRUE(Eventually([&] {
      const absl::Status status = directory->Select({}).status();
      return status.code() == absl::StatusCode::kUnavailable &&
             status.message().find("registered application-level only, by application demo-provider") !=
                 absl::string_view::npos;
    })) << directory->Select({}).status();
  }
}

TEST_F(RecordedTreesTest, EveryParameterOfTheProviderArrives) {
  auto provider = Load("boot_interface_full");
  const auto directory = Refer("consumer://10.9.8.7/peer.DemoService?application=me&group=g1&version=1.0");
  const Attachment gray[] = {{"dubbo.tag", "gray"}};
  EXPECT_THAT(Addresses(*directory), IsEmpty()) << "a provider with a tag is not for calls without";
  ASSERT_THAT(Addresses(*directory, {.attachments = gray}), ElementsAre("192.0.2.2:20880"));
  const Url url = directory->List({.attachments = gray})[0];
  EXPECT_EQ(url.Param("weight"), "50");
  EXPECT_EQ(url.Param("warmup"), "600000");
  EXPECT_EQ(url.Param("dubbo.tag"), "gray");
  EXPECT_EQ(url.Param("timeout"), "777");
  EXPECT_EQ(url.Param("group"), "g1");
  EXPECT_THAT(Addresses(*Refer("consumer://10.9.8.7/peer.DemoService?application=me")), IsEmpty()) << "another group";
  EXPECT_THAT(Addresses(*Refer("consumer://10.9.8.7/peer.DemoService?group=*&version=*"), {.attachments = gray}),
              ElementsAre("192.0.2.2:20880"));
}

TEST_F(RecordedTreesTest, ASimplifiedUrlIsEnough) {
  auto provider = Load("boot_interface_simplified");
  const auto directory = Refer("consumer://10.9.8.7/peer.DemoService?application=me");
  ASSERT_THAT(Addresses(*directory), ElementsAre("192.0.2.2:20880"));
  EXPECT_EQ(directory->List({})[0].Param("timeout"), "777");
}

TEST_F(RecordedTreesTest, TwoProcessesWithTwoGroupsEach) {
  auto provider = Load("boot_two_providers_two_services");
  for (const char* group : {"g0", "g1"}) {
    const auto directory = Refer(std::string("consumer://10.9.8.7/peer.DemoService?group=") + group);
    EXPECT_THAT(Addresses(*directory), ElementsAre("192.0.2.2:20880", "192.0.2.2:20881"));
    for (const Url& url : directory->List({})) EXPECT_EQ(url.Param("group"), group);
  }
}

TEST_F(RecordedTreesTest, ProvidersWithAnOverride) {
  auto provider = Load("raw_with_consumer");
  const auto directory = Refer("consumer://10.9.8.7/org.demo.Svc?application=demo-consumer&timeout=5", "missing.grace=1000");
  EXPECT_THAT(Addresses(*directory), ElementsAre("10.0.0.0:20880", "10.0.0.1:20880"));
  for (const Url& url : directory->List({})) EXPECT_EQ(url.Param("timeout"), "321");
  EXPECT_EQ(directory->consumer().Param("timeout"), "321") << "overrides hold for the consumer's own url too";
  ZkClient admin(server_->address());
  admin.Delete("/dubbo/org.demo.Svc/configurators");
  EXPECT_TRUE(Eventually([&] { return directory->List({})[0].Param("timeout") == "5"; }))
      << "the category's node was deleted: after missing.grace that means no override";
}

TEST_F(RecordedTreesTest, RuleDocumentsDoNotDisturbAServiceWithoutProviders) {
  auto admin = Load("governance_rules");
  const auto directory = Refer("consumer://10.9.8.7/org.demo.Svc?application=demo-consumer&version=1.0&group=g1");
  EXPECT_EQ(directory->Select({}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(RecordedTreesTest, AnotherRoot) {
  auto provider = Load("raw_custom_root");
  EXPECT_THAT(Addresses(*Refer("consumer://10.9.8.7/org.demo.Svc", "group=myroot")), ElementsAre("10.0.0.0:20880"));
  EXPECT_THAT(Addresses(*Refer("consumer://10.9.8.7/org.demo.Svc")), IsEmpty());
}

}  // namespace
}  // namespace fairlead
