// Providers that vanish without a word.
#include "fairlead/registry/failback_registry.h"
#include "fairlead/tests/registry/multicast/multicast_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class MulticastRoundsTest : public MulticastFixture {};

TEST_F(MulticastRoundsTest, AProviderThatWasKilledIsDroppedAfterARoundAndTwoProbes) {
  auto provider = Join("", "10.0.0.1");
  const auto other = Join("", "10.0.0.2"), consumer = Consumer();
  provider->Put(P(1));
  other->Put(P(2));
  Advance(seconds(2));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1), P(2)));
  provider.reset();  // without a word
  Advance(seconds(90));
  EXPECT_THAT(consumer->last(), ElementsAre(P(2)));
  EXPECT_EQ(std::count(group_.probed.begin(), group_.probed.end(), "10.0.0.1:20880"), 2);
  EXPECT_THAT(group_.probed, Not(Contains("10.0.0.2:20880"))) << "it answers";
  EXPECT_EQ(log_.count("FL-7-3"), 1u);
  EXPECT_EQ(group_.CountSent("unregister"), 0) << "another consumer may reach it";
  // It comes back.
  group_.Inject("register " + P(1));
  Advance(seconds(2));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1), P(2)));
}

TEST_F(MulticastRoundsTest, WhoTakesConnectionsStays) {
  const auto consumer = Consumer();
  group_.Inject("register " + P(1));
  group_.listening = {"10.0.0.1:20880"};
  Advance(seconds(600));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1)));
  EXPECT_THAT(group_.probed, SizeIs(Gt(5u)));
  EXPECT_THAT(group_.probed, SizeIs(::testing::Lt(15u))) << "once a round";
}

TEST_F(MulticastRoundsTest, WhoIsHeardOfBetweenTheProbesStays) {
  const auto consumer = Consumer();
  group_.Inject("register " + P(1));
  while (group_.probed.empty()) Advance(milliseconds(5));
  Advance(milliseconds(20));  // the first has failed
  group_.Inject("register " + P(1));
  Advance(seconds(1));
  EXPECT_THAT(group_.probed, SizeIs(1));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1)));
}

TEST_F(MulticastRoundsTest, WhatCannotBeProbedStays) {
  const auto consumer = Consumer();
  const std::string static_one = P(1, "?dynamic=false"), named = "dubbo://somewhere.example:1/a.B";
  group_.Inject("register " + static_one);
  group_.Inject("register " + named);
  Advance(seconds(300));
  EXPECT_THAT(consumer->last(), ElementsAre(static_one, named));
  EXPECT_THAT(group_.probed, IsEmpty());
}

TEST_F(MulticastRoundsTest, ASessionShorterThanTheTimeForAnswersDropsTheDeadToo) {
  const auto consumer = Consumer("session=1000&reply.wait=2000");
  Advance(seconds(2));
  group_.Inject("register " + P(1));
  Advance(seconds(4));
  EXPECT_THAT(consumer->last(), IsEmpty());
  EXPECT_THAT(group_.probed, SizeIs(2));
}

TEST_F(MulticastRoundsTest, CleanFalseDropsNobody) {
  const auto consumer = Consumer("clean=false");
  group_.Inject("register " + P(1));
  Advance(seconds(300));
  EXPECT_THAT(consumer->last(), ElementsAre(P(1)));
  EXPECT_THAT(group_.probed, IsEmpty());
}

// Nobody has said that there is none.
TEST_F(MulticastRoundsTest, AllDroppedIsNotKnownToBeEmpty) {
  const auto consumer = Consumer();
  group_.Inject("register " + P(1));
  Advance(seconds(300));
  EXPECT_THAT(consumer->last(), IsEmpty());
  EXPECT_TRUE(consumer->told_.back().missing);
}

TEST_F(MulticastRoundsTest, AConsoleTellsTheGroup) {
  const auto console = Join("", "10.0.0.9"), consumer = Consumer("clean=false", "10.0.0.8");
  console->WatchServices();
  Advance(seconds(2));
  group_.Inject("register " + P(1));
  Advance(seconds(2));
  EXPECT_THAT(console->services_.back(), ElementsAre("a.B"));
  Advance(seconds(120));
  EXPECT_EQ(group_.CountSent("unregister " + P(1)), 1);
  EXPECT_THAT(console->services_.back(), IsEmpty());
  EXPECT_THAT(consumer->last(), IsEmpty());
}

// All hear the answers to a question to the group, so that one of them is enough.
TEST_F(MulticastRoundsTest, ManyConsumersAskAsOneDoes) {
  const auto provider = Join("", "10.0.0.1");
  provider->Put(P(1));
  std::vector<std::unique_ptr<Client>> consumers;
  for (int n = 0; n < 20; ++n) consumers.push_back(Consumer("", "10.0.1." + std::to_string(n)));
  Advance(seconds(60));
  group_.Take();
  Advance(seconds(600));
  EXPECT_LE(group_.CountSent("subscribe"), 20) << "10 sessions";
  EXPECT_GE(group_.CountSent("subscribe"), 8);
  EXPECT_THAT(group_.probed, IsEmpty());
  for (const auto& consumer : consumers) EXPECT_THAT(consumer->last(), ElementsAre(P(1)));
}

TEST_F(MulticastRoundsTest, MessagesThatGetLostLoseNoProvider) {
  std::vector<std::unique_ptr<Client>> providers;
  for (int n = 1; n <= 20; ++n) {
    providers.push_back(Join("", "10.0.0." + std::to_string(n)));
    providers.back()->Put(P(n));
    group_.listening.insert("10.0.0." + std::to_string(n) + ":20880");
  }
  Random random(3);
  group_.loses = [&](const FakeGroup::Sent&) { return random.Below(10) < 3; };
  const auto consumer = Consumer("", "10.0.1.9");
  Advance(seconds(600));
  EXPECT_THAT(consumer->last(), SizeIs(20));
  const std::size_t told = consumer->told_.size();
  Advance(seconds(600));
  EXPECT_EQ(consumer->told_.size(), told);
}

// With the registry that all products share.
class MulticastFailbackTest : public MulticastFixture {
 protected:
  struct Listener final : NotifyListener {
    void Notify(Notification full) override { lists.push_back(std::move(full)); }
    std::vector<Notification> lists;
  };
  void TearDown() override {
    registry_.reset();
    Advance(seconds(2));
  }
  FailbackRegistry& Make(const std::string& host = "10.0.0.9") {
    const Url url = *Url::Parse("multicast://224.5.6.7?file-cache=false", pool_);
    auto backend = std::make_unique<internal::MulticastBackend>(*internal::MulticastOptions::Parse(url), Context(),
                                                                group_.opener(host));
    registry_ = FailbackRegistry::Create(url, std::move(backend), Context());
    Run();
    return *registry_;
  }
  std::shared_ptr<FailbackRegistry> registry_;
};

TEST_F(MulticastFailbackTest, SubscribeWaitsForTheAnswersAndVanishedProvidersAreUnknownBeforeTheyAreNone) {
  const auto provider = Join("", "10.0.0.1");
  provider->Put(P(1, "?version=1"));
  FailbackRegistry& registry = Make();
  const auto listener = std::make_shared<Listener>();
  std::optional<absl::Status> first;
  registry.Subscribe(*Url::Parse("consumer://10.0.0.9/a.B?version=1&category=providers,configurators,routers", pool_),
                     listener, [&](absl::Status status) { first = std::move(status); });
  Advance(milliseconds(250));
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, absl::OkStatus());
  ASSERT_THAT(listener->lists, SizeIs(3));
  listener->lists.clear();
  provider->backend_.reset();
  Advance(seconds(85));
  ASSERT_THAT(listener->lists, SizeIs(1));
  EXPECT_EQ(listener->lists.back().kind, ListKind::kUnknown);
  Advance(seconds(31));
  ASSERT_THAT(listener->lists, SizeIs(2));
  EXPECT_EQ(listener->lists.back().kind, ListKind::kEmpty);
}

TEST_F(MulticastFailbackTest, WithoutANetworkTheCallerIsToldWhy) {
  group_.open_error = absl::UnavailableError("no way to 224.5.6.7: Network is unreachable");
  FailbackRegistry& registry = Make();
  std::optional<absl::Status> first, registered;
  registry.Subscribe(*Url::Parse("consumer://10.0.0.9/a.B", pool_), std::make_shared<Listener>(),
                     [&](absl::Status status) { first = std::move(status); });
  registry.Register(*Url::Parse(P(1), pool_), [&](absl::Status status) { registered = std::move(status); });
  Advance(seconds(6));
  ASSERT_TRUE(first && registered);
  EXPECT_THAT(std::string(first->message()), ::testing::HasSubstr("Network is unreachable"));
  EXPECT_EQ(registered->code(), absl::StatusCode::kUnavailable);
}

TEST_F(MulticastFailbackTest, ATooLongUrlIsTheCallersMistake) {
  FailbackRegistry& registry = Make();
  std::optional<absl::Status> registered;
  registry.Register(*Url::Parse(P(1, "?x=" + std::string(2100, 'y')), pool_),
                    [&](absl::Status status) { registered = std::move(status); });
  Run();
  ASSERT_TRUE(registered);
  EXPECT_EQ(registered->code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace fairlead
