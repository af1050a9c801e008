// One service in a real ZooKeeper and a real Redis (apache/dubbo 3084), and what the end of one means for the other.
#include <gmock/gmock.h>

#include "fairlead/tests/integration/zookeeper_fixture.h"
#include "fairlead/tests/support/redis_server.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr char kConsumer[] = "consumer://10.9.8.7/com.acme.Orders?application=shop";

class SeveralRegistriesTest : public ZookeeperFixture {
 protected:
  void SetUp() override {
    ZookeeperFixture::SetUp();
    ASSERT_TRUE(redis_.Start().ok());
    a_ = Register(registry(), A);
    b_ = Register(redis(), B);
  }
  // With check=false a slow machine's server may answer late.
  Registration Register(const std::string& registry, const std::string& address) {
    auto made = runtime_->Register(registry + "&check=false", "dubbo://" + address + "/com.acme.Orders?application=orders");
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? *std::move(made) : Registration();
  }
  std::string redis() const { return "redis://" + redis_.address() + "?timeout=10000&session=4000"; }
  static std::set<std::string> Picked(const Directory& directory) {
    std::set<std::string> addresses;
    for (int i = 0; i < 100; ++i) {
      const absl::StatusOr<Lease> lease = directory.Select({});
      addresses.insert(lease.ok() ? lease->invoker().url().Address() : std::string(lease.status().message()));
    }
    return addresses;
  }
  const std::string A = "10.0.0.1:20880", B = "10.0.0.2:20880";
  RedisServer redis_;
  Registration a_, b_;
};

TEST_F(SeveralRegistriesTest, MergeHasTheProvidersOfBothAndKeepsThemWhenOneServerDies) {
  const auto orders = runtime_->Refer({registry(), redis()}, kConsumer, protocol_);
  ASSERT_TRUE(orders.ok()) << orders.status();
  EXPECT_TRUE(Eventually([&] { return Picked(**orders) == std::set<std::string>{A, B}; }));
  server_->Kill();
  const Registration c = Register(redis(), "10.0.0.3:20880");
  EXPECT_TRUE(Eventually([&] { return Picked(**orders).contains("10.0.0.3:20880"); })) << "Redis goes on";
  EXPECT_EQ(Picked(**orders), (std::set<std::string>{A, B, "10.0.0.3:20880"}));
  // A process that starts now has what Redis has.
  auto late = Runtime::Create({.extensions = DefaultExtensions(), .seed = 6, .log = lines_.sink()});
  const auto found = (*late)->Refer({registry("file-cache=false"), redis()}, std::string(kConsumer) + "&rules.wait=200", protocol_);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(Picked(**found), (std::set<std::string>{B, "10.0.0.3:20880"}));
  ASSERT_TRUE(server_->Start().ok());
  EXPECT_TRUE(Eventually([&] { return Picked(**found).contains(A); })) << (*found)->Explain({}).ToString();
  redis_.Kill();
  EXPECT_EQ(Picked(**orders), (std::set<std::string>{A, B, "10.0.0.3:20880"}));
}

TEST_F(SeveralRegistriesTest, FailoverStartsOnTheSecondAndComesBackToTheFirst) {
  redis_.Kill();
  const auto orders = runtime_->Refer({redis(), registry()}, std::string(kConsumer) + "&rules.wait=200&registry.mode=failover", protocol_);
  ASSERT_TRUE(orders.ok()) << orders.status();
  EXPECT_EQ(Picked(**orders), std::set<std::string>{A});
  ASSERT_TRUE(redis_.Start().ok());
  EXPECT_TRUE(Eventually([&] { return Picked(**orders) == std::set<std::string>{B}; })) << (*orders)->Explain({}).ToString();
  EXPECT_THAT((*orders)->Explain({}).choice, HasSubstr("redis://"));
}

}  // namespace
}  // namespace fairlead
