// The registry on servers in the test's own time: what it writes, keeps, reads and survives.
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
constexpr char kStatic[] = "dubbo://10.0.0.3:20880/a.B?dynamic=false";

using RedisBackendTest = RedisBackendFixture;

TEST_F(RedisBackendTest, RegisteringWritesWhatDubboWrites) {
  const auto client = Connect();
  EXPECT_THAT(client->sessions_, ElementsAre(Session::kConnected));
  EXPECT_EQ(client->Put("a.B", kA), absl::OkStatus());
  EXPECT_THAT(server().commands,
              ElementsAre(ElementsAre("HSET", kKey, kA, std::to_string(now() + 60000)), ElementsAre("PUBLISH", kKey, "register")));
  server().commands.clear();
  EXPECT_EQ(client->Remove("a.B", kA), absl::OkStatus());
  EXPECT_EQ(client->Remove("a.B", kA), absl::OkStatus()) << "nothing was there";
  EXPECT_THAT(server().commands, ElementsAre(ElementsAre("HDEL", kKey, kA), ElementsAre("PUBLISH", kKey, "unregister"),
                                             ElementsAre("HDEL", kKey, kA), ElementsAre("PUBLISH", kKey, "unregister")));
}

TEST_F(RedisBackendTest, GroupIsTheRoot) {
  const auto client = Connect("group=mine");
  EXPECT_EQ(client->Put("a.B", kA), absl::OkStatus());
  EXPECT_TRUE(server().hashes.contains("/mine/a.B/providers"));
}

TEST_F(RedisBackendTest, WhatIsRegisteredIsExtendedAtHalfTheSession) {
  const auto client = Connect();
  client->Put("a.B", kA);
  client->Put("a.B", kStatic, false);
  server().commands.clear();
  Advance(seconds(29));
  EXPECT_EQ(server().count("HSET"), 0u);
  Advance(seconds(1));
  EXPECT_THAT(server().commands, ElementsAre(ElementsAre("HSET", kKey, kA, std::to_string(now() + 60000))))
      << "nothing else: the other one never expires, and no reader need be told";
  // Somebody cleaned it away.
  server().hashes[kKey].erase(kA);
  server().commands.clear();
  Advance(seconds(30));
  EXPECT_THAT(server().commands, ElementsAre(ElementsAre("HSET", kKey, kA, std::to_string(now() + 60000)),
                                             ElementsAre("PUBLISH", kKey, "register")));
}

// The process was held up for longer than a session: the field stands there, yet readers have dropped it.
TEST_F(RedisBackendTest, AnExtensionThatComesTooLateIsTold) {
  const auto client = Connect();
  client->Put("a.B", kA);
  server().commands.clear();
  clock_.Advance(seconds(61));
  executor_->RunReady();
  EXPECT_THAT(server().commands, Contains(ElementsAre("PUBLISH", kKey, "register")));
}

TEST_F(RedisBackendTest, ManyAreExtendedWithABoundedNumberUnderWay) {
  const auto client = Connect();
  for (int i = 0; i < 2000; ++i) client->Put("s" + std::to_string(i), kA);
  server().commands.clear();
  Advance(seconds(30));
  EXPECT_EQ(server().count("HSET"), 2000u);
  EXPECT_EQ(server().count("PUBLISH"), 0u);
  EXPECT_EQ(server().connections, 2u) << "one for commands, one for messages, however many services";
}

TEST_F(RedisBackendTest, ListsAreReadAfterTheSubscriptionAndAtEachMessage) {
  redis_.Set(kKey, kA, now() + 60000);
  const auto client = Connect("delay-notification=0");
  client->Watch("a.B");
  EXPECT_THAT(server().commands, ElementsAre(ElementsAre("SUBSCRIBE", kKey), ElementsAre("HLEN", kKey), ElementsAre("HGETALL", kKey)));
  EXPECT_THAT(client->last(), ElementsAre(kA));
  redis_.Set(kKey, kB, now() + 60000);
  executor_->RunReady();
  EXPECT_THAT(client->last(), ElementsAre(kA, kB));
  redis_.Delete(kKey, kA);
  executor_->RunReady();
  EXPECT_THAT(client->last(), ElementsAre(kB));
  const std::size_t reads = server().count("HGETALL");
  redis_.Publish(kKey, "foo");
  executor_->RunReady();
  EXPECT_EQ(server().count("HGETALL"), reads) << "other payloads mean nothing";
  client->backend_->Unwatch("a.B", Category::kProviders);
  executor_->RunReady();
  EXPECT_EQ(redis_.subscriptions(), 0u);
}

TEST_F(RedisBackendTest, ABurstOfMessagesIsAFewReads) {
  const auto client = Connect();
  client->Watch("a.B");
  server().commands.clear();
  for (int i = 0; i < 500; ++i) {
    redis_.Set(kKey, "dubbo://10.0.0.1:" + std::to_string(i + 1) + "/a.B", now() + 60000);
    Advance(milliseconds(1));
  }
  Advance(seconds(2));
  EXPECT_THAT(client->last(), SizeIs(500));
  EXPECT_LE(server().count("HGETALL"), 6u);
}

TEST_F(RedisBackendTest, AChangeWhileAListIsBeingReadIsReadAfterwards) {
  const auto client = Connect();
  client->Watch("a.B", Category::kRouters);
  server().answer_delay = milliseconds(10);
  const std::string key = "/dubbo/a.B/routers";
  redis_.Set(key, "route://0.0.0.0/a.B?rule=1", now() + 60000);
  // The size at 0 and 10 ms, the list as of 10 ms, known here at 20.
  Advance(milliseconds(15));
  redis_.Set(key, "route://0.0.0.0/a.B?rule=2", now() + 60000);
  Advance(milliseconds(6));
  EXPECT_THAT(client->last(), SizeIs(1));
  Advance(milliseconds(20));
  EXPECT_THAT(client->last(), SizeIs(2));
}

// The last field takes the key along: only the message tells "none" from "wiped".
TEST_F(RedisBackendTest, AnUnregisteredLastProviderIsNoneAWipedKeyIsMissing) {
  const auto client = Connect("delay-notification=0");
  client->Watch("a.B");
  EXPECT_TRUE(client->told_.back().missing) << "never there";
  redis_.Set(kKey, kA, now() + 60000);
  executor_->RunReady();
  redis_.Delete(kKey, kA);
  executor_->RunReady();
  EXPECT_FALSE(client->told_.back().missing);
  EXPECT_THAT(client->last(), IsEmpty());
  redis_.Set(kKey, kA, now() + 60000);
  executor_->RunReady();
  server().hashes.clear();
  Advance(seconds(61));
  EXPECT_TRUE(client->told_.back().missing) << "found gone when it might have expired";
}

TEST_F(RedisBackendTest, AReadFindsListsAndMissingKeys) {
  redis_.Set(kKey, kA, now() + 60000);
  redis_.Set(kKey, kB, now() - 1);
  const auto client = Connect();
  EXPECT_THAT(client->Read("a.B")->children, ElementsAre(kA));
  EXPECT_TRUE(client->Read("a.C")->missing);
}

TEST_F(RedisBackendTest, ServicesAreTheKeysOfLists) {
  for (const char* key : {"/dubbo/a.B/providers", "/dubbo/a.B/routers", "/dubbo/a.C/consumers", "/dubbo/config/dubbo/x",
                          "/dubbo/deep/er/providers", "/dubbo/a.D/nonsense", "/dubbo/providers", "/other/a.E/providers"}) {
    redis_.Set(key, kA, now() + 600000);
  }
  const auto client = Connect("delay-notification=0");
  client->WatchServices();
  EXPECT_THAT(client->services_, ElementsAre(ElementsAre("a.B", "a.C")));
  redis_.Set("/dubbo/a.F/providers", kA, now() + 600000);
  executor_->RunReady();
  EXPECT_THAT(client->services_.back(), ElementsAre("a.B", "a.C", "a.F"));
  redis_.Delete("/dubbo/a.C/consumers", kA);
  executor_->RunReady();
  EXPECT_THAT(client->services_.back(), ElementsAre("a.B", "a.F"));
  // A wipe ends no service.
  const std::size_t told = client->services_.size();
  server().hashes.clear();
  redis_.Publish("/dubbo/a.B/providers", "unregister");
  executor_->RunReady();
  EXPECT_EQ(client->services_.size(), told);
}

TEST_F(RedisBackendTest, RuleDocumentsAreStrings) {
  const auto client = Connect();
  std::vector<std::string> told;
  client->backend_->WatchConfig("dubbo", "a.B::.condition-router", [&](absl::StatusOr<std::optional<std::string>> value) {
    told.push_back(!value.ok() ? std::string(value.status().message()) : value->value_or("none"));
  });
  executor_->RunReady();
  const std::string key = "/dubbo/config/dubbo/a.B::.condition-router";
  EXPECT_THAT(server().commands.front(), ElementsAre("SUBSCRIBE", key));
  server().strings[key] = "force: true";
  redis_.Publish(key, "changed");
  executor_->RunReady();
  redis_.Publish(key, "register");
  executor_->RunReady();
  server().strings.erase(key);
  redis_.Publish(key, "");
  executor_->RunReady();
  EXPECT_THAT(told, ElementsAre("none", "force: true", "none"));
  server().hashes[key]["x"] = "1";
  redis_.Publish(key, "");
  executor_->RunReady();
  EXPECT_THAT(told.back(), AllOf(HasSubstr("WRONGTYPE"), HasSubstr(key)));
  client->backend_->UnwatchConfig("dubbo", "a.B::.condition-router");
  executor_->RunReady();
  EXPECT_EQ(redis_.subscriptions(), 0u);
}

// Expiry. A5: dead providers stay in the hash; {P1: now - 1, P2: now + 60 000} is P2 alone.
TEST_F(RedisBackendTest, WhatIsPastIsIgnoredAndWhatExpiresIsDroppedWithoutAMessage) {
  redis_.Set(kKey, kA, now() - 1);
  redis_.Set(kKey, kB, now() + 20000);
  redis_.Set(kKey, kStatic, 1);
  const auto client = Connect();
  client->Watch("a.B");
  EXPECT_THAT(client->last(), ElementsAre(kB, kStatic));
  Advance(milliseconds(20000));
  EXPECT_THAT(client->last(), ElementsAre(kB, kStatic));
  Advance(milliseconds(1002));
  EXPECT_THAT(client->last(), ElementsAre(kStatic)) << "nobody extended it";
}

TEST_F(RedisBackendTest, ATwoProcessesProviderThatIsKilledIsDroppedWhenItExpires) {
  const auto provider = Connect();
  provider->Put("a.B", kA);
  const auto consumer = Connect();
  consumer->Watch("a.B");
  Advance(seconds(300));
  EXPECT_THAT(consumer->last(), ElementsAre(kA)) << "extended ten times";
  EXPECT_THAT(consumer->told_, Not(Contains(::testing::Field(&ChildrenAnswer::children, IsEmpty()))));
  provider->backend_.reset();
  Advance(seconds(62));
  EXPECT_THAT(consumer->last(), IsEmpty());
}

// A5: a provider whose clock is 70 s behind, with a session of 60 s.
TEST_F(RedisBackendTest, AnOwnerWithAClockBehindIsNoticedAndKept) {
  const auto client = Connect();
  client->Watch("a.B");
  redis_.Set(kKey, kA, now() - 10000);
  executor_->RunReady();
  EXPECT_THAT(client->last(), IsEmpty());
  for (int i = 0; i < 20; ++i) {
    Advance(seconds(30));
    server().hashes[kKey][kA] = std::to_string(now() - 10000);
    if (i > 2) {
      EXPECT_THAT(client->last(), ElementsAre(kA)) << i;
    }
  }
  EXPECT_EQ(log_.count("FL-6-4"), 1u) << "told once";
  Advance(seconds(125));
  EXPECT_THAT(client->last(), IsEmpty()) << "its owner has died";
}

// 40 s behind: it is live for 20 s of each 30.
TEST_F(RedisBackendTest, AnOwnerWithAClockBehindDoesNotComeAndGo) {
  const auto client = Connect();
  client->Watch("a.B");
  int empty = 0;
  for (int i = 0; i < 20; ++i) {
    redis_.server().hashes[kKey][kA] = std::to_string(now() + 20000);
    if (i == 0) redis_.Publish(kKey, "register");
    Advance(seconds(30));
    if (i > 3) empty += client->last().empty() ? 1 : 0;
  }
  EXPECT_EQ(empty, 0);
}

TEST_F(RedisBackendTest, AServersClockThatSaysLaterKeepsWhatOursWouldDrop) {
  // This machine is 70 s ahead of everybody.
  server().clock_offset = seconds(-70);
  redis_.Set(kKey, kA, now() - 15000);
  const auto client = Connect();
  client->Watch("a.B");
  EXPECT_THAT(client->last(), ElementsAre(kA));
  EXPECT_EQ(log_.count("FL-6-3"), 1u);
}

TEST_F(RedisBackendTest, AServersClockThatIsAheadMakesOurEntriesLastAsLongByIt) {
  server().clock_offset = seconds(70);
  const auto client = Connect();
  client->Put("a.B", kA);
  EXPECT_EQ(server().hashes[kKey][kA], std::to_string(now() + 130000));
}

TEST_F(RedisBackendTest, SmallDifferencesOfClocksChangeNothing) {
  server().clock_offset = seconds(5);
  const auto client = Connect();
  client->Put("a.B", kA);
  EXPECT_EQ(server().hashes[kKey][kA], std::to_string(now() + 60000));
  EXPECT_EQ(log_.count("FL-6-3"), 0u);
}

TEST_F(RedisBackendTest, WhoWatchesEverythingDeletesWhatExpiredASessionAgo) {
  redis_.Set(kKey, kA, now() - 50000);
  redis_.Set(kKey, kB, now() + 600000);
  redis_.Set(kKey, kStatic, 1);
  const auto client = Connect();
  Advance(seconds(60));
  EXPECT_THAT(server().hashes[kKey], SizeIs(3)) << "others clean nothing";
  redis_.Set("/dubbo/a.C/providers", kA, now() - 1);
  client->WatchServices();
  server().commands.clear();
  Advance(seconds(30));
  EXPECT_THAT(server().commands, Contains(ElementsAre("HDEL", kKey, kA)));
  EXPECT_THAT(server().commands, Contains(ElementsAre("PUBLISH", kKey, "unregister")));
  EXPECT_EQ(server().count("HDEL"), 1u);
  EXPECT_THAT(server().hashes["/dubbo/a.C/providers"], SizeIs(1)) << "its owner may have a clock behind";
  Advance(seconds(60));
  EXPECT_FALSE(server().hashes.contains("/dubbo/a.C/providers"));
}

// Hostile data.
TEST_F(RedisBackendTest, AForeignValueUnderOurKeyIsToldAndAwaited) {
  server().strings[kKey] = "boo";
  const auto client = Connect();
  client->Watch("a.B");
  EXPECT_EQ(client->told_.back().status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(client->told_.back().status.message(), AllOf(HasSubstr(kKey), HasSubstr("delete or rename")));
  EXPECT_EQ(client->Put("a.B", kA)->code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(client->Read("a.B")->status.code(), absl::StatusCode::kFailedPrecondition);
  server().strings.clear();
  Advance(seconds(31));
  EXPECT_TRUE(client->told_.back().missing) << "looked at again";
  EXPECT_EQ(client->Put("a.B", kA), absl::OkStatus());
  Advance(seconds(1));
  EXPECT_THAT(client->last(), ElementsAre(kA));
}

TEST_F(RedisBackendTest, AnEntryThatWasRefusedIsNotExtended) {
  server().strings[kKey] = "boo";
  const auto client = Connect();
  client->Put("a.B", kA);
  server().commands.clear();
  Advance(seconds(30));
  EXPECT_EQ(server().count("HSET"), 0u);
}

TEST_F(RedisBackendTest, FieldsWithoutATimeAreSkippedAndNamed) {
  server().hashes[kKey] = {{"dubbo://u:secret@10.0.0.9:1/a.B", "abc"}, {kA, std::to_string(now() + 60000)}, {kStatic, "abc"},
                           {std::string("\0\xff\x01", 3), std::to_string(now() + 60000)}};
  const auto client = Connect("delay-notification=0");
  client->Watch("a.B");
  EXPECT_THAT(client->last(), ElementsAre(std::string("\0\xff\x01", 3), kA, kStatic)) << "what is no url is not ours to judge";
  ASSERT_THAT(client->backend_->Skipped(), SizeIs(1));
  EXPECT_THAT(client->backend_->Skipped().front(), AllOf(HasSubstr(kKey), HasSubstr("10.0.0.9"), HasSubstr("abc"), Not(HasSubstr("secret"))));
  EXPECT_EQ(client->description_changes_, 1);
  EXPECT_EQ(log_.count("FL-6-5"), 1u);
  redis_.Delete(kKey, "dubbo://u:secret@10.0.0.9:1/a.B");
  executor_->RunReady();
  EXPECT_THAT(client->backend_->Skipped(), IsEmpty());
  EXPECT_EQ(client->description_changes_, 2);
}

TEST_F(RedisBackendTest, AHashThatIsTooLargeIsNotRead) {
  redis_.Set(kKey, kA, now() + 60000);
  server().lengths[kKey] = 20'000'000;
  const auto client = Connect();
  client->Watch("a.B");
  EXPECT_EQ(client->told_.back().status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(client->told_.back().status.message(), AllOf(HasSubstr(kKey), HasSubstr("20000000")));
  EXPECT_EQ(server().count("HGETALL"), 0u);
}

TEST_F(RedisBackendTest, ForbiddenCommandsAreToldWithTheReason) {
  server().errors = {{"HSET", "NOPERM no permission"}, {"SUBSCRIBE", "NOPERM no channel"}};
  const auto client = Connect();
  EXPECT_EQ(client->Put("a.B", kA)->code(), absl::StatusCode::kPermissionDenied);
  client->Watch("a.B");
  EXPECT_EQ(client->told_.back().status.code(), absl::StatusCode::kPermissionDenied);
  server().errors.clear();
  Advance(seconds(31));
  EXPECT_TRUE(client->told_.back().missing);
}

TEST_F(RedisBackendTest, InfoAndTimeMayBeForbidden) {
  server().errors = {{"INFO", "NOPERM no"}, {"TIME", "NOPERM no"}};
  const auto client = Connect();
  EXPECT_THAT(client->sessions_, ElementsAre(Session::kConnected));
}

TEST_F(RedisBackendTest, StoppingTakesAwayWhatIsDynamic) {
  const auto client = Connect();
  client->Put("a.B", kA);
  client->Put("a.B", kStatic, false);
  EXPECT_EQ(client->Stop(), absl::OkStatus());
  EXPECT_THAT(server().hashes[kKey], ElementsAre(::testing::Pair(kStatic, ::testing::_)));
  EXPECT_THAT(server().commands.back(), ElementsAre("PUBLISH", kKey, "unregister"));
  EXPECT_EQ(server().connections, 0u);
  EXPECT_THAT(client->backend_->Describe(), HasSubstr("stopped"));
  EXPECT_EQ(client->Stop(), absl::OkStatus()) << "again";
}

TEST_F(RedisBackendTest, StoppingWaitsASecondForASilentServer) {
  const auto client = Connect();
  client->Put("a.B", kA);
  server().silent = true;
  EXPECT_EQ(client->Stop().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(server().connections, 0u);
}

}  // namespace
}  // namespace fairlead
