// What an application sees of a ZooKeeper that does not let it in, cannot be found, or loses everything.
#include <gmock/gmock.h>

#include <string>

#include "fairlead/tests/integration/zookeeper_fixture.h"
#include "fairlead/tests/support/temp_directory.h"

namespace fairlead {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kConsumer[] = "consumer://10.9.8.7/com.acme.Orders?application=shop";
constexpr char kProvider[] = "dubbo://10.0.0.1:20880/com.acme.Orders?application=orders";

class RegistryTroubleTest : public ZookeeperFixture {
 protected:
  void SetUp() override {
    ZookeeperFixture::SetUp();
    ZkClient(server_->address(), "alice:secret").Delete("/private");
  }
  std::string As(const std::string& credentials, const std::string& parameters) const {
    return "zookeeper://" + credentials + server_->address() + "?session=4000&group=private" + parameters;
  }
  void ExpectNoSecrets(const std::string& text) {
    for (const char* secret : {"secret", "guess"}) {
      EXPECT_THAT(text, Not(HasSubstr(secret)));
      for (const LogRecorder::Line& line : lines_.lines()) EXPECT_THAT(line.subject + line.text, Not(HasSubstr(secret)));
    }
  }
};

TEST_F(RegistryTroubleTest, ATreeOfOthersIsDeniedSaidAndNeverNamesAPassword) {
  const auto owner = runtime_->Register(As("alice:secret@", ""), kProvider);
  ASSERT_TRUE(owner.ok()) << owner.status();
  for (const char* credentials : {"", "alice:guess@"}) {
    const auto strict = runtime_->Refer(As(credentials, "&timeout=700"), kConsumer, protocol_);
    EXPECT_THAT(strict.status().ToString(), HasSubstr("user and password of the registry url"));
    ExpectNoSecrets(strict.status().ToString());
    const auto lenient = runtime_->Refer(As(credentials, "&check=false"), kConsumer, protocol_);
    ASSERT_TRUE(lenient.ok()) << lenient.status();
    EXPECT_TRUE(Eventually([&] { return lines_.count("FL-1-1") > 0; }));
    EXPECT_FALSE((*lenient)->Select({}).ok());
    ExpectNoSecrets((*lenient)->Select({}).status().ToString());
    ExpectNoSecrets((*lenient)->Explain({}).ToString());
    const auto denied = runtime_->Register(As(credentials, "&timeout=700"), kProvider);
    EXPECT_THAT(denied.status().ToString(), AllOf(HasSubstr("user and password of the registry url"), Not(HasSubstr("guess"))));
  }
  const auto friendly = runtime_->Refer(As("alice:secret@", ""), kConsumer, protocol_);
  ASSERT_TRUE(friendly.ok()) << friendly.status();
  EXPECT_TRUE((*friendly)->Select({}).ok());
  ExpectNoSecrets((*friendly)->Explain({}).ToString());
}

TEST_F(RegistryTroubleTest, ANameThatCannotBeResolvedLeavesPicksToTheListCache) {
  const TempDirectory directory;
  // As Dubbo writes it, without saying whose it is.
  directory.Write("lists.cache",
                  "com.acme.Orders=dubbo\\://10.0.0.1\\:20880/com.acme.Orders?interface\\=com.acme.Orders\n");
  const auto orders = runtime_->Refer("zookeeper://no-such-host.invalid:2181?check=false&file.wait=200&file=" + (directory / "lists.cache"),
                                      kConsumer, protocol_);
  ASSERT_TRUE(orders.ok()) << orders.status();
  EXPECT_TRUE(Eventually([&] { return (*orders)->Select({}).ok(); })) << (*orders)->Explain({}).ToString();
  EXPECT_TRUE(Eventually([&] { return lines_.count("FL-2-1") > 0; }));
  EXPECT_THAT((*orders)->Explain({}).registry, AllOf(HasSubstr("no-such-host.invalid"), HasSubstr("served from")));
}

// The tree is wiped under a consumer and a provider that are both of one process and one session.
TEST_F(RegistryTroubleTest, AWipedTreeIsFilledAgainByThoseWhoLive) {
  const auto provider = runtime_->Register(registry(), kProvider);
  ASSERT_TRUE(provider.ok()) << provider.status();
  const auto orders = Refer(kConsumer);
  const auto nodes = [](const char* category) {
    ZkClient look(server_->address());
    return look.Children(std::string("/dubbo/com.acme.Orders/") + category).value_or(std::vector<std::string>()).size();
  };
  ASSERT_TRUE(Eventually([&] { return nodes("consumers") == 1; }));
  for (int round = 0; round < 2; ++round) {
    ZkClient(server_->address()).Delete("/dubbo");
    EXPECT_TRUE(Eventually([&] { return nodes("providers") == 1 && nodes("consumers") == 1; }));
    EXPECT_TRUE(Eventually([&] { return Addresses(*orders) == std::set<std::string>{"10.0.0.1:20880"}; }));
  }
}

}  // namespace
}  // namespace fairlead
