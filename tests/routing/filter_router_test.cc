#include "fairlead/routing/filter_router.h"

#include <gmock/gmock.h>

#include "fairlead/tests/routing/routing_fixture.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Case 1: `get` methods, to rack 7. Case 2: `set` methods, to rack 8.
class Racks final : public FilterRouter {
 public:
  explicit Racks(OnEmpty on_empty) : on_empty_(on_empty) {}
  std::string_view name() const override { return "racks"; }
  int order() const override { return 160; }
  Reads reads() const override { return Reads::kMethod; }
  std::uint32_t cases() const override { return 3; }
  RouteCase Classify(const RouteCall& call) const override {
    return call.method.starts_with("get") ? 1 : call.method.starts_with("set") ? 2 : 0;
  }
  bool Filter(RouteCase which, const Provider& provider) const override {
    ++asked;
    return provider.original.Param("rack") == (which == 1 ? "7" : "8");
  }
  OnEmpty on_empty() const override { return on_empty_; }

  mutable int asked = 0;

 private:
  const OnEmpty on_empty_;
};

class FilterRouterTest : public RoutingFixture {};

TEST_F(FilterRouterTest, EachCaseHasItsProviders) {
  Provide({"dubbo://a:1/s?rack=7", "dubbo://b:1/s?rack=8", "dubbo://c:1/s?rack=7"});
  const auto racks = std::make_shared<const Racks>(OnEmpty::kStayEmpty);
  const auto table = Compile(*racks);
  EXPECT_EQ(table->cases(), 3u);
  EXPECT_EQ(racks->asked, 6) << "once a case and provider";
  EXPECT_THAT(Route(*table, "get"), ElementsAre(0, 2));
  EXPECT_THAT(Route(*table, "set"), ElementsAre(1));
  EXPECT_THAT(Route(*table, "other"), ElementsAre(0, 1, 2));
  EXPECT_EQ(racks->asked, 6) << "never at a call";
  EXPECT_THAT(table->Describe(2), HasSubstr("racks: case 2"));
}

TEST_F(FilterRouterTest, OnEmptyDecides) {
  Provide({"dubbo://a:1/s?rack=7"});
  EXPECT_THAT(Route(*Compile(*std::make_shared<const Racks>(OnEmpty::kFallBack)), "set"), ElementsAre(0));
  EXPECT_THAT(Route(*Compile(*std::make_shared<const Racks>(OnEmpty::kStayEmpty)), "set"), IsEmpty());
  EXPECT_THAT(why_, HasSubstr("none of 1 provider"));
}

TEST_F(FilterRouterTest, OnlyChangedProvidersAreAskedAgain) {
  Provide({"dubbo://a:1/s?rack=7", "dubbo://b:1/s?rack=8", "dubbo://c:1/s?rack=7"});
  const auto racks = std::make_shared<const Racks>(OnEmpty::kStayEmpty);
  const auto before = Compile(*racks);
  racks->asked = 0;
  Put(1, "dubbo://b:1/s?rack=7");
  Take(2);
  InvokerSet changed;
  changed.Add(1);
  const auto table = Compile(*racks, &changed, before.get());
  EXPECT_EQ(racks->asked, 2);
  EXPECT_THAT(Route(*table, "get"), ElementsAre(0, 1));
}

TEST_F(FilterRouterTest, TheTableKeepsItsFilterAlive) {
  Provide({"dubbo://a:1/s?rack=7", "dubbo://b:1/s?rack=8"});
  auto racks = std::make_shared<const Racks>(OnEmpty::kStayEmpty);
  const auto table = Compile(*racks);
  racks.reset();
  EXPECT_THAT(Route(*table, "get"), ElementsAre(0));
}

}  // namespace
}  // namespace fairlead
