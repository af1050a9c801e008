#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fairlead/tests/registry/subscription_fixture.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(SubscriptionTest, FirstNotifiedWhenEveryCategoryAnswered) {
  Open();
  const auto listener = Subscribe(kAll, &first_);
  Push("a.B", kProviders, {P("p1")});
  Push("a.B", Category::kRouters, {});
  EXPECT_FALSE(first_.has_value());
  Push("a.B", Category::kConfigurators, {"override://0.0.0.0/a.B?category=configurators&x=1"});
  EXPECT_TRUE(first_ && first_->ok());
  EXPECT_THAT(listener->lines,
              ElementsAre("a.B/providers list p1:1", "a.B/routers empty", "a.B/configurators list 0.0.0.0"));
}

TEST_F(SubscriptionTest, NothingHappensInsideTheCall) {
  Open();
  Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1")});
  auto listener = std::make_shared<RecordingListener>();
  registry_->Subscribe(U(kConsumer), listener, Into(first_));
  EXPECT_THAT(listener->lines, IsEmpty());
  EXPECT_FALSE(first_.has_value());
  Run();
  EXPECT_THAT(listener->lines, ElementsAre("a.B/providers list p1:1"));
  EXPECT_TRUE(first_ && first_->ok());
}

TEST_F(SubscriptionTest, OneWatchForAllSubscriptionsOfAPath) {
  Open();
  const auto one = Subscribe("consumer://10.0.0.9/a.B?version=1");
  const auto two = Subscribe("consumer://10.0.0.9/a.B?version=2");
  const auto both = Subscribe("consumer://10.0.0.9/a.B?version=*");
  EXPECT_EQ(WatchCount(kProviders), 1);
  Push("a.B", kProviders, {P("p1", "?version=1"), P("p2", "?version=2"), P("p3")});
  EXPECT_THAT(one->Take(), ElementsAre("a.B/providers list p1:1"));
  EXPECT_THAT(two->Take(), ElementsAre("a.B/providers list p2:1"));
  EXPECT_THAT(both->Take(), ElementsAre("a.B/providers list p1:1 p2:1 p3:1"));
  // A change that does not concern a subscription does not reach it.
  Push("a.B", kProviders, {P("p1", "?version=1"), P("p2", "?version=2"), P("p4", "?version=2"), P("p3")});
  EXPECT_THAT(one->Take(), IsEmpty());
  EXPECT_THAT(two->Take(), ElementsAre("a.B/providers list p2:1 p4:1"));
  EXPECT_EQ(registry_->status().subscriptions, 3u);
  EXPECT_EQ(registry_->status().watches, 1u);
  registry_->Unsubscribe(U("consumer://10.0.0.9/a.B?version=1"), one);
  registry_->Unsubscribe(U("consumer://10.0.0.9/a.B?version=2"), two);
  EXPECT_EQ(registry_->status().watches, 1u);
  registry_->Unsubscribe(U("consumer://10.0.0.9/a.B?version=*"), both);
  EXPECT_EQ(registry_->status().watches, 0u);
  EXPECT_THAT(backend_->watches, IsEmpty());
}

// Field reports N PR 13340 and DG #1322: whoever comes later, also after data or events came, has it all.
TEST_F(SubscriptionTest, ANewListenerGetsAFullReplay) {
  Open();
  const auto early = Subscribe(kAll);
  Push("a.B", kProviders, {P("p1")});
  Push("a.B", Category::kConfigurators, {});
  Push("a.B", Category::kRouters, {"condition://0.0.0.0/a.B?category=routers&rule=x"});
  early->Take();
  const auto late = Subscribe(kAll, &first_);
  EXPECT_THAT(late->Take(),
              ElementsAre("a.B/providers list p1:1", "a.B/configurators empty", "a.B/routers list 0.0.0.0"));
  EXPECT_TRUE(first_ && first_->ok());
  EXPECT_THAT(early->Take(), IsEmpty());
  // The same pair again: it is told anew, once.
  registry_->Subscribe(U(kAll), late, nullptr);
  Run();
  EXPECT_EQ(late->Take().size(), 3u);
  Push("a.B", kProviders, {P("p2")});
  EXPECT_THAT(late->Take(), ElementsAre("a.B/providers list p2:1"));
}

TEST_F(SubscriptionTest, WhatSaysNothingNewIsNotPassedOn) {
  Open();
  const auto listener = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1"), P("p2")});
  listener->Take();
  Push("a.B", kProviders, {P("p2"), P("p1")});
  Push("a.B", kProviders, {P("p1"), P("p2"), P("p1")});
  EXPECT_THAT(listener->Take(), IsEmpty());
  EXPECT_EQ(registry_->status().counters.unchanged, 2u);
  Push("a.B", kProviders, {P("p3"), P("p2"), P("p1")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p3:1 p2:1 p1:1"))
      << "the order of the accepted push";
}

TEST_F(SubscriptionTest, EqualUrlsAreOneAndANewerTimestampIsNews) {
  Open();
  const auto listener = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1", "?pid=1&timestamp=5"), P("p2"), P("p1", "?pid=2&timestamp=6")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p2:1 p1:1"));
  EXPECT_EQ(listener->all.back().urls[1].timestamp_ms(), 6);
  Push("a.B", kProviders, {P("p1", "?pid=3&timestamp=9"), P("p2")});
  EXPECT_EQ(listener->all.back().urls[0].timestamp_ms(), 9);
}

TEST_F(SubscriptionTest, MatchesByCategoryRules) {
  Open();
  const auto listener = Subscribe("consumer://10.0.0.9/a.B?category=providers,routers&group=g&version=1");
  Push("a.B", kProviders,
       {P("p1", "?group=g&version=1"), P("p2", "?version=1"), P("p3", "?enabled=false&group=g&version=1")});
  Push("a.B", Category::kRouters,
       {"condition://0.0.0.0/a.B?category=routers&group=g&rule=x&version=1",
        "condition://0.0.0.0/a.B?category=routers&rule=y"});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1", "a.B/routers list 0.0.0.0"));
  // Everything filtered: the registry says none, for this consumer.
  Push("a.B", kProviders, {P("p2", "?version=1")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
  Push("a.B", kProviders, {P("p2", "?version=1"), P("p4", "?version=1")});
  EXPECT_THAT(listener->Take(), IsEmpty());
}

TEST_F(SubscriptionTest, MalformedChildrenAreSkippedAndTheRestKept) {
  Open();
  const auto listener = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1"), "dubbo://u:secret@h:port/a.B", P("p2"), "junk"});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1 p2:1"));
  EXPECT_EQ(recorder_.count("FL-1-2"), 2u);
  EXPECT_EQ(registry_->status().counters.skipped, 2u);
  ASSERT_EQ(registry_->status().unreadable.size(), 2u);
  EXPECT_THAT(registry_->status().unreadable[0], AllOf(HasSubstr("a.B/providers"), HasSubstr("h:port")));
  for (const LogRecorder::Line& line : recorder_.lines())
    EXPECT_THAT(line.subject + line.text, Not(HasSubstr("secret")));
  EXPECT_THAT(registry_->Describe(), HasSubstr("2 children unreadable"));
  // Still there: not said again.
  clock_.Advance(std::chrono::hours(1));
  Push("a.B", kProviders, {P("p1"), "dubbo://u:secret@h:port/a.B", "junk"});
  EXPECT_EQ(log_.Count("FL-1-2"), 2u);
  Push("a.B", kProviders, {P("p1")});
  EXPECT_THAT(registry_->status().unreadable, IsEmpty());
}

TEST_F(SubscriptionTest, MalformedChildrenOfRulesAreTold) {
  Open();
  const auto listener = Subscribe("consumer://10.0.0.9/a.B?category=routers");
  const std::string rule = "route://0.0.0.0/a.B?category=routers&rule=x", bad = "route://0.0.0.0:port/a.B?category=routers";
  const auto told = [&] { return listener->all.back().unreadable; };
  Push("a.B", Category::kRouters, {rule, "not a url's name"});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/routers list 0.0.0.0"));
  EXPECT_THAT(told(), IsEmpty()) << "somebody else's";
  Push("a.B", Category::kRouters, {rule, bad});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/routers list 0.0.0.0")) << "the rules are the same, but this is news";
  EXPECT_THAT(told(), ElementsAre(HasSubstr("0.0.0.0:port")));
  Push("a.B", Category::kRouters, {rule + "2", bad});
  EXPECT_THAT(told(), ElementsAre(HasSubstr("0.0.0.0:port")));
  listener->Take();
  Push("a.B", Category::kRouters, {rule + "2"});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/routers list 0.0.0.0"));
  EXPECT_THAT(told(), IsEmpty());
}

TEST_F(SubscriptionTest, LongMalformedChildrenThatBeginAlikeHaveLinesOfTheirOwn) {
  Open();
  Subscribe(kConsumer);
  const std::string same = "dubbo://h:port/a.B?x=" + std::string(3000, 'x');
  Push("a.B", kProviders, {P("p1"), same + "1", same + "2"});
  EXPECT_EQ(recorder_.count("FL-1-2"), 2u);
  std::vector<std::string> many{P("p1")};
  for (int i = 0; i < 500; ++i) many.push_back("junk " + std::to_string(i));
  Push("a.B", kProviders, many);
  EXPECT_EQ(recorder_.count("FL-1-2"), 2u + Logger::kMostOfEach);
  EXPECT_EQ(registry_->status().counters.skipped, 502u);
}

TEST_F(SubscriptionTest, OtherUnreadableChildrenAreToldThoughNoListChanges) {
  Open();
  const auto listener = Subscribe(kConsumer), other = Subscribe("consumer://10.0.0.9/c.D");
  Push("a.B", kProviders, {P("p1")});
  Push("c.D", kProviders, {"dubbo://h:1/c.D"});
  listener->Take();
  EXPECT_EQ(listener->registry_changes, 0);
  Push("a.B", kProviders, {P("p1"), "junk"});
  EXPECT_EQ(listener->registry_changes, 1);
  EXPECT_THAT(registry_->Unreadable("a.B"), ElementsAre(HasSubstr("a.B/providers: ")));
  EXPECT_THAT(registry_->Unreadable("c.D"), IsEmpty());
  Push("a.B", kProviders, {"junk", P("p1")});
  EXPECT_EQ(listener->registry_changes, 1) << "the same set";
  Push("a.B", kProviders, {P("p1"), "rubbish"});
  EXPECT_EQ(listener->registry_changes, 2) << "as many, but others";
  EXPECT_THAT(listener->Take(), IsEmpty());
  Push("a.B", kProviders, {P("p1"), P("p2"), "rubbish"});
  EXPECT_EQ(listener->registry_changes, 2) << "only the urls are others";
  Push("a.B", kProviders, {P("p1"), P("p2")});
  EXPECT_EQ(listener->registry_changes, 3);
  EXPECT_EQ(other->registry_changes, 0);
  EXPECT_THAT(registry_->Describe(), Not(HasSubstr("unreadable")));
}

TEST_F(SubscriptionTest, UnreadableChildrenOfAnEndedSubscriptionAreNotCounted) {
  Open();
  const auto listener = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1"), "junk"});
  EXPECT_THAT(registry_->Describe(), HasSubstr("1 children unreadable"));
  registry_->Unsubscribe(U(kConsumer), listener);
  Run();
  EXPECT_THAT(registry_->Describe(), Not(HasSubstr("unreadable")));
}

TEST_F(SubscriptionTest, ACallsOwnCheckAndTimeoutHoldNotTheRegistrys) {
  Open("fake://h:1?check=false&timeout=60000", false);
  RegistryCallOptions call;
  call.timeout = std::chrono::milliseconds(70);
  std::optional<absl::Status> strict;
  const auto listener = std::make_shared<RecordingListener>(), lenient = std::make_shared<RecordingListener>();
  registry_->Subscribe(U(kConsumer), call, listener, Into(strict));
  registry_->Subscribe(U(kConsumer), lenient, Into(first_));
  Run();
  EXPECT_TRUE(first_ && first_->ok()) << "check=false of the registry's own url";
  EXPECT_FALSE(strict.has_value());
  Advance(std::chrono::milliseconds(70));
  ASSERT_TRUE(strict.has_value());
  EXPECT_THAT(strict->ToString(), AllOf(HasSubstr("UNAVAILABLE"), HasSubstr("within 70 ms")));
  EXPECT_EQ(registry_->status().subscriptions, 1u) << "the other one stays";
}

TEST_F(SubscriptionTest, EncodedProducts) {
  Open();
  backend_->encoded = true;
  const auto listener = Subscribe("consumer://10.0.0.9/a.B?category=providers,routers");
  Push("a.B", kProviders, {PercentEncode(P("p1", "?a=b&c=d+e")), P("p2")});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1 p2:1"));
  EXPECT_EQ(listener->all.back().urls[0].Param("c"), "d+e");
  Push("a.B", Category::kRouters, {"garbage", "condition://0.0.0.0/a.B?category=routers"});
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/routers empty"));
}

TEST_F(SubscriptionTest, SeveralChangesBeforeAListenerRunsAreToldAsOne) {
  Open();
  const auto listener = Subscribe(kConsumer);
  for (const char* host : {"p1", "p2", "p3"}) {
    backend_->Push({"a.B", kProviders}, {1, {}, false, {P(host)}});
  }
  Run();
  EXPECT_LE(listener->lines.size(), 2u);
  EXPECT_EQ(listener->lines.back(), "a.B/providers list p3:1");
}

TEST_F(SubscriptionTest, CheckedSubscribeFailsAtTheTimeoutAndEndsTheWish) {
  Open("fake://u:secret@h:1?timeout=2000");
  const auto listener = Subscribe(kAll, &first_);
  Push("a.B", kProviders, {P("p1")});
  PushError("a.B", Category::kRouters, "router path broken");
  Advance(milliseconds(1999));
  EXPECT_FALSE(first_.has_value());
  Advance(milliseconds(1));
  ASSERT_TRUE(first_.has_value());
  EXPECT_TRUE(absl::IsUnavailable(*first_));
  EXPECT_THAT(first_->ToString(), AllOf(HasSubstr("fake://h:1"), HasSubstr("2000 ms"),
                                        HasSubstr("router path broken"), Not(HasSubstr("secret"))));
  listener->Take();
  EXPECT_EQ(registry_->status().subscriptions, 0u);
  EXPECT_THAT(backend_->watches, IsEmpty());
  Push("a.B", kProviders, {P("p2")});
  EXPECT_THAT(listener->Take(), IsEmpty());
}

TEST_F(SubscriptionTest, AFailedListenerLeavesTheOthers) {
  Open("fake://h:1?timeout=2000");
  const auto patient = Subscribe("consumer://10.0.0.9/a.B?check=false", &second_);
  EXPECT_TRUE(second_ && second_->ok()) << "check=false returns at once";
  const auto hasty = Subscribe(kConsumer, &first_);
  Advance(milliseconds(2000));
  EXPECT_TRUE(first_ && absl::IsUnavailable(*first_));
  Push("a.B", kProviders, {P("p1")});
  EXPECT_THAT(patient->Take(), ElementsAre("a.B/providers list p1:1"));
  EXPECT_THAT(hasty->Take(), IsEmpty());
}

TEST_F(SubscriptionTest, AnAnswerInTimeDisarmsTheTimeout) {
  Open("fake://h:1?timeout=2000");
  const auto listener = Subscribe(kConsumer, &first_);
  Push("a.B", kProviders, {});
  Advance(milliseconds(10'000));
  EXPECT_TRUE(first_ && first_->ok());
  EXPECT_EQ(registry_->status().subscriptions, 1u);
}

TEST_F(SubscriptionTest, NoNotifyAfterUnsubscribe) {
  Open();
  const auto listener = Subscribe(kConsumer);
  backend_->Push({"a.B", kProviders}, {1, {}, false, {P("p1")}});
  executor_->Post([&] { registry_->Unsubscribe(U(kConsumer), listener); });
  Run();
  EXPECT_THAT(listener->lines, IsEmpty());
  registry_->Unsubscribe(U(kConsumer), listener);
  registry_->Unsubscribe(U("consumer://h/other.S"), listener);
  registry_->Unsubscribe(U(kConsumer), nullptr);
}

TEST_F(SubscriptionTest, UnsubscribeCancelsWhoWaits) {
  Open();
  const auto listener = Subscribe(kConsumer, &first_);
  registry_->Unsubscribe(U(kConsumer), listener);
  Run();
  EXPECT_TRUE(first_ && absl::IsCancelled(*first_));
}

TEST_F(SubscriptionTest, AListenerMayEndItselfInItsNotify) {
  Open();
  auto listener = std::make_shared<RecordingListener>();
  std::weak_ptr<RecordingListener> weak = listener;
  listener->then = [this, &listener] {
    registry_->Unsubscribe(U(kAll), listener);
    listener.reset();
  };
  registry_->Subscribe(U(kAll), listener, nullptr);
  Run();
  backend_->Push({"a.B", kProviders}, {1, {}, false, {P("p1")}});
  backend_->Push({"a.B", Category::kRouters}, {1, {}, false, {}});
  Run();
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(registry_->status().counters.notifications, 1u);
}

TEST_F(SubscriptionTest, AListenerMayDropTheRegistryInItsNotify) {
  Open();
  auto listener = std::make_shared<RecordingListener>();
  listener->then = [this] { registry_.reset(); };
  registry_->Subscribe(U(kAll), listener, nullptr);
  Run();
  backend_->Push({"a.B", kProviders}, {1, {}, false, {P("p1")}});
  backend_->Push({"a.B", Category::kRouters}, {1, {}, false, {}});
  Run();
  EXPECT_GE(listener->lines.size(), 1u);
  FinishStop();
  EXPECT_TRUE(backend_->destroyed);
}

TEST_F(SubscriptionTest, AThrowingListenerIsCaughtAndNobodyElseSuffers) {
  Open();
  const auto bad = std::make_shared<RecordingListener>();
  bad->then = [] { throw std::runtime_error("host bug"); };
  registry_->Subscribe(U(kConsumer), bad, Into(first_));
  const auto good = Subscribe(kConsumer);
  Push("a.B", kProviders, {P("p1")});
  EXPECT_THAT(good->Take(), ElementsAre("a.B/providers list p1:1"));
  EXPECT_EQ(registry_->status().counters.host_exceptions, 1u);
  EXPECT_EQ(recorder_.count("FL-1-3"), 1u);
  EXPECT_TRUE(first_ && first_->ok());
}

TEST_F(SubscriptionTest, RefusesWhatCannotBe) {
  Open();
  registry_->Subscribe(U(kConsumer), nullptr, Into(first_));
  registry_->Subscribe(U("consumer://h"), std::make_shared<RecordingListener>(), Into(second_));
  Run();
  EXPECT_TRUE(first_ && absl::IsInvalidArgument(*first_));
  EXPECT_TRUE(second_ && absl::IsInvalidArgument(*second_));
  EXPECT_EQ(registry_->status().subscriptions, 0u);
}

TEST_F(SubscriptionTest, NothingIsSubscribedInARegistryThatIsOnlyRegisteredTo) {
  Open("fake://h:1?check=false&subscribe=false");
  Subscribe(kAll, &first_);
  EXPECT_TRUE(first_ && absl::IsFailedPrecondition(*first_)) << "said, although nobody checks: it will never be";
  EXPECT_THAT(first_->ToString(), AllOf(HasSubstr("fake://h:1"), HasSubstr("subscribe=false"), HasSubstr("a.B")));
  EXPECT_THAT(backend_->watches, IsEmpty());
  EXPECT_EQ(registry_->status().subscriptions, 0u);
}

// A rule event that comes before its subscriber, or anything else that was known: subscribing replays what is.
TEST_F(SubscriptionTest, WhoSubscribesAfterALookupOrAnEventHearsWhatIsOnce) {
  Open();
  Subscribe(kAll);
  for (const Category category : {kProviders, Category::kConfigurators, Category::kRouters}) {
    Push("a.B", category, category == kProviders ? std::vector<std::string>{P("p1")} : std::vector<std::string>{});
  }
  Push("a.B", Category::kConfigurators, {"override://0.0.0.0/a.B?category=configurators&timeout=7"});
  registry_->Lookup(U(kConsumer), [](const auto&) {});
  Run();
  backend_->AnswerRead({1, {}, false, {P("p1")}});
  Run();
  const auto late = Subscribe(kAll, &first_);
  EXPECT_THAT(late->Take(), ElementsAre("a.B/providers list p1:1", "a.B/configurators list 0.0.0.0", "a.B/routers empty"));
  EXPECT_TRUE(first_ && first_->ok());
}

TEST_F(SubscriptionTest, NoKnownCategoryIsAnsweredAtOnce) {
  Open();
  Subscribe("consumer://h/a.B?category=nonsense", &first_);
  EXPECT_TRUE(first_ && first_->ok());
}

TEST_F(SubscriptionTest, DestroyEndsEverySubscription) {
  Open();
  const auto listener = Subscribe(kAll, &first_);
  backend_->Push({"a.B", kProviders}, {1, {}, false, {P("p1")}});
  registry_->Destroy(Into(second_));
  FinishStop();
  EXPECT_THAT(listener->lines, IsEmpty());
  EXPECT_TRUE(first_ && absl::IsCancelled(*first_));
  EXPECT_TRUE(second_ && second_->ok());
  EXPECT_THAT(backend_->watches, IsEmpty());
  EXPECT_FALSE(registry_->IsAvailable());
}

}  // namespace
}  // namespace fairlead
