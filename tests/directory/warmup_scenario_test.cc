#include <gmock/gmock.h>

#include "fairlead/loadbalance/warmup.h"
#include "fairlead/tests/directory/directory_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class WarmupScenarioTest : public DirectoryFixture {
 protected:
  std::string Ago(seconds time) {
    return "timestamp=" + std::to_string(clock_.SystemMillis() - milliseconds(time).count());
  }
  // Effective, as Explain shows them, by address.
  std::map<std::string, int> Weights() {
    std::map<std::string, int> weights;
    for (const auto& one : handle_->Explain({}, PickTrace::Detail::kAll).all) weights[one.address] = one.weight;
    return weights;
  }
};

TEST_F(WarmupScenarioTest, ATimestampSurvivesInterningAndANewOneWarmsUpAgain) {
  // Equal urls but for timestamp and pid: one entry of the pool, two times of birth.
  const std::string old = Ago(minutes(60)), young = Ago(seconds(60));
  Open({"10.0.0.1?pid=1&" + old, "10.0.0.2?pid=2&" + young});
  EXPECT_EQ(Weights(), (std::map<std::string, int>{{"10.0.0.1:20880", 100}, {"10.0.0.2:20880", 10}}));
  Providers({"10.0.0.1?pid=7&" + Ago(seconds(120)), "10.0.0.2?pid=2&" + young});
  executor_.RunReady();
  EXPECT_EQ(Weights(), (std::map<std::string, int>{{"10.0.0.1:20880", 20}, {"10.0.0.2:20880", 10}}));
  EXPECT_EQ(protocol_->referred, 2);
  // An override of another parameter makes another effective url, of the same age.
  Overrides({"override://0.0.0.0/com.acme.Orders?category=configurators&timeout=5"});
  executor_.RunReady();
  EXPECT_EQ(Weights(), (std::map<std::string, int>{{"10.0.0.1:20880", 20}, {"10.0.0.2:20880", 10}}));
}

TEST_F(WarmupScenarioTest, TheTablesAreNeverBehindByMoreThanASecond) {
  std::vector<std::string> list;
  for (int i = 0; i < 60; ++i) {
    list.push_back("10.0.1." + std::to_string(i) + "?weight=" + std::to_string(100 + i) + "&" +
                   "timestamp=" + std::to_string(clock_.SystemMillis() - i * 1234));
  }
  Open(list);
  std::uint64_t version = handle_->Explain({}).snapshot;
  for (int i = 0; i < 700; ++i) {
    const std::int64_t before = clock_.SystemMillis();
    executor_.Advance(seconds(1));
    const PickTrace trace = handle_->Explain({}, PickTrace::Detail::kAll);
    ASSERT_LE(trace.snapshot - version, 2u) << "many changes make one update a second";
    version = trace.snapshot;
    for (int n = 0; n < 60; ++n) {
      const Url url = handle_->List({})[static_cast<std::size_t>(n)];
      const std::int32_t weight = trace.all[static_cast<std::size_t>(n)].weight;
      ASSERT_GE(weight, EffectiveWeight(url, "", before - 1));
      ASSERT_LE(weight, EffectiveWeight(url, "", clock_.SystemMillis()));
    }
  }
  EXPECT_EQ(executor_.pending_timers(), 0u) << "all are warm, and nothing ticks on";
  EXPECT_EQ(Weights().at("10.0.1.59:20880"), 159);
}

TEST_F(WarmupScenarioTest, SharesFollowTheWeights) {
  Open({"10.0.0.1?" + Ago(minutes(60)), "10.0.0.2?" + Ago(seconds(150))});
  // 100 to 25; sigma of 10 000 picks is 40.
  EXPECT_NEAR(Shares(10000)["10.0.0.2:20880"], 2000, 200);
  executor_.Advance(seconds(150));
  EXPECT_NEAR(Shares(10000)["10.0.0.2:20880"], 3333, 240);
  EXPECT_THAT(handle_->Explain({}).policy, HasSubstr("total weight 150"));
}

}  // namespace
}  // namespace fairlead
