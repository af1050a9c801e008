#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "fairlead/tests/registry/subscription_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What a listener is told while the registry is in trouble: lost links, unreadable or missing lists, ended sessions.
using SubscriptionTroubleTest = SubscriptionTest;

TEST_F(SubscriptionTroubleTest, ChangesOfTheSessionAreToldToEveryListener) {
  Open("fake://h:1", false);
  const auto a = Subscribe(kConsumer), b = Subscribe(kConsumer), all = Subscribe("admin://h/*?interface=*&check=false");
  const auto gone = Subscribe(kConsumer);
  const auto told = [&] { return std::vector<int>{a->registry_changes, b->registry_changes, all->registry_changes}; };
  backend_->Tell(Session::kConnected);
  Run();
  EXPECT_THAT(told(), ElementsAre(1, 1, 1));
  registry_->Unsubscribe(U(kConsumer), gone);
  for (const Session session : {Session::kSuspended, Session::kReconnected, Session::kExpired, Session::kNew}) {
    backend_->Tell(session);
    Run();
  }
  EXPECT_THAT(told(), ElementsAre(5, 5, 5));
  EXPECT_EQ(gone->registry_changes, 1);
}

TEST_F(SubscriptionTroubleTest, NothingReadableIsUnknownNotEmpty) {
  Open();
  const auto listener = Subscribe(kConsumer, &first_);
  Push("a.B", kProviders, {"junk"});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers unknown"));
  EXPECT_TRUE(first_ && first_->ok());
  Push("a.B", kProviders, {"junk", P("p1")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1"));
  Push("a.B", kProviders, {"junk"});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers unknown"));
  Push("a.B", kProviders, {"junk", "more junk"});
  EXPECT_THAT(listener->Take(), IsEmpty());
  Push("a.B", kProviders, {});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
}

// The empty matrix of what a registry can answer.
TEST_F(SubscriptionTroubleTest, EmptyUnknownAndMissing) {
  Open();
  const auto listener = Subscribe(kConsumer, &first_);
  PushError("a.B", kProviders);
  EXPECT_THAT(listener->Take(), IsEmpty()) << "nothing known, nothing to call unknown";
  EXPECT_FALSE(first_.has_value());
  PushMissing("a.B", kProviders);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty")) << "never there: none";
  EXPECT_TRUE(first_ && first_->ok());
  Push("a.B", kProviders, {P("p1")});
  PushError("a.B", kProviders);
  PushError("a.B", kProviders);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1", "a.B/providers unknown"));
  Push("a.B", kProviders, {P("p1")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1")) << "known again";
  Push("a.B", kProviders, {});
  Push("a.B", kProviders, {});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
  PushMissing("a.B", kProviders);
  EXPECT_THAT(listener->Take(), IsEmpty());
}

TEST_F(SubscriptionTroubleTest, AVanishedPathIsUnknownForItsGraceThenEmpty) {
  Open();
  const auto listener = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1")});
  listener->Take();
  PushMissing("a.B", kProviders);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers unknown"));
  Advance(milliseconds(20'000));
  PushMissing("a.B", kProviders);
  Advance(milliseconds(9'999));
  EXPECT_THAT(listener->Take(), IsEmpty());
  Advance(milliseconds(1));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
  EXPECT_EQ(recorder_.count("FL-1-4"), 1u);
}

// Field report dubbo-js #80: the tree is deleted and made again.
TEST_F(SubscriptionTroubleTest, APathThatComesBackWithinItsGraceWasNeverEmpty) {
  Open();
  const auto listener = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1")});
  PushMissing("a.B", kProviders);
  Advance(milliseconds(29'000));
  listener->Take();
  Push("a.B", kProviders, {P("p1")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1"));
  Advance(milliseconds(60'000));
  EXPECT_THAT(listener->Take(), IsEmpty());
}

TEST_F(SubscriptionTroubleTest, AnErrorStopsTheGrace) {
  Open();
  const auto listener = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1")});
  PushMissing("a.B", kProviders);
  Advance(milliseconds(29'000));
  PushError("a.B", kProviders);
  listener->Take();
  Advance(milliseconds(60'000));
  EXPECT_THAT(listener->Take(), IsEmpty()) << "an unreachable registry does not say that the path is missing";
}

TEST_F(SubscriptionTroubleTest, ANewcomerDuringTroubleGetsTheLastListAndThatItIsStale) {
  Open();
  Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1")});
  PushError("a.B", kProviders);
  const auto late = Subscribe(kConsumer, &first_);
  EXPECT_THAT(late->Take(), ElementsAre("a.B/providers list p1:1", "a.B/providers unknown"));
  EXPECT_TRUE(first_ && first_->ok());
  // Also one with another url, for which nothing was ever computed.
  const auto other = Subscribe("consumer://10.0.0.9/a.B?x=1");
  EXPECT_EQ(other->Take().back(), "a.B/providers unknown");
}

TEST_F(SubscriptionTroubleTest, AnswersOfAnEndedSessionAreDropped) {
  Open();
  const auto listener = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p2")}, 2);
  Push("a.B", kProviders, {P("p1")}, 1);
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p2:1"));
  EXPECT_EQ(registry_->status().counters.stale, 1u);
}

TEST_F(SubscriptionTroubleTest, ListsAreStaleFromTheLossOfTheLinkUntilTheyAreKnownAgain) {
  const auto stale = [this] { return std::chrono::duration_cast<milliseconds>(registry_->status().stale_for).count(); };
  Open("fake://h:1", false);
  Advance(milliseconds(300));
  EXPECT_EQ(stale(), 300) << "nothing was ever known";
  backend_->Tell(Session::kConnected);
  Run();
  EXPECT_EQ(stale(), 0);
  Subscribe(kConsumer);
  Advance(milliseconds(20));
  EXPECT_EQ(stale(), 20) << "connected, but not answered";
  Push("a.B", kProviders, {P("p1")});
  Advance(milliseconds(60'000));
  EXPECT_EQ(stale(), 0);

  backend_->Tell(Session::kSuspended);
  Advance(milliseconds(700));
  EXPECT_EQ(stale(), 700);
  backend_->Tell(Session::kReconnected);
  Run();
  EXPECT_EQ(stale(), 0) << "the same session missed no event";

  backend_->Tell(Session::kSuspended);
  Advance(milliseconds(100));
  backend_->Tell(Session::kExpired);
  Advance(milliseconds(100));
  EXPECT_EQ(stale(), 200) << "since the link was lost, not since the session ended";
  backend_->Tell(Session::kNew);
  Advance(milliseconds(100));
  EXPECT_EQ(stale(), 300) << "its watches went with the old session";
  Push("a.B", kProviders, {P("p1")}, 2);
  EXPECT_EQ(stale(), 0) << "the same list is an answer too";
}

TEST_F(SubscriptionTroubleTest, AListThatCannotBeReadIsStaleAndWaitsForItsRetry) {
  Open("fake://h:1?missing.grace=5000");
  Subscribe(kConsumer);
  Subscribe("consumer://10.0.0.9/a.C");
  Push("a.B", kProviders, {P("p1")});
  Push("a.C", kProviders, {"dubbo://p1:1/a.C"});
  PushError("a.B", kProviders);
  Advance(milliseconds(10));
  EXPECT_EQ(registry_->status().stale_for, milliseconds(10));
  EXPECT_EQ(registry_->status().retries_pending, 1u);
  PushError("a.B", kProviders);
  Advance(milliseconds(10));
  EXPECT_EQ(registry_->status().stale_for, milliseconds(20));
  Push("a.B", kProviders, {P("p1")});
  EXPECT_EQ(registry_->status().stale_for, milliseconds(0));
  EXPECT_EQ(registry_->status().retries_pending, 0u);
  // A path that vanished may come back; until its grace is over nobody knows.
  PushMissing("a.B", kProviders);
  Advance(milliseconds(4999));
  EXPECT_EQ(registry_->status().stale_for, milliseconds(4999));
  Advance(milliseconds(1));
  EXPECT_EQ(registry_->status().stale_for, milliseconds(0));
}

TEST_F(SubscriptionTroubleTest, ListsAreServedThroughAReconnectAndThenTheNewOne) {
  Open();
  const auto listener = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1"), P("p2")});
  backend_->Tell(Session::kSuspended);
  Advance(std::chrono::minutes(10));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1 p2:1")) << "nothing was taken back";
  const auto late = Subscribe("consumer://10.0.0.9/a.B?check=false");
  EXPECT_THAT(late->Take(), ElementsAre("a.B/providers list p1:1 p2:1")) << "a stale list is better than none";
  backend_->Tell(Session::kReconnected);
  Push("a.B", kProviders, {P("p1"), P("p2"), P("p3")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1 p2:1 p3:1"));
}

TEST_F(SubscriptionTroubleTest, EveryListIsReadAgainInTime) {
  Open("fake://h:1?resync.period=10000");
  const auto listener = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1")});
  listener->Take();
  Advance(milliseconds(15'000));
  ASSERT_EQ(backend_->Count(Operation::kRead), 1u);
  backend_->AnswerRead({1, {}, false, {P("p1")}});
  Run();
  EXPECT_EQ(registry_->status().counters.resync_repairs, 0u);
  Advance(milliseconds(15'000));
  ASSERT_GE(backend_->Count(Operation::kRead), 1u);
  backend_->AnswerRead({1, {}, false, {P("p1"), P("p2")}});
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1 p2:1"));
  EXPECT_EQ(registry_->status().counters.resync_repairs, 1u);
  // A failed look is no news.
  Advance(milliseconds(15'000));
  backend_->AnswerRead({1, absl::UnavailableError("x"), false, {}});
  Run();
  EXPECT_THAT(listener->Take(), IsEmpty());
}

TEST_F(SubscriptionTroubleTest, ResyncTakesTurnsAndCanBeOff) {
  Open("fake://h:1?resync.period=10000");
  Subscribe(kAll);
  for (const Category category : {kProviders, Category::kConfigurators, Category::kRouters})
    Push("a.B", category, {});
  Advance(milliseconds(30'000));
  std::set<std::string> read(backend_->log.begin(), backend_->log.end());
  EXPECT_EQ(read.size(), 3u);
  Open("fake://h:1?resync.period=0");
  Subscribe(kAll);
  for (const Category category : {kProviders, Category::kConfigurators, Category::kRouters})
    Push("a.B", category, {});
  Advance(std::chrono::hours(10));
  EXPECT_THAT(backend_->log, IsEmpty());
}

}  // namespace
}  // namespace fairlead
