#include "fairlead/routing/mesh/mesh_router.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "fairlead/routing/weighted_draw.h"
#include "fairlead/tests/routing/routing_fixture.h"
#include "fairlead/tests/support/chi_square.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Shares = std::map<std::vector<Slot>, std::uint64_t>;

MeshMatch Method(const std::string& name) {
  MeshMatch match;
  match.method = *StringMatch::Compile({.exact = name});
  return match;
}

// Subsets v0, v1 ... of the providers with that `ver`.
MeshRule RuleOf(std::vector<MeshRule::Detail> details, Compat compat = Compat::kFixed) {
  MeshRule rule;
  rule.routes.push_back({"", {}, std::move(details)});
  for (int i = 0; i < 70; ++i) rule.subsets.push_back({absl::StrCat("v", i), {{"ver", std::to_string(i)}}});
  rule.compat = compat;
  return rule;
}

class MeshRouterTest : public RoutingFixture {
 protected:
  static std::string At(int host, const std::string& application, int version) {
    return absl::StrCat("dubbo://10.0.0.", host, ":1/s.A?application=", application, "&ver=", version);
  }
  std::shared_ptr<const RouteTable> TableOf(const std::vector<ScopedMeshRule>& rules) {
    router_ = MeshRouter::Make(rules, consumer_, &left_out_);
    return router_ == nullptr ? nullptr : Compile(*router_);
  }
  // The weight of each set.
  Shares SharesOf(const RouteTable& table, const InvokerSet& in, std::string_view method = "find") {
    Outcomes outcomes(in);
    table.Route(table.Classify({method, {}}), in, outcomes);
    why_ = outcomes.why();
    Shares shares;
    for (const auto& split : outcomes.splits()) {
      std::vector<Slot> slots;
      split.set.ForEach([&](Slot slot) { slots.push_back(slot); });
      shares[slots] += split.weight;
    }
    return shares;
  }

  std::shared_ptr<const MeshRouter> router_;
  std::vector<std::string> left_out_;
};

TEST_F(MeshRouterTest, TheFirstDetailThatFitsCounts) {
  Provide({At(1, "a", 1), At(2, "a", 2), At(3, "a", 1)});
  const auto table = TableOf({{"a", RuleOf({{"gray", {Method("hello")}, {{{"v2"}}}}, {"base", {}, {{{"v1"}}}}})}});
  EXPECT_EQ(router_->reads(), Reads::kMethod) << "classified once for each method";
  EXPECT_THAT(Route(*table, "hello"), ElementsAre(1));
  EXPECT_THAT(Route(*table, "other"), ElementsAre(0, 2));
  EXPECT_THAT(table->Describe(table->Classify({"hello", {}})), HasSubstr("gray"));
}

TEST_F(MeshRouterTest, ServicesAndLabelsAreFoundOutOnce) {
  Provide({At(1, "a", 1), At(2, "a", 2)});
  MeshRule rule = RuleOf({});
  rule.routes = {{"other", {*StringMatch::Compile({.exact = "s.B"})}, {{"", {}, {{{"v1"}}}}}},
                 {"ours", {*StringMatch::Compile({.exact = "s.A"})}, {}},
                 {"late", {}, {{"", {}, {{{"v1"}}}}}}};
  EXPECT_EQ(TableOf({{"a", rule}}), nullptr) << "the first route for the service counts, and has nothing to say";
  MeshMatch gray;
  gray.source_labels = {{"env", "gray"}};
  rule.routes[1].details = {{"gray", {gray}, {{{"v2"}}}}, {"base", {}, {{{"v1"}}}}};
  EXPECT_THAT(Route(*TableOf({{"a", rule}})), ElementsAre(0));
  EXPECT_EQ(router_->reads(), Reads::kConsumer);
  consumer_ = Parse("consumer://10.0.0.9/s.A?env=gray");
  EXPECT_THAT(Route(*TableOf({{"a", rule}})), ElementsAre(1));
}

TEST_F(MeshRouterTest, ProvidersWithoutARuleGoOnceOthersAreSelected) {
  Provide({At(1, "a", 1), At(2, "b", 1), At(3, "a", 2)});
  const MeshRule first = RuleOf({{"", {Method("find")}, {{{"v1"}}}}});
  EXPECT_THAT(Route(*TableOf({{"a", first}})), ElementsAre(0));
  EXPECT_THAT(Route(*TableOf({{"a", first}}), "other"), ElementsAre(0, 1, 2)) << "no rule fits";
  EXPECT_THAT(Route(*TableOf({{"a", first}, {"b", first}})), ElementsAre(0, 1));
  const MeshRule other = RuleOf({{"", {Method("other")}, {{{"v1"}}}}});
  EXPECT_THAT(Route(*TableOf({{"a", first}, {"b", other}})), ElementsAre(0));
  EXPECT_THAT(Route(*TableOf({{"a", first}, {"b", other}}), "other"), ElementsAre(1));
  const MeshRule nobody = RuleOf({{"", {}, {{{"v9"}}}}});
  EXPECT_THAT(Route(*TableOf({{"a", nobody}, {"b", nobody}})), ElementsAre(0, 1, 2));
  EXPECT_THAT(why_, HasSubstr("all stay"));
}

TEST_F(MeshRouterTest, SubsetsOfOneNameAreOne) {
  Provide({At(1, "a", 1), At(2, "a", 2), At(3, "a", 3)});
  MeshRule rule = RuleOf({{"", {}, {{{"both"}}}}});
  rule.subsets = {{"both", {{"ver", "1"}}}, {"both", {{"ver", "3"}}}, {"all", {}}};
  EXPECT_THAT(Route(*TableOf({{"a", rule}})), ElementsAre(0, 2));
  rule.routes[0].details[0].to = {{{"all"}}};
  EXPECT_THAT(Route(*TableOf({{"a", rule}})), ElementsAre(0, 1, 2));
}

TEST_F(MeshRouterTest, StrictDrawsAsDubbo) {
  Provide({At(1, "a", 1), At(2, "a", 2)});
  const auto rule = [](std::uint32_t first, std::uint32_t second, Compat compat) {
    return RuleOf({{"", {}, {{{"v1"}, first}, {{"v2"}, second}}}}, compat);
  };
  EXPECT_THAT(SharesOf(*TableOf({{"a", rule(1, 1, Compat::kStrict)}}), all_), ElementsAre(Pair(ElementsAre(0), 1)))
      << "of two equal ones the second is never drawn";
  EXPECT_THAT(SharesOf(*TableOf({{"a", rule(1, 3, Compat::kStrict)}}), all_),
              ElementsAre(Pair(ElementsAre(0), 2), Pair(ElementsAre(1), 2)));
  EXPECT_THAT(SharesOf(*TableOf({{"a", rule(1, 3, Compat::kFixed)}}), all_),
              ElementsAre(Pair(ElementsAre(0), 1), Pair(ElementsAre(1), 3)));
}

// Each set of destinations empty in turn: the share of one without anybody goes to the next, to the first after the last.
TEST_F(MeshRouterTest, SharesOfEmptyDestinationsMoveOn) {
  constexpr std::size_t kCount = 4;
  constexpr std::uint32_t kWeights[kCount] = {5, 10, 20, 40};
  std::vector<std::string> urls;
  MeshRule::Detail detail;
  for (std::size_t i = 0; i < kCount; ++i) {
    urls.push_back(At(static_cast<int>(i), "a", static_cast<int>(i)));
    detail.to.push_back({{absl::StrCat("v", i)}, kWeights[i]});
  }
  Provide(urls);
  for (const Compat compat : {Compat::kFixed, Compat::kStrict}) {
    const auto table = TableOf({{"a", RuleOf({detail}, compat)}});
    for (unsigned alive = 1; alive < 1u << kCount; ++alive) {
      InvokerSet in(kCount);
      for (Slot slot = 0; slot < kCount; ++slot) {
        if (alive >> slot & 1) in.Add(slot);
      }
      Shares expected;
      for (std::size_t i = 0; i < kCount; ++i) {
        std::size_t to = i;
        while ((alive >> to & 1) == 0) to = (to + 1) % kCount;
        expected[{static_cast<Slot>(to)}] += internal::WeightInDraw(kWeights[i], i == 0, i + 1 == kCount, compat);
      }
      Shares got = SharesOf(*table, in);
      if (got.size() == 1) got.begin()->second = 75;  // there is nothing to weigh
      EXPECT_EQ(got, expected) << alive;
      // Calls without a plan draw so too.
      std::vector<double> counts(kCount), shares(kCount);
      for (const auto& [slots, weight] : expected) shares[slots[0]] = static_cast<double>(weight) / 75;
      Random random(alive);
      InvokerSet place(kCount);
      for (int i = 0; i < 4000; ++i) {
        Outcomes outcomes(in, place, random, false);
        table->Route(table->Classify({"find", {}}), in, outcomes);
        ++counts[outcomes.drawn().Nth(0)];
      }
      EXPECT_TRUE(FollowShares(counts, shares)) << alive;
    }
  }
}

TEST_F(MeshRouterTest, AFallbackComesBeforeTheNextDestination) {
  Provide({At(1, "a", 1), At(2, "a", 2), At(3, "a", 3)});
  const auto table = TableOf({{"a", RuleOf({{"", {}, {{{"v1", "v3"}, 30}, {{"v2"}, 70}}}})}});
  EXPECT_THAT(SharesOf(*table, all_), ElementsAre(Pair(ElementsAre(0), 30), Pair(ElementsAre(1), 70)));
  all_.Remove(0);
  EXPECT_THAT(SharesOf(*table, all_), ElementsAre(Pair(ElementsAre(1), 70), Pair(ElementsAre(2), 30)));
  all_.Remove(2);
  EXPECT_THAT(SharesOf(*table, all_), ElementsAre(Pair(ElementsAre(1), 1)));
}

TEST_F(MeshRouterTest, ApplicationsDrawEachForItself) {
  Provide({At(1, "a", 1), At(2, "a", 2), At(3, "b", 1), At(4, "b", 2)});
  const auto half = [](std::uint32_t first, std::uint32_t second) {
    return RuleOf({{"", {}, {{{"v1"}, first}, {{"v2"}, second}}}});
  };
  EXPECT_THAT(SharesOf(*TableOf({{"a", half(1, 3)}, {"b", half(1, 1)}}), all_),
              ElementsAre(Pair(ElementsAre(0, 2), 1), Pair(ElementsAre(0, 3), 1), Pair(ElementsAre(1, 2), 3),
                          Pair(ElementsAre(1, 3), 3)));
  // The greatest weights there are, of as many as may be.
  constexpr std::uint32_t kMost = 2147483647;
  std::vector<ScopedMeshRule> rules;
  std::vector<std::string> urls;
  for (int i = 0; i < 12; ++i) {
    const std::string application = absl::StrCat("app", i);
    rules.push_back({application, half(kMost, 1)});
    urls.push_back(At(2 * i, application, 1));
    urls.push_back(At(2 * i + 1, application, 2));
  }
  Provide(urls);
  const Shares shares = SharesOf(*TableOf(rules), all_);
  EXPECT_THAT(left_out_, IsEmpty());
  EXPECT_EQ(shares.size(), 4096u);
  double sum = 0;
  for (const auto& [slots, weight] : shares) sum += static_cast<double>(weight);
  EXPECT_LT(sum, 9.3e18) << "nothing overflowed";
}

TEST_F(MeshRouterTest, WhatIsTooMuchIsLeftOut) {
  MeshRule::Detail wide{"", {}, {}};
  for (int i = 0; i < 64; ++i) wide.to.push_back({{absl::StrCat("v", i)}, 1});
  Provide({At(1, "a", 1), At(2, "b", 1), At(3, "c", 1)});
  const auto table = TableOf({{"a", RuleOf({wide})}, {"b", RuleOf({wide})}, {"c", RuleOf({wide})}});
  EXPECT_THAT(left_out_, ElementsAre("c"));
  EXPECT_THAT(Route(*table), ElementsAre(0, 1));
  left_out_.clear();
  std::vector<ScopedMeshRule> many;
  for (int i = 0; i < 40; ++i) many.push_back({absl::StrCat("app", i), RuleOf({{"", {}, {{{"v1"}}}}})});
  ASSERT_NE(TableOf(many), nullptr);
  // Each has two cases: its detail, and none.
  EXPECT_EQ(left_out_.size(), 40u - 31u);
}

TEST_F(MeshRouterTest, OnlyWhatChangedIsAskedAgain) {
  Provide({At(1, "a", 1), At(2, "a", 2), At(3, "a", 1)});
  const auto first = TableOf({{"a", RuleOf({{"", {}, {{{"v1"}}}}})}});
  Put(1, At(2, "a", 1));
  Put(2, At(3, "a", 2));
  InvokerSet changed;
  changed.Add(1);
  const auto second = Compile(*router_, &changed, first.get());
  EXPECT_THAT(Route(*second), ElementsAre(0, 1, 2)) << "slot 2 was not said to have changed";
}

}  // namespace
}  // namespace fairlead
