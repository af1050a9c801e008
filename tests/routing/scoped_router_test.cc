#include "fairlead/routing/scoped_router.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "fairlead/routing/condition/destinations_router.h"
#include "fairlead/tests/routing/routing_fixture.h"
#include "fairlead/tests/support/chi_square.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;

class ScopedRouterTest : public RoutingFixture {
 protected:
  // v1 and v2 by weight, of the providers of application `a`.
  std::shared_ptr<const RouteTable> TableOf(bool force) {
    DestinationsRule rule;
    rule.to = {{*ParseConditions("ver=1"), 1}, {*ParseConditions("ver=2"), 3}};
    rule.compat = Compat::kFixed;
    ConditionOptions options;
    options.force = force;
    return Compile(ScopedRouter("a", std::make_shared<DestinationsRouter>(rule, options)));
  }
};

TEST_F(ScopedRouterTest, OthersStayAndDoNotCount) {
  Provide({"dubbo://10.0.0.1:1/s.A?application=a&ver=1", "dubbo://10.0.0.2:1/s.A?application=b&ver=1",
           "dubbo://10.0.0.3:1/s.A?application=a&ver=2", "dubbo://10.0.0.4:1/s.A?application=b"});
  const auto table = TableOf(true);
  const auto draw = [&](const InvokerSet& in) {
    std::map<std::vector<Slot>, double> counts;
    InvokerSet place(64), spare(64);
    Random random(3);
    for (int i = 0; i < 4000; ++i) {
      Outcomes outcomes(in, place, random, false, i % 2 == 0 ? &spare : nullptr);
      table->Route(table->Classify({"find", {}}), in, outcomes);
      std::vector<Slot> slots;
      if (outcomes.count() > 0) outcomes.drawn().ForEach([&](Slot slot) { slots.push_back(slot); });
      ++counts[slots];
    }
    return counts;
  };
  const auto collect = [&](const InvokerSet& in) {
    std::map<std::vector<Slot>, std::uint64_t> shares;
    Outcomes outcomes(in);
    table->Route(table->Classify({"find", {}}), in, outcomes);
    for (const auto& split : outcomes.splits()) {
      std::vector<Slot> slots;
      split.set.ForEach([&](Slot slot) { slots.push_back(slot); });
      shares[slots] += split.weight;
    }
    return shares;
  };
  for (unsigned bits = 1; bits < 16; ++bits) {
    InvokerSet in(64);
    for (Slot slot = 0; slot < 4; ++slot) {
      if (bits >> slot & 1) in.Add(slot);
    }
    const auto shares = collect(in);
    auto counts = draw(in);
    double sum = 0;
    for (const auto& [slots, weight] : shares) sum += static_cast<double>(weight);
    std::vector<double> drawn, expected;
    for (const auto& [slots, weight] : shares) {
      drawn.push_back(counts[slots]);
      expected.push_back(static_cast<double>(weight) / sum);
      for (const Slot other : {1u, 3u}) {
        EXPECT_EQ(std::find(slots.begin(), slots.end(), other) != slots.end(), in.Contains(other));
      }
    }
    EXPECT_EQ(counts.size(), std::max<std::size_t>(shares.size(), 1)) << bits;
    if (shares.empty()) continue;
    EXPECT_TRUE(FollowShares(drawn, expected)) << bits;
  }
}

TEST_F(ScopedRouterTest, WhoIsBlockedGoesAndTheOthersStay) {
  Provide({"dubbo://10.0.0.1:1/s.A?application=a&ver=9", "dubbo://10.0.0.2:1/s.A?application=b"});
  EXPECT_THAT(Route(*TableOf(true)), ElementsAre(1));
  EXPECT_THAT(Route(*TableOf(false)), ElementsAre(0, 1));
  Take(1);
  EXPECT_THAT(Route(*TableOf(true)), ElementsAre()) << "there are no others";
}

}  // namespace
}  // namespace fairlead
