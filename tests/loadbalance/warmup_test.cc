#include "fairlead/loadbalance/warmup.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "fairlead/base/random.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;

class WarmupTest : public ::testing::Test {
 protected:
  Url Parse(const std::string& parameters) { return *Url::Parse("dubbo://10.0.0.1:20880/a.B?" + parameters, pool_); }
  Url Aged(std::int64_t age_ms, const std::string& parameters = "side=provider") {
    return Parse(parameters + "&timestamp=" + std::to_string(kNow - age_ms));
  }
  UrlPool pool_;
};

TEST_F(WarmupTest, TheRampIsDubbosSinglePrecisionQuotient) {
  EXPECT_EQ(WarmupWeight(1, 600000, 100), 1);
  EXPECT_EQ(WarmupWeight(11999, 600000, 100), 1);
  EXPECT_EQ(WarmupWeight(12000, 600000, 100), 2);
  EXPECT_EQ(WarmupWeight(599999, 600000, 100), 99);
  EXPECT_EQ(WarmupWeight(600000, 600000, 100), 100);
  EXPECT_EQ(WarmupWeight(444522, 5571545, 493), 39);
}

TEST_F(WarmupTest, TheRampIsDefinedForEveryInput) {
  constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(WarmupWeight(0, 0, 0), 1);
  EXPECT_EQ(WarmupWeight(kMax, 1, kMax), kMax);
  EXPECT_EQ(WarmupWeight(kMin, 1, kMax), 1);
  EXPECT_EQ(WarmupWeight(98628, -5, -1), -1);
}

TEST_F(WarmupTest, WithoutAgeTheWeightIsFull) {
  EXPECT_EQ(EffectiveWeight(Parse("weight=70"), "", kNow), 70);
  EXPECT_EQ(EffectiveWeight(Parse("side=provider"), "", kNow), 100);
  EXPECT_EQ(EffectiveWeight(Parse("timestamp=0"), "", kNow), 100);
  EXPECT_EQ(EffectiveWeight(Parse("timestamp=-5"), "", kNow), 100);
}

TEST_F(WarmupTest, AgeDecides) {
  EXPECT_EQ(EffectiveWeight(Aged(-1), "", kNow), 1) << "the provider's clock is ahead";
  EXPECT_EQ(EffectiveWeight(Aged(0), "", kNow), 100);
  EXPECT_EQ(EffectiveWeight(Aged(1), "", kNow), 1);
  EXPECT_EQ(EffectiveWeight(Aged(300000), "", kNow), 50);
  EXPECT_EQ(EffectiveWeight(Aged(600000), "", kNow), 100);
  EXPECT_EQ(EffectiveWeight(Aged(500, "warmup=1000&weight=10"), "", kNow), 5);
  EXPECT_EQ(EffectiveWeight(Aged(500, "warmup=0&weight=10"), "", kNow), 10);
  EXPECT_EQ(EffectiveWeight(Aged(-500, "weight=0"), "", kNow), 0);
  EXPECT_EQ(EffectiveWeight(Aged(500, "weight=-3"), "", kNow), 0);
}

TEST_F(WarmupTest, TheMethodFormComesFirst) {
  const Url url = Parse("weight=70&find.weight=20&save.weight=");
  EXPECT_EQ(EffectiveWeight(url, "find", kNow), 20);
  EXPECT_EQ(EffectiveWeight(url, "save", kNow), 70);
  EXPECT_EQ(EffectiveWeight(url, "", kNow), 70);
}

TEST_F(WarmupTest, NumbersThatCannotBeReadCountAsAbsent) {
  EXPECT_EQ(EffectiveWeight(Parse("weight=heavy"), "", kNow), 100);
  EXPECT_EQ(EffectiveWeight(Parse("weight=2147483648"), "", kNow), 100);
  EXPECT_EQ(EffectiveWeight(Aged(300000, "warmup=long"), "", kNow), 50);
  EXPECT_EQ(EffectiveWeight(Parse("timestamp=yesterday"), "", kNow), 100);
}

TEST_F(WarmupTest, ARegistryHasAPlainWeight) {
  EXPECT_EQ(EffectiveWeight(Aged(1, "interface=org.apache.dubbo.registry.RegistryService&weight=30&find.weight=2"),
                            "find", kNow),
            30);
  EXPECT_EQ(NextWeightChange(Aged(1, "interface=org.apache.dubbo.registry.RegistryService"), kNow), 0);
}

TEST_F(WarmupTest, NoChangeIsToComeForTheWarm) {
  EXPECT_EQ(NextWeightChange(Parse("weight=70"), kNow), 0);
  EXPECT_EQ(NextWeightChange(Aged(600000), kNow), 0);
  EXPECT_EQ(NextWeightChange(Aged(10, "weight=1"), kNow), 0);
  EXPECT_EQ(NextWeightChange(Aged(10, "weight=0"), kNow), 0);
  EXPECT_EQ(NextWeightChange(Aged(10, "warmup=0"), kNow), 0);
}

TEST_F(WarmupTest, TheNextChangeOfAnyMethodCounts) {
  // 600000 / 100 = 6000 ms a step for most methods, 3000 for `find`.
  EXPECT_EQ(NextWeightChange(Aged(12500), kNow), kNow + 5500);
  EXPECT_EQ(NextWeightChange(Aged(12500, "find.weight=200"), kNow), kNow + 2500);
}

// Walks a whole life in the jumps that NextWeightChange gives and, beside it, millisecond by millisecond.
TEST_F(WarmupTest, TheNextChangeIsTheNextMillisecondWithAnotherWeight) {
  Random random(3);
  for (int life = 0; life < 60; ++life) {
    const int warmup = static_cast<int>(random.Below(4000)) - 50;
    const int weight = static_cast<int>(random.Below(120));
    const Url url = Parse("warmup=" + std::to_string(warmup) + "&weight=" + std::to_string(weight) +
                          "&timestamp=" + std::to_string(kNow));
    std::int64_t now = kNow - 20;
    for (std::int64_t next; (next = NextWeightChange(url, now)) != 0; now = next) {
      ASSERT_GT(next, now);
      const std::int32_t before = EffectiveWeight(url, "", now);
      for (std::int64_t t = now; t < next; ++t) ASSERT_EQ(EffectiveWeight(url, "", t), before);
      ASSERT_NE(EffectiveWeight(url, "", next), before) << warmup << ' ' << weight << ' ' << now - kNow;
    }
    const std::int32_t last = EffectiveWeight(url, "", now);
    for (std::int64_t t = now; t < kNow + 5000; ++t) ASSERT_EQ(EffectiveWeight(url, "", t), last);
  }
}

}  // namespace
}  // namespace fairlead
