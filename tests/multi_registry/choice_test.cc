// Modes zone-aware and failover: a list for each registry, of which every call chooses one.
#include <map>

#include "fairlead/tests/multi_registry/world.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr RegistryMode kZoneAware = RegistryMode::kZoneAware, kFailover = RegistryMode::kFailover;

struct ChoiceTest : ::testing::Test, MultiRegistryWorld {
  void SetUp() override {
    Put("a", 1);
    Put("b", 2);
    Put("c", 3);
  }
  static double ShareOf(const Directory& directory, int host, int picks = 4000) {
    int hits = 0;
    for (int i = 0; i < picks; ++i) hits += HostOf((*directory.Select({})).invoker().url()) == host;
    return double(hits) / picks;
  }
};

TEST_F(ChoiceTest, ThePreferredRegistryComesFirst) {
  const auto orders = *Refer({"memory://a", "memory://b?preferred=true", "memory://c?registry.preferred=true"}, kZoneAware,
                             "&enable-empty-protection=false");
  EXPECT_THAT(Picked(*orders), ElementsAre(2));
  EXPECT_THAT(List(*orders), ElementsAre(2));
  const Attachment zone[] = {{"registry_zone", "x"}, {"registry_zone_force", "true"}};
  EXPECT_THAT(Picked(*orders, {.attachments = zone}), ElementsAre(2)) << "before any zone, as in Dubbo";
  Remove("b", 2);
  EXPECT_THAT(Picked(*orders), ElementsAre(3));
  Remove("c", 3);
  EXPECT_THAT(Picked(*orders), ElementsAre(1));
  Put("b", 4);
  EXPECT_THAT(Picked(*orders), ElementsAre(4));
  const PickTrace trace = orders->Explain({});
  EXPECT_EQ(trace.choice, "registry memory://b: the first live one that is preferred");
  EXPECT_THAT(trace.ToString(), AllOf(HasSubstr("of registry memory://a  1 providers, 1 live  weight 100\n"),
                                      HasSubstr("chosen: registry memory://b: the first live")));
}

TEST_F(ChoiceTest, TheZoneOfTheCallDecides) {
  const auto orders = *Refer({"memory://a?zone=hz", "memory://b?zone=sh", "memory://c?registry.zone=bj"}, kZoneAware,
                             "&enable-empty-protection=false");
  EXPECT_THAT(Picked(*orders), ElementsAre(1, 2, 3));
  EXPECT_THAT(List(*orders), ElementsAre(1, 2, 3));
  EXPECT_TRUE(orders->Needs(MethodId::kAny).attachments);
  for (const auto& [zone, host] : std::map<std::string, int>{{"hz", 1}, {"sh", 2}, {"bj", 3}}) {
    const Attachment attachments[] = {{"registry_zone", zone}};
    EXPECT_THAT(Picked(*orders, {.attachments = attachments}), ElementsAre(host));
    EXPECT_THAT(List(*orders, {.attachments = attachments}), ElementsAre(host));
  }
  const Attachment wish[] = {{"registry_zone", "sh"}}, forced[] = {{"registry_zone", "sh"}, {"registry_zone_force", "TRUE"}};
  Remove("b", 2);
  EXPECT_THAT(Picked(*orders, {.attachments = wish}), ElementsAre(1, 3));
  const absl::Status status = orders->Select({.attachments = forced}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("zone 'sh'"), HasSubstr("memory://b (zone sh): no enabled provider")));
  EXPECT_THAT(List(*orders, {.attachments = forced}), IsEmpty());
  EXPECT_THAT(orders->Explain({.attachments = forced}).choice, HasSubstr("which is forced"));
  EXPECT_EQ(orders->Explain({.attachments = forced}).status, status);
}

TEST_F(ChoiceTest, TheZoneOfTheConsumerHoldsForCallsThatNameNone) {
  const auto orders = *Refer({"memory://a?zone=hz", "memory://b?zone=sh"}, kZoneAware, "&registry_zone=sh&registry_zone_force=true");
  EXPECT_THAT(Picked(*orders), ElementsAre(2));
  const Attachment other[] = {{"registry_zone", "hz"}}, nowhere[] = {{"registry_zone", "x"}};
  EXPECT_THAT(Picked(*orders, {.attachments = other}), ElementsAre(1));
  EXPECT_THAT(Picked(*orders, {.attachments = nowhere}), ElementsAre(1, 2)) << "the force belongs to the zone that it came with";
}

TEST_F(ChoiceTest, WeightsAreKeptAmongThoseThatLive) {
  const auto orders = *Refer({"memory://a?weight=300", "memory://b?registry.weight=100", "memory://c?weight=0"}, kZoneAware,
                             "&enable-empty-protection=false");
  EXPECT_NEAR(ShareOf(*orders, 1), 0.75, 0.03);
  EXPECT_NEAR(ShareOf(*orders, 2), 0.25, 0.03);
  Remove("a", 1);
  EXPECT_THAT(Picked(*orders), ElementsAre(2));
  Remove("b", 2);
  EXPECT_THAT(Picked(*orders), ElementsAre(3)) << "without any weight the first that lives";
  Remove("c", 3);
  const absl::Status status = orders->Select({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("memory://a"), HasSubstr("memory://b"), HasSubstr("memory://c")));
}

TEST_F(ChoiceTest, FailoverGoesToTheFirstThatLivesAndComesBack) {
  const auto orders = *Refer({"memory://a", "memory://b", "memory://c"}, kFailover, "&enable-empty-protection=false");
  EXPECT_THAT(Picked(*orders), ElementsAre(1));
  EXPECT_EQ(orders->Explain({}).choice, "registry memory://a: the first live one in the order of the list");
  protocol->unavailable.insert("10.0.0.1:20880");
  protocol->reports.at("10.0.0.1:20880").Down();
  EXPECT_THAT(Picked(*orders), ElementsAre(2)) << "by the report, before any table";
  Settle();
  EXPECT_THAT(Picked(*orders), ElementsAre(2));
  Remove("b", 2);
  EXPECT_THAT(Picked(*orders), ElementsAre(3));
  protocol->unavailable.clear();
  protocol->reports.at("10.0.0.1:20880").Up();
  Settle();
  EXPECT_THAT(Picked(*orders), ElementsAre(1));
}

TEST_F(ChoiceTest, ARetryLeavesARegistryWhoseProvidersWereTried) {
  Put("a", 4);
  const auto orders = *Refer({"memory://a", "memory://b"}, kFailover);
  std::vector<ProviderId> tried;
  std::vector<int> hosts;
  for (int i = 0; i < 4; ++i) {
    const absl::StatusOr<Lease> lease = orders->Select({}, tried);
    ASSERT_TRUE(lease.ok());
    tried.push_back(lease->provider_id());
    hosts.push_back(HostOf(lease->invoker().url()));
  }
  EXPECT_EQ(std::set<int>(hosts.begin(), hosts.begin() + 2), (std::set<int>{1, 4})) << "avoided within the registry first";
  EXPECT_EQ(hosts[2], 2);
  EXPECT_TRUE(hosts[3] == 1 || hosts[3] == 4) << "all were tried: the first registry again";
  EXPECT_EQ(std::set<ProviderId>(tried.begin(), tried.begin() + 3).size(), 3u);
  const PickTrace trace = orders->Explain({}, PickTrace::Detail::kAll);
  for (const auto& line : trace.all) EXPECT_EQ(line.active, 0u) << "what was looked at only is given back";
}

TEST_F(ChoiceTest, RulesThatLeaveNobodyAreNotGoneAround) {
  EXPECT_TRUE(store("a").Put("route://0.0.0.0/com.acme.Orders?category=routers&force=true&interface=com.acme.Orders&rule=" +
                             PercentEncode("method=pay => false")).ok());
  const auto orders = *Refer({"memory://a", "memory://b"}, kFailover);
  EXPECT_EQ(orders->Select({.method = orders->Method("pay")}).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Picked(*orders, {.method = orders->Method("get")}), ElementsAre(1)) << "each registry has its own rules";
}

TEST_F(ChoiceTest, MethodsHaveOneNumberInAllRegistries) {
  EXPECT_TRUE(store("b").Put("route://0.0.0.0/com.acme.Orders?category=routers&force=true&interface=com.acme.Orders&rule=" +
                             PercentEncode("method=pay => host=10.0.0.5")).ok());
  Put("b", 5);
  const auto orders = *Refer({"memory://a?weight=0", "memory://b"}, kZoneAware);
  const MethodId get = orders->Method("get"), pay = orders->Method("pay");
  EXPECT_EQ(orders->Method("get"), get);
  Settle();
  EXPECT_THAT(Picked(*orders, {.method = get}), ElementsAre(2, 5));
  EXPECT_THAT(Picked(*orders, {.method = pay}), ElementsAre(5));
}

TEST_F(ChoiceTest, StatsProtectionAndMetricsAreOfAll) {
  const auto orders = *Refer({"memory://a", "memory://b"}, kZoneAware);
  EXPECT_EQ(orders->Stats().providers, 2u);
  EXPECT_EQ(orders->Stats().valid, 2u);
  Remove("b", 2);
  EXPECT_GT(orders->Stats().protected_for, std::chrono::nanoseconds(0));
  executor->Advance(seconds(10));
  double providers = 0;
  int directories = 0;
  for (const MetricSample& one : samples) {
    if (one.name != "fairlead_directory_providers") continue;
    ++directories;
    providers += one.value;
  }
  EXPECT_EQ(directories, 1);
  EXPECT_EQ(providers, 2);
  orders->ClearProtection();
  Settle();
  EXPECT_EQ(orders->Stats().providers, 1u);
  EXPECT_EQ(orders->Stats().protected_for, std::chrono::nanoseconds(0));
  EXPECT_EQ(orders->consumer().ServiceInterface(), "com.acme.Orders");
}

TEST_F(ChoiceTest, AShutdownCancelsPicksOfAll) {
  const auto orders = *Refer({"memory://a", "memory://b"}, kZoneAware);
  absl::StatusOr<Lease> lease = orders->Select({});
  std::optional<absl::Status> ended;
  runtime->Shutdown(milliseconds(100), [&](absl::Status status) { ended = status; });
  executor->Advance(seconds(5));
  EXPECT_EQ(ended, absl::OkStatus());
  EXPECT_EQ(orders->Select({}).status().code(), absl::StatusCode::kCancelled);
  std::optional<absl::Status> ready;
  orders->AwaitReady(seconds(1), [&](absl::Status status) { ready = status; });
  Settle();
  EXPECT_EQ(ready->code(), absl::StatusCode::kCancelled);
  lease->End(absl::OkStatus());
}

}  // namespace
}  // namespace fairlead
