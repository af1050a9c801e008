#include "fairlead/directory/registry_directory.h"

#include <gmock/gmock.h>

#include <thread>

#include "fairlead/tests/directory/directory_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880", kC[] = "10.0.0.3:20880";

class RegistryDirectoryTest : public DirectoryFixture {};

TEST_F(RegistryDirectoryTest, IsNotReadyBeforeTheFirstList) {
  const auto lease = handle_->Select({});
  EXPECT_EQ(lease.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(lease.status().message(), HasSubstr("com.acme.Orders"));
}

TEST_F(RegistryDirectoryTest, NoPickSeesAListWithoutItsRules) {
  Providers({"10.0.0.1", "10.0.0.2"});
  executor_.RunReady();
  EXPECT_EQ(handle_->Select({}).status().code(), absl::StatusCode::kFailedPrecondition);
  Overrides({});
  Rules({RuleUrl("=> host=10.0.0.2")});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
}

TEST_F(RegistryDirectoryTest, RulesThatNeverComeHoldTheListBackForRulesWaitOnly) {
  Providers({"10.0.0.1"});
  executor_.Advance(milliseconds(2999));
  EXPECT_EQ(handle_->Select({}).status().code(), absl::StatusCode::kFailedPrecondition);
  executor_.Advance(milliseconds(2));
  EXPECT_EQ(PickAddress(), kA);
  EXPECT_EQ(lines_.count("FL-3-7"), 1u);
}

TEST_F(RegistryDirectoryTest, ProvidersThatComeAfterRulesWaitAreUsedAtOnce) {
  Rules({RuleUrl("=> host=10.0.0.2")});
  executor_.Advance(seconds(4));
  EXPECT_EQ(handle_->Select({}).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(lines_.count("FL-3-7"), 0u);
  Providers({"10.0.0.1", "10.0.0.2"});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  EXPECT_EQ(lines_.count("FL-3-7"), 1u);
}

TEST_F(RegistryDirectoryTest, PicksFollowTheList) {
  Open({"10.0.0.1", "10.0.0.2"});
  EXPECT_THAT(Shares(200), UnorderedElementsAre(Key(kA), Key(kB)));
  Providers({"10.0.0.2", "10.0.0.3"});
  executor_.RunReady();
  EXPECT_THAT(Shares(200), UnorderedElementsAre(Key(kB), Key(kC)));
}

TEST_F(RegistryDirectoryTest, WithoutProtectionAnEmptyListForbidsAndARuleEventDoesNotUnforbid) {
  Start(kUnprotected);
  Open({"10.0.0.1"});
  Providers({});
  executor_.RunReady();
  EXPECT_EQ(handle_->Select({}).status().code(), absl::StatusCode::kUnavailable);
  Rules({RuleUrl("=> host=10.0.0.1")});
  executor_.RunReady();
  EXPECT_EQ(handle_->Select({}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(handle_->List({}), IsEmpty());
  Providers({"10.0.0.2"});
  Rules({});
  executor_.RunReady();
  EXPECT_EQ(PickAddress(), kB);
  executor_.Advance(seconds(1));
  EXPECT_EQ(protocol_->deleted, 1);
}

TEST_F(RegistryDirectoryTest, UnknownKeepsWhatIsThere) {
  Open({"10.0.0.1"});
  Notify(Category::kProviders, ListKind::kUnknown);
  executor_.RunReady();
  EXPECT_EQ(PickAddress(), kA);
}

TEST_F(RegistryDirectoryTest, DuplicatesAreOneEndpointWithTheNewestTimestamp) {
  Open({"10.0.0.1?timestamp=1000&pid=1", "10.0.0.1?timestamp=2000&pid=2", "10.0.0.2"});
  EXPECT_EQ(protocol_->referred, 2);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  EXPECT_EQ(handle_->List({})[0].timestamp_ms(), 2000);
}

TEST_F(RegistryDirectoryTest, AChangedWeightRefersNothingAnew) {
  Open({"10.0.0.1?weight=100", "10.0.0.2?weight=100"});
  Providers({"10.0.0.1?weight=0", "10.0.0.2?weight=100"});
  executor_.RunReady();
  EXPECT_EQ(protocol_->referred, 2);
  EXPECT_EQ(protocol_->destroyed, 0);
  EXPECT_EQ(protocol_->updated, 1);
  EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kB)));
}

TEST_F(RegistryDirectoryTest, AChangedConnectionParameterReplacesTheInvokerAfterItsLease) {
  Open({"10.0.0.1"});
  absl::StatusOr<Lease> lease = handle_->Select({});
  ASSERT_TRUE(lease.ok());
  Providers({"10.0.0.1?serialization=hessian2"});
  executor_.Advance(seconds(1));
  EXPECT_EQ(protocol_->referred, 2);
  EXPECT_EQ(protocol_->destroyed, 0);
  EXPECT_TRUE(lease->As<FakeProtocol::FakeInvoker>().alive());
  lease->End(absl::OkStatus());
  executor_.Advance(milliseconds(50));
  EXPECT_EQ(protocol_->destroyed, 1);
  EXPECT_EQ(protocol_->deleted, 1);
}

TEST_F(RegistryDirectoryTest, TheDrainTimeoutClosesButDoesNotDelete) {
  Open({"10.0.0.1", "10.0.0.2"});
  absl::StatusOr<Lease> lease = handle_->Select({});
  ASSERT_TRUE(lease.ok());
  const bool first = lease->As<FakeProtocol::FakeInvoker>().address() == kA;
  Providers({first ? "10.0.0.2" : "10.0.0.1"});
  executor_.Advance(seconds(9));
  EXPECT_EQ(protocol_->destroyed, 0);
  executor_.Advance(seconds(2));
  EXPECT_EQ(protocol_->destroyed, 1);
  EXPECT_EQ(protocol_->deleted, 0);
  EXPECT_TRUE(lease->As<FakeProtocol::FakeInvoker>().alive());
  lease->End(absl::OkStatus());
  EXPECT_EQ(protocol_->deleted, 1);
}

TEST_F(RegistryDirectoryTest, AReturningProviderKeepsItsConnection) {
  Open({"10.0.0.1", "10.0.0.2"});
  std::vector<Lease> leases;
  for (int i = 0; i < 20; ++i) leases.push_back(*handle_->Select({}));
  Providers({"10.0.0.2"});
  executor_.Advance(seconds(1));
  Providers({"10.0.0.1", "10.0.0.2"});
  executor_.Advance(seconds(20));
  EXPECT_EQ(protocol_->referred, 2);
  EXPECT_EQ(protocol_->destroyed, 0);
  EXPECT_THAT(Shares(200), UnorderedElementsAre(Key(kA), Key(kB)));
}

TEST_F(RegistryDirectoryTest, LeasesOutliveTheDirectory) {
  Open({"10.0.0.1"});
  absl::StatusOr<Lease> lease = handle_->Select({});
  ASSERT_TRUE(lease.ok());
  directory_->Close(seconds(1), nullptr);
  EXPECT_EQ(handle_->Select({}).status().code(), absl::StatusCode::kCancelled);
  executor_.Advance(seconds(2));
  EXPECT_EQ(protocol_->destroyed, 1);
  EXPECT_EQ(protocol_->deleted, 0);
  EXPECT_TRUE(lease->As<FakeProtocol::FakeInvoker>().alive());
  *lease = Lease();
  EXPECT_EQ(protocol_->deleted, 1);
}

TEST_F(RegistryDirectoryTest, AFailedOrThrowingReferIsRetriedAndHurtsNobodyElse) {
  protocol_->failing = {kA};
  protocol_->throwing = {kB};
  Open({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kC)));
  EXPECT_THAT(handle_->Explain({}).skipped.size(), 2u);
  protocol_->failing.clear();
  protocol_->throwing.clear();
  executor_.Advance(seconds(60));
  EXPECT_THAT(Shares(300), UnorderedElementsAre(Key(kA), Key(kB), Key(kC)));
  EXPECT_EQ(protocol_->destroyed, 0);
}

TEST_F(RegistryDirectoryTest, ProvidersOfAnUnknownProtocolAreLeftOutAndShown) {
  Overrides({});
  Rules({});
  Notify(Category::kProviders, ListKind::kList,
         {ProviderAt("10.0.0.1"), Parse("foo://10.0.0.2:1/com.acme.Orders?interface=com.acme.Orders")});
  executor_.RunReady();
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
  ASSERT_EQ(handle_->Explain({}).skipped.size(), 1u);
  EXPECT_THAT(handle_->Explain({}).skipped[0], HasSubstr("foo://10.0.0.2:1"));
}

TEST_F(RegistryDirectoryTest, WhatIsNoProviderOrCannotBeDialledIsLeftOutAndShown) {
  Overrides({});
  Rules({});
  const std::string tail = "/com.acme.Orders?interface=com.acme.Orders";
  std::vector<Url> urls = {ProviderAt("10.0.0.1")};
  for (const char* bad : {"empty://10.0.0.5:1", "consumer://10.0.0.5:1", "override://10.0.0.5:1", "route://10.0.0.5:1",
                          "dubbo://10.0.0.2:99999", "dubbo://", "throwing://10.0.0.6:1"}) {
    urls.push_back(Parse(bad + tail));
  }
  Notify(Category::kProviders, ListKind::kList, urls);
  executor_.RunReady();
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
  EXPECT_EQ(handle_->Explain({}).skipped.size(), 7u);
  EXPECT_EQ(lines_.count("FL-3-8"), 1u);
}

TEST_F(RegistryDirectoryTest, AListThatCannotBeReadKeepsTheLastOneAndSaysSo) {
  Open({"10.0.0.1"});
  Notify(Category::kProviders, ListKind::kUnknown);
  executor_.RunReady();
  EXPECT_EQ(PickAddress(), kA);
  ASSERT_EQ(handle_->Explain({}).skipped.size(), 1u);
  EXPECT_THAT(handle_->Explain({}).skipped[0], HasSubstr("providers"));
  Providers({"10.0.0.2"});
  executor_.RunReady();
  EXPECT_THAT(handle_->Explain({}).skipped, IsEmpty());
}

TEST_F(RegistryDirectoryTest, TheConsumersProtocolListFilters) {
  Start("consumer://10.0.0.9/com.acme.Orders?protocol=tri,rest");
  Open({"10.0.0.1"});
  EXPECT_EQ(handle_->Select({}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(RegistryDirectoryTest, OverridesComeFromTheOriginalAndTheLastDeleteRestores) {
  Open({"10.0.0.1?weight=100", "10.0.0.2?weight=100"});
  Overrides({"override://10.0.0.1:20880/com.acme.Orders?category=configurators&dynamic=false&weight=0"});
  executor_.RunReady();
  EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kB)));
  Overrides({});
  executor_.RunReady();
  EXPECT_THAT(Shares(300), UnorderedElementsAre(Key(kA), Key(kB)));
  EXPECT_EQ(handle_->List({})[0].Param("weight"), "100");
  EXPECT_EQ(protocol_->referred, 2);
}

TEST_F(RegistryDirectoryTest, DisablingTheLastProviderLeavesNone) {
  Open({"10.0.0.1", "10.0.0.2"});
  Overrides({"override://0.0.0.0/com.acme.Orders?category=configurators&dynamic=false&disabled=true"});
  executor_.RunReady();
  const auto lease = handle_->Select({});
  EXPECT_EQ(lease.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(lease.status().message(), HasSubstr("disabled"));
  Overrides({});
  executor_.RunReady();
  EXPECT_THAT(Shares(200), UnorderedElementsAre(Key(kA), Key(kB)));
}

TEST_F(RegistryDirectoryTest, ABadRuleIsSkippedAloneLoggedOnceAndShown) {
  Overrides({});
  Rules({RuleUrl("=> host=10.0.0.2"), RuleUrl("host == x => host=10.0.0.1"),
         Parse("route://0.0.0.0/com.acme.Orders?category=routers&router=nosuch&rule=x")});
  Providers({"10.0.0.1", "10.0.0.2"});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  EXPECT_EQ(handle_->Explain({}).skipped.size(), 2u);
  EXPECT_EQ(lines_.count("FL-3-5"), 2u) << "each bad rule is named once";
  EXPECT_EQ(log_.Count("FL-3-5"), 2u);
}

TEST_F(RegistryDirectoryTest, AMethodRuleHoldsForThatMethodAlsoWhenNamedLater) {
  Open({"10.0.0.1?region=hz", "10.0.0.2?region=sh"});
  Rules({RuleUrl("method=get => region=hz")});
  executor_.RunReady();
  const MethodId get = handle_->Method("get");
  // Before the next snapshot knows the method, and after.
  EXPECT_THAT(Shares(50, {.method = get}), UnorderedElementsAre(Key(kA)));
  EXPECT_EQ(handle_->Explain({.method = get}).plan, "walk, no plan built yet");
  executor_.RunReady();
  EXPECT_EQ(handle_->Explain({.method = get}).plan, "class");
  EXPECT_THAT(Shares(50, {.method = get}), UnorderedElementsAre(Key(kA)));
  EXPECT_THAT(Shares(200, {.method = handle_->Method("put")}), UnorderedElementsAre(Key(kA), Key(kB)));
}

TEST_F(RegistryDirectoryTest, RuntimeRulesDecideTheSameBeforeAndAfterTheirPlanIsBuilt) {
  Open({"10.0.0.1?region=hz", "10.0.0.2?region=sh", "10.0.0.3?region=hz"});
  Rules({RuleUrl("arguments[0]=vip => region=sh"), RuleUrl("attachments[zone]=a => host!=10.0.0.1")});
  executor_.RunReady();
  const Argument vip[] = {{"vip"}}, plain[] = {{"x"}};
  const Attachment zone[] = {{"zone", "a"}};
  EXPECT_TRUE(handle_->Needs(MethodId::kAny).arguments);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(Shares(50, {.arguments = vip}), UnorderedElementsAre(Key(kB)));
    EXPECT_THAT(Shares(200, {.arguments = plain}), UnorderedElementsAre(Key(kA), Key(kB), Key(kC)));
    EXPECT_THAT(Shares(200, {.arguments = plain, .attachments = zone}), UnorderedElementsAre(Key(kB), Key(kC)));
    executor_.Advance(milliseconds(25));
  }
  EXPECT_EQ(handle_->Explain({.arguments = vip}).plan, "hit");
  // Plans that were used are built ahead when the list changes.
  Providers({"10.0.0.1?region=hz", "10.0.0.2?region=sh"});
  executor_.RunReady();
  EXPECT_EQ(handle_->Explain({.arguments = vip}).plan, "hit");
}

TEST_F(RegistryDirectoryTest, AForcedRuleThatLeavesNobodyNamesItself) {
  Open({"10.0.0.1"});
  Rules({RuleUrl("=> host=10.9.9.9")});
  executor_.RunReady();
  const auto lease = handle_->Select({});
  EXPECT_EQ(lease.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(lease.status().message(), HasSubstr("10.9.9.9"));
  EXPECT_THAT(lease.status().message(), HasSubstr("condition"));
}

TEST_F(RegistryDirectoryTest, TriedProvidersAreAvoidedWhileAnotherIsLeft) {
  Open({"10.0.0.1", "10.0.0.2"});
  for (int i = 0; i < 50; ++i) {
    absl::StatusOr<Lease> first = handle_->Select({});
    ASSERT_TRUE(first.ok());
    const ProviderId tried[] = {first->provider_id()};
    absl::StatusOr<Lease> second = handle_->Select({}, tried);
    ASSERT_TRUE(second.ok());
    EXPECT_NE(first->provider_id(), second->provider_id());
    const ProviderId both[] = {tried[0], second->provider_id()};
    EXPECT_TRUE(handle_->Select({}, both).ok());
  }
}

TEST_F(RegistryDirectoryTest, ADownProviderIsSkippedAtOnceAndAllDownIsAReadyError) {
  Open({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  protocol_->reports[kB].Down();
  executor_.RunReady();
  const auto shares = Shares(3000);
  EXPECT_THAT(shares, UnorderedElementsAre(Key(kA), Key(kC)));
  // Nobody inherits the dead one's share alone: 1 500 expected each, 4 sigma = 110.
  EXPECT_NEAR(shares.at(kA), 1500, 110);
  protocol_->reports[kA].Down();
  protocol_->reports[kC].Down();
  executor_.Advance(milliseconds(11));
  EXPECT_THAT(PickAddress(), HasSubstr("all 3 are down"));
  protocol_->reports[kB].Up();
  executor_.Advance(milliseconds(11));
  EXPECT_EQ(PickAddress(), kB);
}

TEST_F(RegistryDirectoryTest, WeightsWarmUpAsTimePasses) {
  const std::int64_t now = clock_.SystemMillis();
  Open({"10.0.0.1?warmup=600000&weight=100&timestamp=" + std::to_string(now - 60000), "10.0.0.2?weight=100"});
  const auto weight_of = [&](const char* address) {
    for (int i = 0; i < 200; ++i) {
      const PickTrace trace = handle_->Explain({});
      if (trace.chosen == address) return trace.weight;
      (void)handle_->Select({});
    }
    return -1;
  };
  EXPECT_EQ(weight_of(kA), 10);
  EXPECT_EQ(weight_of(kB), 100);
  executor_.Advance(seconds(240));
  EXPECT_EQ(weight_of(kA), 50);
  executor_.Advance(seconds(600));
  EXPECT_EQ(weight_of(kA), 100);
}

TEST_F(RegistryDirectoryTest, ChangesThatAreQueuedMakeOneUpdate) {
  Open({"10.0.0.1"});
  const std::uint64_t before = handle_->Explain({}).snapshot;
  Providers({"10.0.0.2"});
  Rules({RuleUrl("=> host=10.0.0.2")});
  Overrides({"override://0.0.0.0/com.acme.Orders?category=configurators&timeout=5"});
  Providers({"10.0.0.3", "10.0.0.2"});
  executor_.RunReady();
  EXPECT_EQ(handle_->Explain({}).snapshot, before + 1);
  EXPECT_EQ(PickAddress(), kB);
}

TEST_F(RegistryDirectoryTest, ExplainShowsRoutersPolicyAndChoice) {
  Open({"10.0.0.1?region=hz", "10.0.0.2?region=sh"});
  Rules({RuleUrl("method=get => region=hz")});
  executor_.RunReady();
  const MethodId get = handle_->Method("get");
  executor_.RunReady();
  const PickTrace trace = handle_->Explain({.method = get});
  ASSERT_EQ(trace.routers.size(), 1u);
  EXPECT_EQ(trace.routers[0].in, 2u);
  EXPECT_EQ(trace.routers[0].out, 1u);
  EXPECT_FALSE(trace.routers[0].runtime);
  EXPECT_THAT(trace.routers[0].what, HasSubstr("region=hz"));
  EXPECT_EQ(trace.chosen, kA);
  EXPECT_TRUE(trace.status.ok());
  EXPECT_THAT(trace.ToString(), HasSubstr("2 -> 1"));
  EXPECT_THAT(trace.ToString(), HasSubstr(kA));
}

TEST_F(RegistryDirectoryTest, ExplainTakesNoLeaseAndMovesNoPosition) {
  Start("consumer://10.0.0.9/com.acme.Orders?loadbalance=roundrobin");
  Open({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
  std::vector<std::string> with, without;
  for (int i = 0; i < 9; ++i) {
    without.push_back(PickAddress());
  }
  for (int i = 0; i < 9; ++i) {
    for (int j = 0; j < 4; ++j) (void)handle_->Explain({});
    with.push_back(PickAddress());
  }
  EXPECT_EQ(with, without) << "nine picks are three rounds";
}

TEST_F(RegistryDirectoryTest, ASingleProviderMovesNoPosition) {
  Start("consumer://10.0.0.9/com.acme.Orders?loadbalance=roundrobin&roundrobin.scope=global");
  const std::vector<std::string> all = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
  Open(all);
  EXPECT_EQ(PickAddress(), kA);
  EXPECT_EQ(PickAddress(), kB);
  // Two lists of one, so that the position outlives a second leaf that does not move it.
  for (const char* alone : {"10.0.0.1", "10.0.0.3"}) {
    Providers({alone});
    executor_.RunReady();
    for (int i = 0; i < 2; ++i) EXPECT_EQ(PickAddress(), std::string(alone) + ":20880");
  }
  Providers(all);
  executor_.RunReady();
  std::string turns;
  for (int i = 0; i < 6; ++i) turns += PickAddress().substr(7, 1);
  EXPECT_EQ(turns, "312312");
}

TEST_F(RegistryDirectoryTest, WithSelectedHandsOverAnInvoker) {
  Start(kUnprotected);
  Open({"10.0.0.1"});
  std::string seen;
  EXPECT_TRUE(handle_
                  ->WithSelected({}, [&](const Invoker& invoker) noexcept {
                    seen = invoker.url().Address();
                  })
                  .ok());
  EXPECT_EQ(seen, kA);
  Providers({});
  executor_.RunReady();
  EXPECT_EQ(handle_->WithSelected({}, [](const Invoker&) noexcept {}).code(), absl::StatusCode::kUnavailable);
}

TEST_F(RegistryDirectoryTest, AwaitReadyIsToldOnceEitherWay) {
  std::vector<absl::StatusCode> told;
  handle_->AwaitReady(seconds(1), [&](absl::Status status) { told.push_back(status.code()); });
  executor_.Advance(seconds(2));
  handle_->AwaitReady(seconds(1), [&](absl::Status status) { told.push_back(status.code()); });
  executor_.RunReady();
  Open({"10.0.0.1"});
  executor_.Advance(seconds(2));
  EXPECT_THAT(told, ElementsAre(absl::StatusCode::kDeadlineExceeded, absl::StatusCode::kOk));
}

TEST_F(RegistryDirectoryTest, TheMethodFormOfAPolicyWins) {
  Open({"10.0.0.1?loadbalance=random&get.loadbalance=roundrobin", "10.0.0.2"});
  const MethodId get = handle_->Method("get");
  executor_.RunReady();
  EXPECT_THAT(handle_->Explain({.method = get}).policy, HasSubstr("roundrobin"));
  EXPECT_THAT(handle_->Explain({}).policy, HasSubstr("random"));
}

// Readers at full speed while lists change: no failed pick, no touched corpse (each invoker is poisoned when
// deleted).
TEST_F(RegistryDirectoryTest, PicksNeverFailWhileListsChange) {
  Open({"10.0.0.1", "10.0.0.2"});
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0}, dead{0};
  std::atomic<long> picks{0};
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      while (!stop) {
        absl::StatusOr<Lease> lease = handle_->Select({});
        failed += !lease.ok();
        if (lease.ok()) dead += !lease->As<FakeProtocol::FakeInvoker>().alive();
        dead += !handle_->WithSelected({}, [](const Invoker& invoker) noexcept {
                          if (!static_cast<const FakeProtocol::FakeInvoker&>(invoker).alive()) std::terminate();
                        }).ok();
        ++picks;
      }
    });
  }
  for (int round = 0; round < 400 || picks < 2000; ++round) {
    Providers({"10.0.1." + std::to_string(round % 200), "10.0.0." + std::to_string(round % 3)});
    if (round % 7 == 0) Rules({RuleUrl("=> host!=10.9.9." + std::to_string(round), "force=false")});
    executor_.Advance(milliseconds(30));
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(dead, 0);
}

}  // namespace
}  // namespace fairlead
