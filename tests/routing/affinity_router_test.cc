#include "fairlead/routing/affinity/affinity_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/routing/routing_fixture.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class AffinityRouterTest : public RoutingFixture {
 protected:
  std::vector<Slot> Run(const std::string& key, int ratio, bool enabled = true) {
    const auto table = Compile(AffinityRouter({key, ratio, enabled}));
    described_ = table->Describe(table->Classify({"find", {}}));
    return Route(*table);
  }
  std::string described_;
};

TEST_F(AffinityRouterTest, ThoseAlikeStayWhenTheyAreEnough) {
  Provide({"dubbo://10.0.0.1:1/s.A?region=hz", "dubbo://10.0.0.2:1/s.A?region=sh", "dubbo://10.0.0.3:1/s.A",
           "dubbo://10.0.0.4:1/s.A?region=hz"});
  EXPECT_THAT(Run("region", 50), ElementsAre(0, 3)) << "equal is enough";
  EXPECT_THAT(Run("region", 51), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(why_, HasSubstr("2 of 4 providers"));
  EXPECT_THAT(Run("region", 0), ElementsAre(0, 3));
  EXPECT_EQ(described_, "affinity by \"region\", ratio 0%, applies");
  EXPECT_THAT(Run("region", 0, false), ElementsAre(0, 1, 2, 3));
}

TEST_F(AffinityRouterTest, TheRatioIsOfWhatComesIn) {
  Provide({"dubbo://10.0.0.1:1/s.A?region=hz", "dubbo://10.0.0.2:1/s.A?region=sh", "dubbo://10.0.0.3:1/s.A?region=sh"});
  const auto table = Compile(AffinityRouter({"region", 50}));
  EXPECT_THAT(Route(*table), ElementsAre(0, 1, 2));
  all_.Remove(2);
  EXPECT_THAT(Route(*table), ElementsAre(0));
}

TEST_F(AffinityRouterTest, NobodyAlikeLeavesAllAlsoWithRatioZero) {
  Provide({"dubbo://10.0.0.1:1/s.A?region=sh", "dubbo://10.0.0.2:1/s.A?zone=hz"});
  EXPECT_THAT(Run("region", 0), ElementsAre(0, 1));
  EXPECT_THAT(why_, HasSubstr("fewer than one"));
  EXPECT_THAT(Run("zone", 0), ElementsAre(0, 1));
  EXPECT_THAT(described_, HasSubstr("the consumer has no such key"));
}

TEST_F(AffinityRouterTest, TheConsumersValueIsAPatternAndTheKeyMayBeAPart) {
  consumer_ = Parse("consumer://10.0.0.2/s.A?region=h*");
  Provide({"dubbo://10.0.0.1:1/s.A?region=hz", "dubbo://10.0.0.2:1/s.A?region=sh"});
  EXPECT_THAT(Run("region", 0), ElementsAre(0));
  EXPECT_THAT(Run("host", 0), ElementsAre(1));
}

TEST_F(AffinityRouterTest, StepsAreTheWhole) {
  Random random(7);
  const char* const regions[] = {"?region=hz", "?region=sh", ""};
  for (int round = 0; round < 200; ++round) {
    Provide({});
    const AffinityRouter router({"region", static_cast<int>(random.Below(101))});
    std::shared_ptr<const RouteTable> table;
    for (int step = 0; step < 5; ++step) {
      const Slot slot = static_cast<Slot>(random.Below(6));
      if (random.Below(4) == 0) {
        Take(slot);
      } else {
        Put(slot, "dubbo://10.0.0.1:1/s.A" + std::string(regions[random.Below(3)]));
      }
      InvokerSet changed;
      changed.Add(slot);
      table = Compile(router, &changed, table.get());
      ASSERT_EQ(Route(*table), Route(*Compile(router)));
    }
  }
}

}  // namespace
}  // namespace fairlead
