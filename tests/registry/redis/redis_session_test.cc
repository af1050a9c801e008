// Sessions: lost, silent, restarted, wiped and several servers, in the test's own time.
#include <gmock/gmock.h>

#include "fairlead/tests/registry/redis/redis_backend_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kA[] = "dubbo://10.0.0.1:20880/a.B?application=x";
constexpr char kB[] = "dubbo://10.0.0.2:20880/a.B?application=x";
constexpr char kC[] = "dubbo://10.0.0.3:20880/a.B?application=x";
constexpr char kStatic[] = "override://0.0.0.0/a.B?dynamic=false";

using RedisSessionTest = RedisBackendFixture;
constexpr RegistryBackend::Session kConnected = RegistryBackend::Session::kConnected,
                                   kSuspended = RegistryBackend::Session::kSuspended,
                                   kReconnected = RegistryBackend::Session::kReconnected,
                                   kExpired = RegistryBackend::Session::kExpired, kNew = RegistryBackend::Session::kNew;

TEST_F(RedisSessionTest, AShortCutResumesTheSessionExtendsAndReadsEverythingAgain) {
  const auto client = Connect();
  client->Put("a.B", kA);
  client->Watch("a.B");
  redis_.Cut();
  executor_->RunReady();
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected, kSuspended));
  // Changes that nobody hears of.
  server().hashes[kKey][kB] = std::to_string(now() + 60000);
  server().commands.clear();
  Advance(seconds(1));
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected, kSuspended, kReconnected));
  EXPECT_EQ(server().commands.front().front(), "SUBSCRIBE");
  EXPECT_THAT(client->last(), ElementsAre(kA, kB));
  EXPECT_EQ(server().count("HSET"), 1u);
  EXPECT_EQ(server().count("PUBLISH"), 0u);
  EXPECT_EQ(client->told_.back().generation, 1u);
}

TEST_F(RedisSessionTest, OperationsThatACutLeavesOpenAreNotAnswered) {
  const auto client = Connect();
  server().silent = true;
  EXPECT_EQ(client->Put("a.B", kA), std::nullopt);
  redis_.Cut();
  server().silent = false;
  Advance(seconds(1));
  EXPECT_EQ(client->sessions_.back(), kReconnected);
}

TEST_F(RedisSessionTest, AnOutageLongerThanTheSessionEndsIt) {
  const auto client = Connect();
  client->Put("a.B", kA);
  server().listens = false;
  redis_.Cut();
  Advance(seconds(59));
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected, kSuspended));
  Advance(seconds(2));
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected, kSuspended, kExpired));
  server().listens = true;
  server().commands.clear();
  Advance(seconds(9));
  EXPECT_EQ(client->sessions_.back(), kNew);
  EXPECT_EQ(server().count("HSET"), 0u) << "those who want it register it again";
  EXPECT_EQ(log_.count("FL-6-1"), 2u) << "repeats are held back";
}

TEST_F(RedisSessionTest, AttemptsBecomeRare) {
  const auto client = Connect();
  server().listens = false;
  redis_.Cut();
  server().dials = 0;
  Advance(seconds(10));
  const std::size_t first = server().dials / 2;
  EXPECT_GE(first, 4u);
  EXPECT_LE(first, 12u);
  Advance(seconds(600));
  EXPECT_LE(server().dials / 2, first + 600 / 2);
  EXPECT_GE(server().dials / 2, first + 600 / 10);
}

TEST_F(RedisSessionTest, ARestartedServerIsANewSession) {
  const auto client = Connect();
  client->Put("a.B", kA);
  client->Watch("a.B");
  redis_.Restart(true);
  Advance(seconds(1));
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected, kSuspended, kExpired, kNew));
  EXPECT_TRUE(client->told_.back().missing);
  EXPECT_EQ(client->told_.back().generation, 2u);
}

TEST_F(RedisSessionTest, AServerThatLostItsDataIsNotBelievedUntilAllHadTheTimeToComeBack) {
  redis_.Set(kKey, kA, now() + 60000);
  redis_.Set(kKey, kB, now() + 60000);
  const auto client = Connect("delay-notification=0");
  client->Watch("a.B");
  redis_.Restart(true);
  Advance(seconds(1));
  redis_.Set(kKey, kA, now() + 600000);
  executor_->RunReady();
  EXPECT_TRUE(client->told_.back().missing) << "not A alone, which would get everybody's calls";
  EXPECT_EQ(client->Read("a.B")->status.code(), absl::StatusCode::kUnavailable);
  redis_.Set(kKey, kB, now() + 600000);
  redis_.Set(kKey, kC, now() + 600000);
  executor_->RunReady();
  EXPECT_THAT(client->last(), ElementsAre(kA, kB, kC)) << "all are back";
}

TEST_F(RedisSessionTest, OnALostDataServerThoseWhoStayAwayAreGoneInTheEnd) {
  redis_.Set(kKey, kA, now() + 60000);
  redis_.Set(kKey, kB, now() + 60000);
  const auto client = Connect("delay-notification=0");
  client->Watch("a.B");
  redis_.Restart(true);
  Advance(seconds(1));
  redis_.Set(kKey, kA, now() + 600000);
  Advance(seconds(38));
  EXPECT_THAT(client->last(), ElementsAre(kA));
}

TEST_F(RedisSessionTest, WhatGoesWithoutAWordIsWaitedForAndWhatIsUnregisteredIsNot) {
  for (const char* url : {kA, kB, kC}) redis_.Set(kKey, url, now() + 600000);
  const auto client = Connect("delay-notification=0");
  client->Watch("a.B");
  redis_.Delete(kKey, kC);
  executor_->RunReady();
  EXPECT_THAT(client->last(), ElementsAre(kA, kB));
  // Everything is flushed, and A is extended first.
  server().hashes.clear();
  redis_.Set(kKey, kA, now() + 600000);
  executor_->RunReady();
  EXPECT_THAT(client->last(), ElementsAre(kA, kB));
  Advance(seconds(38));
  EXPECT_THAT(client->last(), ElementsAre(kA)) << "B does not come back";
  // Read for another's sake before A's message is there.
  redis_.Set(kKey, kB, now() + 600000);
  executor_->RunReady();
  server().hashes[kKey].erase(kA);
  redis_.Publish(kKey, "register");
  executor_->RunReady();
  EXPECT_THAT(client->last(), ElementsAre(kA, kB));
  redis_.Publish(kKey, "unregister");
  executor_->RunReady();
  EXPECT_THAT(client->last(), ElementsAre(kB));
}

TEST_F(RedisSessionTest, AfterALossThoseWhoLeaveWithAWordAreNotWaitedFor) {
  for (const char* url : {kA, kB}) redis_.Set(kKey, url, now() + 600000);
  const auto client = Connect("delay-notification=0");
  client->Watch("a.B");
  redis_.Restart(true);
  Advance(seconds(1));
  for (const char* url : {kA, kB}) redis_.Set(kKey, url, now() + 600000);
  executor_->RunReady();
  ASSERT_THAT(client->last(), ElementsAre(kA, kB));
  redis_.Delete(kKey, kB);
  redis_.Set(kKey, kC, now() + 600000);
  executor_->RunReady();
  EXPECT_THAT(client->last(), ElementsAre(kA, kC));
  redis_.Delete(kKey, kA);
  executor_->RunReady();
  redis_.Delete(kKey, kC);
  executor_->RunReady();
  EXPECT_THAT(client->last(), IsEmpty());
  redis_.Set(kKey, kB, now() + 600000);
  executor_->RunReady();
  EXPECT_THAT(client->last(), ElementsAre(kB)) << "nobody is missing";
}

TEST_F(RedisSessionTest, WhatIsHeldBackIsToldAndTimeIsGivenOnce) {
  for (const char* url : {kA, kB}) redis_.Set(kKey, url, now() + 600000);
  const auto client = Connect("delay-notification=0");
  client->Watch("a.B");
  redis_.Restart(true);
  Advance(seconds(1));
  redis_.Set(kKey, kC, now() + 600000);
  executor_->RunReady();
  EXPECT_TRUE(client->told_.back().missing);
  EXPECT_EQ(log_.count("FL-6-9"), 1u);
  EXPECT_THAT(client->backend_->Skipped(), ElementsAre(AllOf(HasSubstr(kKey), HasSubstr("not all are back"))));
  Advance(seconds(37));
  EXPECT_THAT(client->last(), ElementsAre(kC)) << "five eighths of a session are over";
  EXPECT_THAT(client->backend_->Skipped(), IsEmpty());
}

// What waits for the answers of a link that is lost may be the last thing before the end.
TEST_F(RedisSessionTest, AnEndAmongTheAnswersThatALostLinkOwes) {
  const auto client = Connect();
  client->Put("a.B", kA);
  server().silent = true;
  absl::Status stopped = absl::UnknownError("not stopped");
  std::shared_ptr<void> last(nullptr, [&](void*) {
    client->backend_->Stop([&](absl::Status status) { stopped = std::move(status); });
  });
  client->backend_->Remove("a.B", Category::kProviders, kA, [last = std::move(last)](const absl::Status&) {});
  Advance(seconds(20));
  EXPECT_NE(stopped.code(), absl::StatusCode::kUnknown);
}

// Nobody could extend anything meanwhile, and the first to come back are not all.
TEST_F(RedisSessionTest, AfterHalfASessionWithoutAServerThoseWhoLapsedAreWaitedFor) {
  const auto told_after = [this](seconds outage) {
    redis_.Set(kKey, kA, now() + 1000 * outage.count() - 2000);
    redis_.Set(kKey, kB, now() + 600000);
    const auto client = Connect("delay-notification=0");
    client->Watch("a.B");
    server().listens = false;
    redis_.Cut();
    Advance(outage);
    server().listens = true;
    Advance(seconds(8));
    EXPECT_EQ(client->sessions_.back(), kReconnected);
    const List first = client->last();
    Advance(seconds(38));
    EXPECT_THAT(client->last(), ElementsAre(kB)) << "who stays away is gone in the end";
    return first;
  };
  EXPECT_THAT(told_after(seconds(35)), ElementsAre(kA, kB));
  EXPECT_THAT(told_after(seconds(10)), ElementsAre(kB));
}

TEST_F(RedisSessionTest, ASilentServerIsNone) {
  server().silent = true;
  const auto client = Connect();
  Advance(seconds(20));
  EXPECT_THAT(client->sessions_, IsEmpty());
  ASSERT_GE(log_.count("FL-6-1"), 1u);
  EXPECT_THAT(log_.lines().front().text, HasSubstr("said nothing for 2000 ms"));
  server().silent = false;
  Advance(seconds(20));
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected));
}

TEST_F(RedisSessionTest, AServerThatFallsSilentIsNoticed) {
  const auto client = Connect();
  client->Put("a.B", kA);
  server().silent = true;
  Advance(seconds(15));
  EXPECT_EQ(client->sessions_.back(), kSuspended);
  server().silent = false;
  Advance(seconds(10));
  EXPECT_EQ(client->sessions_.back(), kReconnected);
}

// Commands work, messages do not come: a connection that is open at this end only.
TEST_F(RedisSessionTest, AHalfOpenSubscriptionIsNoticedAndTheGapReadAgain) {
  const auto client = Connect();
  client->Watch("a.B");
  server().silent_messages = true;
  redis_.Set(kKey, kA, now() + 600000);
  Advance(seconds(1));
  EXPECT_THAT(client->last(), IsEmpty());
  server().silent_messages = false;
  // Those connections stay deaf: their answer, and the message, are lost.
  server().silent_messages = true;
  Advance(seconds(13));
  server().silent_messages = false;
  Advance(seconds(5));
  EXPECT_THAT(client->last(), ElementsAre(kA));
  EXPECT_THAT(client->sessions_, Contains(kSuspended));
}

TEST_F(RedisSessionTest, PasswordsAreSentAndNeverShown) {
  server().password = "s3cret";
  {
    const auto client = Connect("", ":s3cret@h:6379");
    EXPECT_THAT(client->sessions_, ElementsAre(kConnected));
    EXPECT_THAT(client->backend_->Describe(), Not(HasSubstr("s3cret")));
  }
  const auto wrong = Connect("", "user:wr0ng@h:6379");
  EXPECT_THAT(wrong->sessions_, IsEmpty());
  const auto none = Connect();
  EXPECT_THAT(none->sessions_, IsEmpty());
  ASSERT_GE(log_.count("FL-6-2"), 1u);
  for (const auto& line : log_.lines()) {
    EXPECT_THAT(line.text, AllOf(Not(HasSubstr("s3cret")), Not(HasSubstr("wr0ng"))));
  }
  EXPECT_THAT(wrong->backend_->Describe(), AllOf(HasSubstr("correct the password"), Not(HasSubstr("wr0ng"))));
  EXPECT_THAT(none->backend_->Describe(), HasSubstr("redis://:password@"));
}

TEST_F(RedisSessionTest, WhatIsUnderWayIsNoTroubleAndHidesNone) {
  redis_.server(1).listens = false;
  redis_.server(2).silent = true;
  const auto client = Connect("backup=h:2", "h:1");
  EXPECT_THAT(client->backend_->Describe(), AllOf(HasSubstr("h:1 down: UNAVAILABLE"), HasSubstr("h:2 connecting")));
  EXPECT_THAT(client->backend_->Describe(), Not(HasSubstr("CANCELLED")));
}

TEST_F(RedisSessionTest, SentinelsAndClusterNodesAreRefused) {
  for (const char* mode : {"sentinel", "cluster"}) {
    server().mode = mode;
    const auto client = Connect();
    EXPECT_THAT(client->sessions_, IsEmpty());
    EXPECT_THAT(client->backend_->Describe(), HasSubstr("not spoken here"));
  }
}

TEST_F(RedisSessionTest, AServerThatIsLoadingIsNotThereYet) {
  server().errors["INFO"] = "LOADING Redis is loading the dataset in memory";
  const auto client = Connect();
  EXPECT_THAT(client->sessions_, IsEmpty());
  server().errors.clear();
  Advance(seconds(5));
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected));
}

// Two servers, 1 and 2.

constexpr char kTwo[] = "h:1";

TEST_F(RedisSessionTest, FailoverUsesTheFirstThatWorksAndComesBackToIt) {
  const auto client = Connect("backup=h:2", kTwo);
  client->Watch("a.B");
  client->Put("a.B", kA);
  EXPECT_THAT(redis_.server(1).hashes[kKey], SizeIs(1));
  EXPECT_THAT(redis_.server(2).hashes, IsEmpty());
  redis_.server(1).listens = false;
  redis_.Cut(1);
  executor_->RunReady();
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected, kExpired, kNew)) << "another server, other data, at once";
  client->Put("a.B", kA);
  EXPECT_THAT(redis_.server(2).hashes[kKey], SizeIs(1));
  EXPECT_EQ(redis_.subscriptions(2), 1u);
  EXPECT_THAT(client->backend_->Describe(), AllOf(HasSubstr("at h:2"), HasSubstr("h:1 down")));
  redis_.server(1).listens = true;
  Advance(seconds(20));
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected, kExpired, kNew, kExpired, kNew));
  EXPECT_EQ(redis_.subscriptions(1), 1u);
  EXPECT_EQ(redis_.subscriptions(2), 0u);
}

TEST_F(RedisSessionTest, FailoverWaitsForTheFirstServersFirstAttempt) {
  redis_.server(1).silent = true;
  const auto client = Connect("backup=h:2", kTwo);
  EXPECT_THAT(client->sessions_, IsEmpty());
  redis_.server(1).silent = false;
  Advance(seconds(2));
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected));
  EXPECT_THAT(client->backend_->Describe(), HasSubstr("at h:2")) << "its first attempt has failed";
  Advance(seconds(2));
  EXPECT_THAT(client->backend_->Describe(), HasSubstr("at h:1"));
}

TEST_F(RedisSessionTest, ThoseWhoWaitForAFirstAnswerAreToldWhyThereIsNone) {
  server().password = "s3cret";
  const auto client = Connect();
  client->Watch("a.B");
  ASSERT_THAT(client->told_, SizeIs(1));
  EXPECT_EQ(client->told_.back().status.code(), absl::StatusCode::kUnauthenticated);
  Advance(seconds(20));
  EXPECT_THAT(client->told_, SizeIs(1)) << "once";
  server().password.clear();
  Advance(seconds(20));
  EXPECT_TRUE(client->told_.back().missing);
}

TEST_F(RedisSessionTest, FailoverPassesOverAReplica) {
  redis_.server(1).role = "slave";
  const auto client = Connect("backup=h:2", kTwo);
  EXPECT_THAT(client->backend_->Describe(), HasSubstr("at h:2"));
}

TEST_F(RedisSessionTest, AServerThatBecomesAReplicaIsLeft) {
  const auto client = Connect("backup=h:2", kTwo);
  redis_.server(1).role = "slave";
  redis_.server(1).errors["HSET"] = "READONLY You can't write against a read only replica.";
  client->Put("a.B", kA);
  EXPECT_THAT(client->backend_->Describe(), HasSubstr("at h:2"));
}

TEST_F(RedisSessionTest, ReplicateWritesToAllAndReadsFromOne) {
  const auto client = Connect("backup=h:2&cluster=replicate", kTwo);
  client->Watch("a.B");
  EXPECT_EQ(client->Put("a.B", kA), absl::OkStatus());
  EXPECT_THAT(redis_.server(1).hashes[kKey], SizeIs(1));
  EXPECT_THAT(redis_.server(2).hashes[kKey], SizeIs(1));
  EXPECT_EQ(redis_.subscriptions(1) + redis_.subscriptions(2), 1u);
  Advance(seconds(30));
  EXPECT_EQ(redis_.server(1).count("HSET"), 2u);
  EXPECT_EQ(redis_.server(2).count("HSET"), 2u);
  redis_.server(1).listens = false;
  redis_.Cut(1);
  executor_->RunReady();
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected, kSuspended, kReconnected)) << "the other has the same";
  redis_.server(2).hashes[kKey][kB] = std::to_string(now() + 600000);
  redis_.Publish(kKey, "register", 2);
  Advance(seconds(1));
  EXPECT_THAT(client->last(), ElementsAre(kA, kB));
}

TEST_F(RedisSessionTest, ReplicateBringsAServerThatComesBackUpToDate) {
  const auto client = Connect("backup=h:2&cluster=replicate", kTwo);
  client->Put("a.B", kA);
  client->Put("a.B", kStatic, false, Category::kConfigurators);
  client->Put("a.C", kStatic, false);
  redis_.server(2).listens = false;
  redis_.Restart(false, 2);
  executor_->RunReady();
  EXPECT_EQ(client->Put("a.B", kB), absl::OkStatus());
  EXPECT_EQ(client->Remove("a.C", kStatic), absl::OkStatus());
  redis_.server(2).hashes.erase(kKey);
  redis_.server(2).listens = true;
  Advance(seconds(10));
  EXPECT_THAT(redis_.server(2).hashes[kKey], SizeIs(2));
  EXPECT_FALSE(redis_.server(2).hashes.contains("/dubbo/a.C/providers")) << "removed meanwhile, and would never expire";
  EXPECT_THAT(redis_.server(2).hashes["/dubbo/a.B/configurators"], SizeIs(1));
  EXPECT_THAT(client->sessions_, ElementsAre(kConnected));
}

TEST_F(RedisSessionTest, ReplicateIsContentWithOneOfThem) {
  const auto client = Connect("backup=h:2&cluster=replicate", kTwo);
  redis_.server(2).errors["HSET"] = "OOM command not allowed";
  EXPECT_EQ(client->Put("a.B", kA), absl::OkStatus());
  EXPECT_EQ(log_.count("FL-6-7"), 1u);
  redis_.server(1).errors["HSET"] = "OOM command not allowed";
  EXPECT_EQ(client->Put("a.B", kB)->code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(RedisSessionTest, ReplicateAnswersWhenOneIsLostMeanwhile) {
  const auto client = Connect("backup=h:2&cluster=replicate", kTwo);
  redis_.server(2).silent = true;
  const auto result = std::make_shared<std::optional<absl::Status>>();
  client->backend_->Put("a.B", Category::kProviders, kA, true, [result](absl::Status status) { *result = std::move(status); });
  executor_->RunReady();
  EXPECT_EQ(*result, std::nullopt);
  Advance(seconds(5));
  EXPECT_EQ(*result, absl::OkStatus());
}

}  // namespace
}  // namespace fairlead
