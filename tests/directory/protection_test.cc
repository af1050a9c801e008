// Empty protection: the state machine alone, then what a directory makes of it.

#include "fairlead/directory/protection.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "fairlead/tests/directory/directory_fixture.h"

namespace fairlead {
namespace {

using internal::Protection;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880", kC[] = "10.0.0.3:20880";
constexpr char kDisableAll[] =
    "override://0.0.0.0/com.acme.Orders?category=configurators&dynamic=false&disabled=true";

TEST(ProtectionTest, BeginsOnceAndLastsFromTheFirstEmptyList) {
  FakeClock clock;
  Protection protection(clock, minutes(10));
  EXPECT_EQ(protection.OnEmpty(0), Protection::Verdict::kForbid);
  EXPECT_FALSE(protection.list().has_value());
  EXPECT_EQ(protection.OnEmpty(3), Protection::Verdict::kBegin);
  const auto until = protection.list()->until;
  clock.Advance(minutes(9));
  EXPECT_EQ(protection.OnEmpty(3), Protection::Verdict::kStay);
  EXPECT_EQ(protection.list()->until, until);
  EXPECT_EQ(until - clock.SteadyNow(), minutes(1));
  EXPECT_EQ(protection.list()->providers, 3u);
}

TEST(ProtectionTest, EndsAndMayBeginAnew) {
  FakeClock clock;
  Protection protection(clock, minutes(10));
  EXPECT_FALSE(protection.End().has_value());
  protection.OnEmpty(1);
  clock.Advance(seconds(5));
  EXPECT_EQ(protection.End(), seconds(5));
  EXPECT_FALSE(protection.End().has_value());
  clock.Advance(seconds(5));
  EXPECT_EQ(protection.OnEmpty(2), Protection::Verdict::kBegin);
  EXPECT_EQ(protection.list()->until - clock.SteadyNow(), minutes(10));
}

TEST(ProtectionTest, WithoutAnAgeThereIsNone) {
  FakeClock clock;
  for (const int age : {0, -1}) {
    Protection protection(clock, milliseconds(age));
    EXPECT_EQ(protection.OnEmpty(3), Protection::Verdict::kForbid);
  }
}

TEST(ProtectionTest, TellsItsAgeWhateverTheWallClockDoes) {
  FakeClock clock;
  Protection protection(clock, minutes(10));
  protection.OnEmpty(3);
  EXPECT_GT(protection.list()->Age(clock.SteadyNow()).count(), 0) << "zero means: not protected";
  clock.SetSystem(Clock::SystemTime(seconds(0)));
  clock.Advance(seconds(12));
  EXPECT_EQ(protection.list()->Age(clock.SteadyNow()), seconds(12));
  EXPECT_EQ(protection.list()->ToString(clock.SteadyNow(), 2),
            "protected since 2024-01-01 00:00:00 UTC (12.0 s): the registry lists no provider; 2 of 3 still valid, until "
            "2024-01-01 00:10:00 UTC");
}

TEST(ProtectionTest, TheConsumersWordGoesBeforeTheRegistrys) {
  UrlPool pool{RealClock()};
  const auto age = [&](const std::string& params, bool enabled = true) {
    return Protection::MaxAge(*Url::Parse("consumer://10.0.0.9/a.B?x=y" + params, pool), enabled, milliseconds(700)).count();
  };
  EXPECT_EQ(age(""), 700);
  EXPECT_EQ(age("", false), 0);
  EXPECT_EQ(age("&enable-empty-protection=true", false), 700);
  EXPECT_EQ(age("&enable-empty-protection=false"), 0);
  EXPECT_EQ(age("&enable-empty-protection=perhaps"), 0) << "as Dubbo reads it";
  EXPECT_EQ(age("&protect-max-age=30"), 30);
  EXPECT_EQ(age("&protect-max-age=30", false), 0);
  EXPECT_EQ(age("&protect-max-age=0"), 0);
  EXPECT_EQ(age("&protect-max-age=-5"), 700) << "which nobody can mean";
  EXPECT_EQ(age("&protect-max-age=soon"), 700);
}

class ProtectedDirectoryTest : public DirectoryFixture {
 protected:
  void Told(const std::vector<std::string>& list) {
    Providers(list);
    executor_.RunReady();
  }
  nanoseconds ProtectedFor() { return handle_->Stats().protected_for; }
  // Why nobody can be picked.
  std::string Refused() {
    const auto lease = handle_->Select({});
    if (lease.ok()) return "somebody was picked";
    EXPECT_EQ(lease.status().code(), absl::StatusCode::kUnavailable);
    return std::string(lease.status().message());
  }
  void ExpectForbidden() {
    EXPECT_THAT(Refused(), HasSubstr("no enabled provider of com.acme.Orders in the registry"));
    EXPECT_EQ(ProtectedFor(), nanoseconds(0));
    EXPECT_EQ(handle_->Explain({}).protection, "");
  }
  // What the log says of the ends of protections.
  std::vector<std::string> Ends() {
    std::vector<std::string> texts;
    for (const LogRecorder::Line& line : lines_.lines()) {
      if (line.code == "FL-3-15") texts.push_back(line.text);
    }
    return texts;
  }
  void Down(const std::string& address) {
    protocol_->unavailable.insert(address);
    protocol_->reports.at(address).Down();
  }
};

// Field report A2.19.
TEST_F(ProtectedDirectoryTest, WhenAllVanishAtOnceTheLastListStaysAndSaysSo) {
  Open({"10.0.0.1", "10.0.0.2"});
  EXPECT_EQ(ProtectedFor(), nanoseconds(0));
  Told({});
  executor_.Advance(seconds(12));
  EXPECT_THAT(Shares(200), UnorderedElementsAre(Key(kA), Key(kB)));
  EXPECT_EQ(ProtectedFor(), seconds(12));
  const PickTrace trace = handle_->Explain({});
  EXPECT_THAT(trace.protection, HasSubstr("protected since 2024-01-01 00:00:00 UTC (12.0 s)"));
  EXPECT_THAT(trace.ToString(), HasSubstr("\n  protected since 2024-01-01 00:00:00 UTC (12.0 s): the registry lists no "
                                          "provider; 2 of 2 still valid, until 2024-01-01 00:10:00 UTC\n"));
  EXPECT_EQ(trace.stats.protected_for, seconds(12));
  EXPECT_EQ(lines_.count("FL-3-14"), 1u);
  EXPECT_EQ(protocol_->referred, 2);
  EXPECT_EQ(protocol_->destroyed, 0);
}

// Field report A2.22.
TEST_F(ProtectedDirectoryTest, TheNextListReplacesIt) {
  Open({"10.0.0.1"});
  Told({});
  EXPECT_EQ(PickAddress(), kA);
  Told({"10.0.0.2"});
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  EXPECT_EQ(ProtectedFor(), nanoseconds(0));
  EXPECT_EQ(handle_->Explain({}).protection, "");
  EXPECT_THAT(Ends(), ElementsAre(HasSubstr("the registry lists providers again")));
  executor_.Advance(minutes(11));
  EXPECT_EQ(protocol_->deleted, 1);
  EXPECT_EQ(PickAddress(), kB) << "the age of the old list is nothing to the new one";
}

TEST_F(ProtectedDirectoryTest, TheSameProvidersComeBackUntouched) {
  Open({"10.0.0.1", "10.0.0.2"});
  Told({});
  executor_.Advance(minutes(1));
  Told({"10.0.0.1", "10.0.0.2"});
  executor_.Advance(minutes(1));
  EXPECT_EQ(protocol_->referred, 2);
  EXPECT_EQ(protocol_->destroyed, 0);
  EXPECT_EQ(protocol_->updated, 0);
}

// Field report A2.20.
TEST_F(ProtectedDirectoryTest, ADeadProviderStaysInTheListButGetsNoCallsAndIsProbedEverMoreRarely) {
  Open({"10.0.0.1", "10.0.0.2"});
  Told({});
  Down(kA);
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  executor_.Advance(milliseconds(20));
  EXPECT_THAT(handle_->Explain({}).protection, HasSubstr("1 of 2 still valid"));
  Down(kB);
  executor_.Advance(milliseconds(20));
  EXPECT_THAT(Refused(), AllOf(HasSubstr("all 2 are down"), HasSubstr("the registry lists no provider since 2024-01-01")));
  EXPECT_THAT(handle_->Explain({}).protection, HasSubstr("0 of 2 still valid"));
  executor_.Advance(minutes(4));
  const int early = protocol_->asked;
  executor_.Advance(minutes(5));
  EXPECT_GE(protocol_->asked - early, 2 * 5 * 60 / 30 - 4);
  EXPECT_LE(protocol_->asked - early, 2 * 5 * 60 / 15) << "back-off with a cap";
  EXPECT_EQ(protocol_->referred, 2) << "the connections stay";
  EXPECT_EQ(protocol_->destroyed, 0);
  // One answers again, and serves again.
  protocol_->unavailable.erase(kA);
  executor_.Advance(seconds(31));
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));
  EXPECT_THAT(handle_->Explain({}).protection, HasSubstr("1 of 2 still valid"));
  executor_.Advance(minutes(1));
  ExpectForbidden();
  executor_.Advance(seconds(1));
  EXPECT_EQ(protocol_->deleted, 2);
  const int asked = protocol_->asked;
  executor_.Advance(minutes(10));
  EXPECT_EQ(protocol_->asked, asked) << "nobody is dialled for ever";
}

TEST_F(ProtectedDirectoryTest, CallsThatFindAProviderGoneTakeItOut) {
  Open({"10.0.0.1", "10.0.0.2"});
  Told({});
  protocol_->unavailable = {kA};
  for (int failures = 0; failures < 3;) {
    absl::StatusOr<Lease> lease = handle_->Select({});
    ASSERT_TRUE(lease.ok());
    const bool gone = lease->As<FakeProtocol::FakeInvoker>().address() == kA;
    lease->End(gone ? absl::UnavailableError("connection refused") : absl::OkStatus());
    failures += gone;
  }
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  executor_.Advance(milliseconds(20));
  EXPECT_THAT(handle_->Explain({}).protection, HasSubstr("1 of 2 still valid"));
}

TEST_F(ProtectedDirectoryTest, AReferThatFailsIsTriedAgain) {
  protocol_->failing = {kA};
  Open({"10.0.0.1", "10.0.0.2"});
  Told({});
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  protocol_->failing.clear();
  executor_.Advance(minutes(1));
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
  EXPECT_GT(ProtectedFor().count(), 0);
}

TEST_F(ProtectedDirectoryTest, TheAgeCountsFromTheFirstEmptyListAndDrains) {
  Open({"10.0.0.1"});
  absl::StatusOr<Lease> lease = handle_->Select({});
  Told({});
  executor_.Advance(minutes(9));
  Told({});
  executor_.Advance(seconds(59));
  EXPECT_EQ(PickAddress(), kA);
  EXPECT_EQ(lines_.count("FL-3-14"), 1u);
  executor_.Advance(seconds(1));
  ExpectForbidden();
  EXPECT_THAT(Ends(), ElementsAre(AllOf(HasSubstr("after 600 s"), HasSubstr("protect-max-age"))));
  EXPECT_EQ(protocol_->destroyed, 0) << "a call is still out";
  lease->End(absl::OkStatus());
  executor_.Advance(milliseconds(50));
  EXPECT_EQ(protocol_->deleted, 1);
  Told({});
  ExpectForbidden();
  Told({"10.0.0.3"});
  EXPECT_EQ(PickAddress(), kC);
}

TEST_F(ProtectedDirectoryTest, TheAgeIsAParameter) {
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop&protect-max-age=1500");
  Open({"10.0.0.1"});
  Told({});
  executor_.Advance(milliseconds(1499));
  EXPECT_EQ(PickAddress(), kA);
  executor_.Advance(milliseconds(1));
  ExpectForbidden();
}

TEST_F(ProtectedDirectoryTest, WithFalseAnEmptyListHoldsAtOnce) {
  Start(kUnprotected);
  Open({"10.0.0.1"});
  Told({});
  ExpectForbidden();
  executor_.Advance(seconds(1));
  EXPECT_EQ(protocol_->deleted, 1);
  EXPECT_EQ(lines_.count("FL-3-14") + lines_.count("FL-3-15"), 0u);
}

TEST_F(ProtectedDirectoryTest, AFirstListWithoutProvidersHasNothingToProtect) {
  Open({});
  ExpectForbidden();
  executor_.Advance(minutes(1));
  Told({});
  ExpectForbidden();
  EXPECT_EQ(lines_.count("FL-3-14"), 0u);
}

TEST_F(ProtectedDirectoryTest, AListThatWasNeverAppliedIsKeptToo) {
  Providers({"10.0.0.1"});  // the rules are not there yet
  Providers({});
  Overrides({});
  Rules({});
  executor_.RunReady();
  EXPECT_EQ(PickAddress(), kA);
  EXPECT_THAT(handle_->Explain({}).protection, HasSubstr("1 of 1 still valid"));
}

TEST_F(ProtectedDirectoryTest, AnAgeThatIsOverBeforeTheRulesCameCountsToo) {
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop&protect-max-age=1000");
  Providers({"10.0.0.1"});
  Providers({});
  executor_.Advance(seconds(2));
  Overrides({});
  Rules({});
  executor_.RunReady();
  ExpectForbidden();
  EXPECT_EQ(protocol_->referred, 0);
}

// The providers of the list cache file are a list that is held: that the registry then has none at all looks like one
// that lost its data.
TEST_F(ProtectedDirectoryTest, AListOfTheCacheFileIsProtectedFromTheRegistrysFirstWord) {
  Overrides({});
  Rules({});
  Notification cached{std::string(kService), Category::kProviders, ++version_, ListKind::kList, {ProviderAt("10.0.0.1")}};
  cached.cached = true;
  directory_->Notify(cached);
  executor_.RunReady();
  EXPECT_EQ(PickAddress(), kA);
  Told({});
  EXPECT_EQ(PickAddress(), kA);
  EXPECT_THAT(handle_->Explain({}).protection, HasSubstr("1 of 1 still valid"));
  EXPECT_THAT(handle_->Explain({}).skipped, IsEmpty()) << "the registry has answered";
  executor_.Advance(minutes(10));
  ExpectForbidden();
}

TEST_F(ProtectedDirectoryTest, ADisablingOverrideIsObeyed) {
  Open({"10.0.0.1", "10.0.0.2"});
  Told({});
  Overrides({"override://10.0.0.1:20880/com.acme.Orders?category=configurators&dynamic=false&disabled=true"});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  Overrides({kDisableAll});
  executor_.RunReady();
  EXPECT_THAT(Refused(), AllOf(HasSubstr("all 2 are disabled"), HasSubstr("the registry lists no provider since")));
  Overrides({});
  executor_.RunReady();
  EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kA), Key(kB)));
  EXPECT_GT(ProtectedFor().count(), 0);
}

TEST_F(ProtectedDirectoryTest, ProvidersThatWereAllDisabledBeforeTheyWentAreNotKept) {
  Open({"10.0.0.1", "10.0.0.2"});
  Overrides({kDisableAll});
  executor_.RunReady();
  Told({});
  ExpectForbidden();
  Overrides({});
  executor_.RunReady();
  ExpectForbidden();
}

// A wiped registry: whatever it had of the service goes, in any order.
TEST_F(ProtectedDirectoryTest, WhatGoesWithTheProvidersStaysWithThem) {
  const std::string disable = "override://10.0.0.1:20880/com.acme.Orders?category=configurators&dynamic=false&disabled=true";
  for (int order = 0; order < 3; ++order) {
    SCOPED_TRACE(order);
    Open({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
    Overrides({disable});
    Rules({RuleUrl("=> host!=10.0.0.3")});
    executor_.RunReady();
    ASSERT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
    if (order == 0) Told({});
    Overrides({});
    if (order == 1) Told({});
    Rules({});
    executor_.Advance(seconds(3));
    Told({});
    EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kB)));
    EXPECT_GT(ProtectedFor().count(), 0);
    EXPECT_THAT(handle_->Explain({}).skipped, Contains(HasSubstr("stay in force with the protected providers")));
    // Its end takes them along.
    Told({"10.0.0.1", "10.0.0.3"});
    EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kA), Key("10.0.0.3:20880")));
  }
}

TEST_F(ProtectedDirectoryTest, AFloodOfClearsIsOneTask) {
  Open({"10.0.0.1"});
  Told({});
  for (int i = 0; i < 1000; ++i) handle_->ClearProtection();
  EXPECT_EQ(executor_.pending_posts(), 1u);
  executor_.RunReady();
  ExpectForbidden();
}

TEST_F(ProtectedDirectoryTest, RulesAndOverridesComeAndGoAsAlways) {
  Open({"10.0.0.1?weight=100", "10.0.0.2?weight=100"});
  Rules({RuleUrl("=> host=10.0.0.2")});
  Overrides({"override://10.0.0.1:20880/com.acme.Orders?category=configurators&dynamic=false&weight=7"});
  executor_.RunReady();
  Told({});
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB)));
  executor_.Advance(seconds(11));
  Rules({});
  Overrides({});
  executor_.RunReady();
  EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kA), Key(kB))) << "an empty list of rules means no rules";
  EXPECT_EQ(handle_->List({})[0].Param("weight"), "100");
  Rules({RuleUrl("=> host=10.0.0.1")});
  executor_.RunReady();
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA)));
  EXPECT_EQ(protocol_->referred, 2);
}

TEST_F(ProtectedDirectoryTest, WhatTheRegistryCannotSayNeitherBeginsNorEndsIt) {
  Open({"10.0.0.1"});
  Notify(Category::kProviders, ListKind::kUnknown);
  executor_.RunReady();
  EXPECT_EQ(ProtectedFor(), nanoseconds(0));
  Told({});
  executor_.Advance(minutes(5));
  Notify(Category::kProviders, ListKind::kUnknown);
  executor_.RunReady();
  EXPECT_EQ(PickAddress(), kA);
  EXPECT_EQ(ProtectedFor(), minutes(5));
  EXPECT_THAT(handle_->Explain({}).skipped, ElementsAre(HasSubstr("cannot say its providers now")));
  executor_.Advance(minutes(5));
  EXPECT_EQ(ProtectedFor(), nanoseconds(0));
  EXPECT_THAT(Refused(), HasSubstr("no provider of com.acme.Orders")) << "its last word was: none";
}

TEST_F(ProtectedDirectoryTest, TheHostMayClearIt) {
  Open({"10.0.0.1"});
  handle_->ClearProtection();
  executor_.RunReady();
  EXPECT_EQ(PickAddress(), kA) << "there was nothing to clear";
  Told({});
  std::thread host([&] { handle_->ClearProtection(); });
  host.join();
  EXPECT_EQ(PickAddress(), kA) << "it happens on the executor";
  executor_.RunReady();
  ExpectForbidden();
  EXPECT_THAT(Ends(), ElementsAre(HasSubstr("the host cleared it")));
  executor_.Advance(seconds(1));
  EXPECT_EQ(protocol_->deleted, 1);
  Told({"10.0.0.2"});
  Told({});
  EXPECT_EQ(PickAddress(), kB) << "the next list is protected again";
  directory_->Close(nanoseconds(0), nullptr);
  handle_->ClearProtection();
  executor_.Advance(minutes(11));
  EXPECT_EQ(handle_->Select({}).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(ProtectedFor(), nanoseconds(0));
}

TEST_F(ProtectedDirectoryTest, AListOvertakesAClear) {
  Open({"10.0.0.1"});
  Told({});
  handle_->ClearProtection();  // queued
  Providers({"10.0.0.1"});
  executor_.RunReady();
  EXPECT_EQ(PickAddress(), kA);
}

TEST_F(ProtectedDirectoryTest, ARegistryThatFlapsBeginsAnewEachTime) {
  Open({"10.0.0.1", "10.0.0.2"});
  for (int i = 0; i < 10; ++i) {
    Told({});
    executor_.Advance(minutes(9));
    EXPECT_EQ(ProtectedFor(), minutes(9));
    EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kA), Key(kB)));
    Told({"10.0.0.1", "10.0.0.2"});
  }
  EXPECT_EQ(protocol_->referred, 2);
  EXPECT_EQ(protocol_->destroyed, 0);
}

// Everything a host may call from its threads, while the registry flaps: no pick fails that has somebody.
TEST_F(ProtectedDirectoryTest, OtherThreadsSeeAPickAndAState) {
  Open({"10.0.0.1", "10.0.0.2"});
  std::atomic<bool> stop{false};
  std::atomic<int> failed{0}, looked{0}, seen_protected{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        failed += !handle_->Select({}).ok();
        seen_protected += handle_->Stats().protected_for.count() > 0;
        const PickTrace trace = handle_->Explain({});
        failed += trace.service.empty();
        ++looked;
      }
    });
  }
  for (int round = 0; round < 200 || ((looked < 200 || seen_protected == 0) && round < 1000000); ++round) {
    Told({});
    executor_.Advance(milliseconds(20));
    Told({round % 2 == 0 ? "10.0.0.1" : "10.0.0.2"});
    executor_.Advance(milliseconds(20));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(seen_protected, 0);
}

}  // namespace
}  // namespace fairlead
