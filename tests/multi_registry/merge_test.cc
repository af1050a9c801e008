// Mode merge: one list out of several registries.
#include "fairlead/tests/multi_registry/world.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr RegistryMode kMerge = RegistryMode::kMerge;

struct MergeTest : ::testing::Test, MultiRegistryWorld {
  const std::vector<std::string> both = {"memory://a", "memory://b"};
  void Rule(const std::string& name, const std::string& rule) {
    EXPECT_TRUE(store(name).Put("route://0.0.0.0/com.acme.Orders?category=routers&force=true&interface=com.acme.Orders&rule=" +
                                PercentEncode(rule)).ok());
    Settle();
  }
  void Override(const std::string& name, const std::string& params) {
    EXPECT_TRUE(store(name).Put("override://0.0.0.0/com.acme.Orders?category=configurators&interface=com.acme.Orders&" + params).ok());
    Settle();
  }
};

// apache/dubbo 3084: the same service in two registries, and only one was used.
TEST_F(MergeTest, ProvidersOfAllRegistriesAreUsed) {
  Put("a", 1);
  Put("b", 2);
  const auto orders = *Refer(both, kMerge);
  EXPECT_THAT(List(*orders), ElementsAre(1, 2));
  EXPECT_THAT(Picked(*orders), ElementsAre(1, 2));
  Put("b", 3);
  Remove("a", 1);
  Put("a", 4);
  EXPECT_THAT(Picked(*orders), ElementsAre(2, 3, 4));
  EXPECT_EQ(orders->Stats().providers, 3u);
}

TEST_F(MergeTest, TheBracedListAndTheParameterOfTheConsumerDoTheSame) {
  Put("a", 1);
  Put("b", 2);
  const auto orders = *Refer(both, RegistryMode::kFailover, "&registry.mode=merge");
  EXPECT_THAT(List(*orders), ElementsAre(1, 2));
  EXPECT_EQ(Refer(both, kMerge, "&registry.mode=all").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refer({}, kMerge).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(MergeTest, AProviderInTwoRegistriesIsOneAndLeavesWithTheLast) {
  Put("a", 1, "&timestamp=5&pid=1");
  Put("b", 1, "&timestamp=6&pid=2");
  Put("b", 2);
  const auto orders = *Refer(both, kMerge, "&enable-empty-protection=false");
  EXPECT_EQ(protocol->referred, 2);
  EXPECT_EQ(orders->Stats().providers, 2u);
  absl::StatusOr<Lease> lease = orders->Select({});
  while (HostOf(lease->invoker().url()) != 1) lease = orders->Select({});
  Remove("a", 1, "&timestamp=5&pid=1");
  EXPECT_THAT(Picked(*orders), ElementsAre(1, 2));
  EXPECT_EQ(orders->Explain({}, PickTrace::Detail::kAll).all[0].active, 1u) << "the same state, whose lease is out";
  Put("a", 1, "&timestamp=5&pid=1&weight=7");
  Remove("b", 1, "&timestamp=6&pid=2");
  EXPECT_THAT(Picked(*orders), ElementsAre(1, 2));
  EXPECT_EQ(protocol->referred, 2);
  EXPECT_EQ(protocol->destroyed, 0);
  Remove("a", 1, "&timestamp=5&pid=1&weight=7");
  EXPECT_THAT(Picked(*orders), ElementsAre(2));
  lease->End(absl::OkStatus());
  executor->Advance(seconds(1));
  EXPECT_EQ(protocol->destroyed, 1);
}

TEST_F(MergeTest, TheNewestTimestampSpeaksForAProvider) {
  Put("a", 1, "&timestamp=5&weight=10");
  Put("b", 1, "&timestamp=6&weight=20");
  const auto orders = *Refer(both, kMerge);
  ASSERT_EQ(orders->List({}).size(), 1u);
  EXPECT_EQ(orders->List({})[0].Param("weight"), "20");
  Remove("b", 1, "&timestamp=6&weight=20");
  EXPECT_EQ(orders->List({})[0].Param("weight"), "20") << "b's list is protected";
  orders->ClearProtection();
  Settle();
  EXPECT_EQ(orders->List({})[0].Param("weight"), "10");
  EXPECT_EQ(protocol->referred, 1);
}

TEST_F(MergeTest, EachRegistryHasItsOwnProtection) {
  Put("a", 1);
  Put("b", 2);
  const auto orders = *Refer({"memory://a?protect-max-age=60000", "memory://b"}, kMerge);
  Remove("a", 1);
  EXPECT_THAT(Picked(*orders), ElementsAre(1, 2)) << "all of a's at once";
  EXPECT_GT(orders->Stats().protected_for, std::chrono::nanoseconds(0));
  EXPECT_THAT(orders->Explain({}).protection, AllOf(HasSubstr("registry memory://a lists no provider"), HasSubstr("its last 1 stay")));
  Put("b", 3);
  Remove("b", 2);
  EXPECT_THAT(Picked(*orders), ElementsAre(1, 3)) << "what b says is obeyed meanwhile";
  executor->Advance(seconds(61));
  EXPECT_THAT(Picked(*orders), ElementsAre(3));
  EXPECT_EQ(orders->Stats().protected_for, std::chrono::nanoseconds(0));
  Remove("b", 3);
  EXPECT_THAT(Picked(*orders), ElementsAre(3));
  Put("a", 4);
  EXPECT_THAT(Picked(*orders), ElementsAre(3, 4)) << "a's word ends no protection of b's";
  Put("b", 5);
  EXPECT_THAT(Picked(*orders), ElementsAre(4, 5));
  Remove("a", 4);
  Remove("b", 5);
  EXPECT_THAT(Picked(*orders), ElementsAre(4, 5));
  orders->ClearProtection();
  Settle();
  EXPECT_EQ(orders->Select({}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(MergeTest, WithoutProtectionAnEmptyListHoldsAtOnceForItsRegistryAlone) {
  Put("a", 1);
  Put("b", 2);
  const auto orders = *Refer({"memory://a?enable-empty-protection=false", "memory://b"}, kMerge);
  Remove("a", 1);
  EXPECT_THAT(Picked(*orders), ElementsAre(2));
  Remove("b", 2);
  EXPECT_THAT(Picked(*orders), ElementsAre(2));
}

// A wiped registry lost its overrides with its providers: a provider that it had disabled must not get calls.
TEST_F(MergeTest, WhatARegistryLosesWithAllItsProvidersStaysWithThem) {
  Put("a", 1);
  Put("a", 2);
  Put("b", 3);
  EXPECT_TRUE(store("a").Put("override://10.0.0.2:20880/com.acme.Orders?category=configurators&interface=com.acme.Orders&disabled=true").ok());
  const auto orders = *Refer(both, kMerge);
  EXPECT_THAT(Picked(*orders), ElementsAre(1, 3));
  store("a").RemoveService("com.acme.Orders");
  executor->Advance(seconds(60));
  EXPECT_THAT(Picked(*orders), ElementsAre(1, 3));
  orders->ClearProtection();
  Settle();
  EXPECT_THAT(Picked(*orders), ElementsAre(3));
}

TEST_F(MergeTest, ProvidersThatWereDisabledBeforeAreNotProtected) {
  Put("a", 1, "&disabled=true");
  Put("b", 2);
  const auto orders = *Refer(both, kMerge);
  Remove("a", 1, "&disabled=true");
  EXPECT_EQ(orders->Stats().protected_for, std::chrono::nanoseconds(0));
  EXPECT_THAT(Picked(*orders), ElementsAre(2));
}

TEST_F(MergeTest, RulesAndOverridesOfEveryRegistryApplyToAll) {
  for (int i = 1; i <= 4; ++i) Put(i % 2 == 0 ? "b" : "a", i, i <= 2 ? "&region=hz" : "&region=sh");
  Rule("a", " => region=hz");
  Override("b", "weight=7");
  const auto orders = *Refer(both, kMerge);
  EXPECT_THAT(List(*orders), ElementsAre(1, 2)) << "a's rule, of b's providers too";
  for (const Url& url : orders->List({})) EXPECT_EQ(url.Param("weight"), "7");
  Rule("b", " => host=10.0.0.2");
  EXPECT_THAT(List(*orders), ElementsAre(2)) << "one after the other";
  Rule("b", " => region=hz");  // the same as a's
  const PickTrace trace = orders->Explain({});
  EXPECT_EQ(trace.routers.size(), 2u) << trace.ToString();
  // Where two set one parameter, the later registry's holds.
  Override("a", "weight=3");
  EXPECT_EQ(orders->List({})[0].Param("weight"), "7");
}

constexpr char kDocument[] = "enabled: true\nforce: true\nkey: com.acme.Orders\nscope: service\nconditions:\n  - \" => host=10.0.0.";
std::string To(int host) { return kDocument + std::to_string(host) + "\"\n"; }
constexpr char kName[] = "com.acme.Orders::.condition-router";

TEST_F(MergeTest, OfOneDocumentTheFirstRegistryThatHasItDecides) {
  for (int i = 1; i <= 3; ++i) Put("a", i);
  store("b").SetConfig("dubbo", kName, To(2));
  const auto orders = *Refer(both, kMerge);
  EXPECT_THAT(List(*orders), ElementsAre(2)) << "only b has one";
  store("a").SetConfig("dubbo", kName, To(2));
  Settle();
  EXPECT_EQ(orders->Explain({}).routers.size(), 1u) << "the same document twice is one";
  EXPECT_EQ(lines.count("FL-4-4"), 0u);
  store("a").SetConfig("dubbo", kName, To(1));
  Settle();
  EXPECT_THAT(List(*orders), ElementsAre(1));
  EXPECT_EQ(lines.count("FL-4-4"), 1u);
  EXPECT_THAT(orders->Explain({}).skipped, Contains(HasSubstr("there is another text of it in registry memory://b")));
  store("b").SetConfig("dubbo", kName, To(3));
  Settle();
  EXPECT_THAT(List(*orders), ElementsAre(1));
  store("a").SetConfig("dubbo", kName, std::nullopt);
  Settle();
  EXPECT_THAT(List(*orders), ElementsAre(3));
  store("b").SetConfig("dubbo", kName, std::nullopt);
  Settle();
  EXPECT_THAT(List(*orders), ElementsAre(1, 2, 3));
  EXPECT_THAT(orders->Explain({}).skipped, Each(Not(HasSubstr("another text"))));
}

TEST_F(MergeTest, AttachmentsTellRegistriesApart) {
  Put("a", 1);
  Put("b", 2, "&zone=own");
  Rule("a", "method=get => zone=hz");
  const auto orders = *Refer({"memory://a?attachments=zone=hz,rack=r1,bad", "memory://b?attachments=zone=sh"}, kMerge);
  EXPECT_THAT(List(*orders, {.method = orders->Method("get")}), ElementsAre(1));
  EXPECT_THAT(List(*orders), ElementsAre(1, 2));
  for (const Url& url : orders->List({})) EXPECT_EQ(url.Param("zone"), HostOf(url) == 1 ? "hz" : "own");
  EXPECT_EQ(lines.count("FL-4-2"), 1u);
}

TEST_F(MergeTest, TheEndOfTheHandleEndsAllOfIt) {
  Put("a", 1);
  Put("b", 2);
  auto orders = *Refer(both, kMerge);
  executor->Advance(seconds(10));
  int subscriptions = 0;
  for (const MetricSample& one : samples) subscriptions += one.name == "fairlead_registry_subscriptions" ? int(one.value) : 0;
  EXPECT_EQ(subscriptions, 2);
  orders.reset();
  executor->Advance(seconds(12));
  EXPECT_EQ(protocol->destroyed, 2);
  for (const MetricSample& one : samples) EXPECT_NE(one.name, "fairlead_registry_subscriptions");
}

}  // namespace
}  // namespace fairlead
