// Documents of rules in a real server's config center: set, changed, broken, deleted, while calls go on.
#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <thread>

#include "fairlead/tests/integration/zookeeper_fixture.h"

namespace fairlead {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Set = std::set<std::string>;

constexpr char kConsumer[] = "consumer://10.9.8.7/com.acme.Orders?application=shop";
constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880", kC[] = "10.0.0.3:20880";
constexpr char kConditions[] = "/dubbo/config/dubbo/com.acme.Orders::.condition-router";
constexpr char kConfigurators[] = "/dubbo/config/dubbo/com.acme.Orders::.configurators";
constexpr char kTags[] = "/dubbo/config/dubbo/orders.tag-router";

std::string Only(const std::string& hosts) { return "force: true\nconditions: ['=> host=" + hosts + "']\n"; }

std::string Weight(int weight) {
  return "configVersion: v3.0\nscope: service\nkey: com.acme.Orders\nconfigs:\n- side: consumer\n  parameters: {weight: " +
         std::to_string(weight) + "}\n";
}

class RuleDocumentsTest : public ZookeeperFixture {
 protected:
  void SetUp() override {
    ZookeeperFixture::SetUp();
    for (const char* address : {kA, kB}) {
      registrations_.push_back(*runtime_->Register(
          registry(), "dubbo://" + std::string(address) + "/com.acme.Orders?application=orders&weight=100"));
    }
  }
  void TearDown() override {
    registrations_.clear();
    runtime_.reset();
  }
  static Set Weights(const Directory& directory) {
    Set weights;
    for (const Url& url : directory.List({})) weights.insert(std::string(url.Param("weight")));
    return weights;
  }
  static std::string Skipped(const Directory& directory) {
    std::string all;
    for (const std::string& line : directory.Explain({}).skipped) all += line + "\n";
    return all;
  }

  std::vector<Registration> registrations_;
};

TEST_F(RuleDocumentsTest, WhatWasThereBeforeIsObeyedByTheFirstPick) {
  ZkClient admin(server_->address());
  admin.Create(kConditions, Only("10.0.0.2"));
  admin.Create(kConfigurators, Weight(7));
  const auto directory = Refer(kConsumer);
  ASSERT_NE(directory, nullptr);
  EXPECT_EQ(Addresses(*directory), Set{kB});
  EXPECT_EQ(Weights(*directory), Set{"7"});
  EXPECT_EQ(lines_.count("FL-3-7"), 0u);
}

TEST_F(RuleDocumentsTest, SetChangedBrokenAndDeletedWhileCallsGoOn) {
  ZkClient admin(server_->address());
  const auto directory = Refer(kConsumer);
  ASSERT_NE(directory, nullptr);
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0};
  std::atomic<long> picks{0};
  std::thread caller([&] {
    while (!stop) {
      failed += !directory->Select({}).ok();
      ++picks;
    }
  });
  const auto reaches = [&](const Set& addresses) {
    return Eventually([&] { return Addresses(*directory) == addresses; });
  };

  EXPECT_TRUE(reaches({kA, kB}));
  admin.Create(kConditions, Only("10.0.0.1"));
  EXPECT_TRUE(reaches({kA}));
  admin.Set(kConditions, Only("10.0.0.2"));
  EXPECT_TRUE(reaches({kB}));
  admin.Set(kConditions, "force: true\nconditions: ['=> host=10.0.0.1'\n");
  EXPECT_TRUE(Eventually([&] { return Skipped(*directory).find("last good version") != std::string::npos; }));
  EXPECT_THAT(Skipped(*directory), AllOf(HasSubstr("com.acme.Orders::.condition-router"), HasSubstr("line "), HasSubstr("column ")));
  EXPECT_EQ(Addresses(*directory), Set{kB});
  admin.Delete(kConditions);
  EXPECT_TRUE(reaches({kA, kB}));
  EXPECT_EQ(Skipped(*directory), "");

  admin.Create(kTags, "force: true\ntags:\n- name: gray\n  addresses: ['10.0.0.2:20880']\n");
  EXPECT_TRUE(reaches({kA}));
  const Attachment gray[] = {{"dubbo.tag", "gray"}};
  EXPECT_EQ(Addresses(*directory, {.attachments = gray}), Set{kB});
  admin.Set(kTags, "tags: {");
  EXPECT_TRUE(Eventually([&] { return Skipped(*directory).find("orders.tag-router") != std::string::npos; }));
  EXPECT_EQ(Addresses(*directory), Set{kA});
  admin.Set(kTags, "force: true\ntags:\n- name: gray\n  addresses: ['10.0.0.1:20880']\n");
  EXPECT_TRUE(reaches({kB}));
  admin.Delete(kTags);
  EXPECT_TRUE(reaches({kA, kB}));

  const int referred = protocol_->referred;
  const auto weighs = [&](const Set& weights) { return Eventually([&] { return Weights(*directory) == weights; }); };
  EXPECT_TRUE(weighs({"100"}));
  admin.Create(kConfigurators, Weight(7));
  EXPECT_TRUE(weighs({"7"}));
  admin.Set(kConfigurators, Weight(8));
  EXPECT_TRUE(weighs({"8"}));
  admin.Set(kConfigurators, "configs: [");
  EXPECT_TRUE(Eventually([&] { return Skipped(*directory).find(".configurators") != std::string::npos; }));
  EXPECT_EQ(Weights(*directory), Set{"8"});
  admin.Delete(kConfigurators);
  EXPECT_TRUE(weighs({"100"}));
  EXPECT_EQ(protocol_->referred, referred) << "connections survive a change of weight";

  stop = true;
  caller.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(picks, 0);
  EXPECT_EQ(lines_.count("FL-3-16"), 3u);
}

TEST_F(RuleDocumentsTest, ANewApplicationsRuleIsForItsProvidersOnly) {
  ZkClient admin(server_->address());
  admin.Create("/dubbo/config/dubbo/other.condition-router", Only("1.1.1.1"));
  const auto directory = Refer(kConsumer);
  ASSERT_NE(directory, nullptr);
  registrations_.push_back(
      *runtime_->Register(registry(), "dubbo://" + std::string(kC) + "/com.acme.Orders?application=other"));
  EXPECT_TRUE(Eventually([&] { return directory->Stats().providers == 3; }));
  EXPECT_EQ(Addresses(*directory), (Set{kA, kB})) << "the new one's rule was there with it";
  admin.Delete("/dubbo/config/dubbo/other.condition-router");
  EXPECT_TRUE(Eventually([&] { return Addresses(*directory) == Set{kA, kB, kC}; }));
}

}  // namespace
}  // namespace fairlead
