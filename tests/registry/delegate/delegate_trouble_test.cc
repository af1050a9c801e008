// A host's RegistryService that fails, throws, answers late or not at all, comes and goes, and is used from within itself.
#include <thread>

#include "fairlead/base/random.h"
#include "fairlead/tests/registry/delegate/delegate_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Answers = FakeRegistryService::Answers;

constexpr char kOne[] = "dubbo://10.0.0.1:20880/a.B";
constexpr char kTwo[] = "dubbo://10.0.0.2:20880/a.B";

class DelegateTroubleTest : public DelegateFixture {};

TEST_F(DelegateTroubleTest, WhatWasNotThereIsFoundWithinAPeriod) {
  service_->available = false;
  Make("reconnect.period=3000");
  const auto listener = Subscribe();
  const auto registered = Register(std::string(kOne) + "?check=false");
  Advance(seconds(60));
  EXPECT_THAT(service_->calls, IsEmpty()) << "nothing is tried without a connection";
  EXPECT_THAT(service_->looked, 21);
  EXPECT_EQ(registry_->status().state, RegistryState::kConnecting);
  service_->available = true;
  Advance(seconds(3));
  EXPECT_EQ(registry_->status().state, RegistryState::kConnected);
  Advance(seconds(1));
  EXPECT_EQ(Registered(), 1u);
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.1:20880"));
}

TEST_F(DelegateTroubleTest, WhoWaitsIsToldThatTheServiceIsNotThere) {
  service_->available = false;
  Make();
  std::optional<absl::Status> first;
  registry_->Subscribe(U("consumer://10.0.0.9/a.B"), std::make_shared<Listener>(),
                       [&](absl::Status status) { first = std::move(status); });
  Advance(seconds(6));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(first->message()), HasSubstr("RegistryService is not available"));
}

TEST_F(DelegateTroubleTest, AfterALostConnectionEverythingIsMadeAnewAndTheListsStay) {
  Make();
  Register(kOne);
  const auto listener = Subscribe();
  ElsewhereIs({kTwo});
  Advance(seconds(1));
  service_->Break();
  Advance(seconds(4));
  EXPECT_EQ(registry_->status().state, RegistryState::kExpired);
  EXPECT_THAT(listener->Providers(), SizeIs(2)) << "the last list stays";
  service_->calls.clear();
  Advance(seconds(60));
  EXPECT_THAT(service_->calls, IsEmpty());
  service_->available = true;
  Advance(seconds(5));
  EXPECT_EQ(registry_->status().state, RegistryState::kConnected);
  EXPECT_EQ(service_->Count("register "), 1);
  EXPECT_EQ(service_->Count("subscribe "), 1);
  EXPECT_EQ(Registered(), 1u);
  EXPECT_EQ(log_.count("FL-1-5"), 1u);
  EXPECT_EQ(log_.count("FL-1-11"), 1u);
  ElsewhereIs({});
  Advance(seconds(2));
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.1:20880"));
}

TEST_F(DelegateTroubleTest, AConnectionThatWasLostBetweenTwoLooksIsNoticedWhenTheHostSaysSo) {
  Make();
  Register(kOne);
  service_->Break();
  service_->available = true;
  EXPECT_EQ(Registered(), 0u);
  service_->lost();
  Advance(seconds(2));
  EXPECT_EQ(Registered(), 1u);
  EXPECT_EQ(registry_->status().state, RegistryState::kConnected);
}

// In Dubbo each look at a connection that is gone puts off what waits to be tried again, by more than the time to the next.
TEST_F(DelegateTroubleTest, WhatWaitsForItsNextTryIsNotPutOff) {
  Make("retry.period=5000&reconnect.period=3000");
  service_->error = absl::UnavailableError("not now");
  Register(std::string(kOne) + "?check=false");
  const auto listener = Subscribe();
  Advance(seconds(1));
  const int failed = service_->Count("register ");
  // It comes and goes, and is there for a moment only.
  for (int round = 0; round < 10; ++round) {
    service_->Break();
    Advance(milliseconds(3000));
    service_->available = true;
    Advance(milliseconds(3000));
  }
  EXPECT_GE(service_->Count("register "), failed + 10) << "with each connection at least";
  service_->error = absl::OkStatus();
  Advance(seconds(61));
  EXPECT_EQ(Registered(), 1u);
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.1:20880"));
}

TEST_F(DelegateTroubleTest, FailedCallsAreTriedAgainWhileTheConnectionStands) {
  Make();
  service_->error = absl::UnavailableError("overloaded");
  EXPECT_EQ(Register(kOne)->code(), absl::StatusCode::kUnavailable);
  Register(std::string(kTwo) + "?check=false");
  const auto listener = Subscribe();
  Advance(seconds(20));
  EXPECT_EQ(registry_->status().state, RegistryState::kConnected);
  EXPECT_THAT(std::string(registry_->status().last_error.message()), HasSubstr("overloaded"));
  service_->error = absl::OkStatus();
  Advance(seconds(61));
  EXPECT_EQ(Registered(), 1u) << "the first was told that it failed";
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.2:20880"));
  EXPECT_EQ(registry_->status().last_error, absl::OkStatus());
}

TEST_F(DelegateTroubleTest, WhatTheServiceThrowsIsAFailure) {
  Make();
  service_->throws = true;
  const auto status = Register(kOne);
  ASSERT_TRUE(status);
  EXPECT_THAT(std::string(status->message()), HasSubstr("RegistryService::Register threw"));
  EXPECT_GE(log_.count("FL-8-1"), 1u);
  const auto listener = Subscribe();
  Register(std::string(kTwo) + "?check=false");
  Advance(seconds(30));
  EXPECT_THAT(registry_->Describe(), HasSubstr("exceptions"));
  service_->throws = false;
  Advance(seconds(61));
  EXPECT_EQ(Registered(), 1u);
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.2:20880"));
}

TEST_F(DelegateTroubleTest, AnAnswerThatDoesNotComeIsAFailureAndALateListCounts) {
  Make();
  service_->answers = Answers::kLater;
  const auto listener = Subscribe();
  Register(std::string(kOne) + "?check=false");
  Advance(seconds(6));
  EXPECT_THAT(listener->last, IsEmpty());
  EXPECT_THAT(std::string(registry_->status().last_error.message()), HasSubstr("was not answered within 5000 ms"));
  EXPECT_GE(service_->Count("subscribe "), 2) << "tried again";
  // All answers to all tries, in order.
  service_->GiveLate();
  Advance(seconds(1));
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.1:20880"));
  service_->answers = Answers::kAtOnce;
  Advance(seconds(20));
  EXPECT_EQ(registry_->status().last_error, absl::OkStatus());
}

TEST_F(DelegateTroubleTest, AnOlderTrysListDoesNotReplaceANewerOnes) {
  Make();
  service_->answers = Answers::kNever;
  const auto listener = Subscribe();
  const auto first = service_->subscribed.begin()->second;
  Advance(seconds(8));
  const auto second = service_->subscribed.begin()->second;
  ASSERT_EQ(service_->Count("subscribe "), 2);
  first({kOne});
  Advance(seconds(1));
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.1:20880")) << "the first word there is";
  second({kTwo});
  first({kOne});
  Advance(seconds(2));
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.2:20880"));
}

TEST_F(DelegateTroubleTest, ListsOfALostConnectionAreNotBelieved) {
  Make();
  ElsewhereIs({kOne});
  const auto listener = Subscribe();
  const auto old = service_->subscribed.begin()->second;
  service_->Break();
  Advance(seconds(3));
  old({});
  old({kTwo});
  Advance(seconds(2));
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.1:20880"));
}

TEST_F(DelegateTroubleTest, AConfirmedSubscriptionWithoutAListIsLookedUp) {
  Make();
  ElsewhereIs({kOne});
  service_->tells_first_list = false;
  const auto listener = Subscribe();
  EXPECT_EQ(service_->Count("lookup "), 0);
  Advance(milliseconds(1250));
  EXPECT_EQ(service_->Count("lookup "), 1);
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.1:20880"));
  ElsewhereIs({kTwo});
  Advance(seconds(2));
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.2:20880"));
}

TEST_F(DelegateTroubleTest, NoCallIsMadeWithinAnother) {
  Make();
  const auto listener = Subscribe();
  // From within a call the host uses the registry, and answers at once.
  int depth = 0;
  service_->in_call = [&](const std::string& call) {
    if (++depth > 20) return;
    registry_->Register(U("dubbo://10.0.1." + std::to_string(depth) + ":1/a.B?check=false"), nullptr);
    if (call.starts_with("register")) registry_->Lookup(U("consumer://10.0.0.9/a.B"), [](const auto&) {});
    service_->lost();
  };
  listener->then = [&] { registry_->Unsubscribe(U("consumer://10.0.0.9/a.B?check=false"), listener); };
  Register(kOne);
  Advance(seconds(30));
  EXPECT_FALSE(service_->nested);
  EXPECT_EQ(Registered(), 21u);
  service_->in_call = nullptr;
}

TEST_F(DelegateTroubleTest, TheHostMayDropTheRegistryWithinACall) {
  for (const char* call : {"register", "subscribe", "unregister", "unsubscribe", "lookup"}) {
    service_ = std::make_shared<FakeRegistryService>(server_);
    Make();
    service_->in_call = [&, call](const std::string& made) {
      if (made.starts_with(call)) registry_.reset();
    };
    const auto listener = Subscribe();
    if (registry_ != nullptr) Register(kOne);
    if (registry_ != nullptr) registry_->Lookup(U("consumer://10.0.0.9/c.D"), [](const auto&) {});
    Run();
    if (registry_ != nullptr) registry_->Unsubscribe(U("consumer://10.0.0.9/a.B?check=false"), listener);
    Run();
    if (registry_ != nullptr) registry_->Unregister(U(kOne), nullptr);
    Advance(seconds(10));
    EXPECT_EQ(registry_, nullptr) << call;
    EXPECT_FALSE(service_->nested) << call;
    EXPECT_EQ(Registered(), 0u) << call;
  }
}

TEST_F(DelegateTroubleTest, AnswersAfterTheEndAreNotHeard) {
  Make();
  service_->answers = Answers::kLater;
  const auto listener = Subscribe();
  Register(std::string(kOne) + "?check=false");
  const auto notify = service_->subscribed.begin()->second;
  const auto lost = service_->lost;
  registry_.reset();
  Advance(seconds(10));
  const std::weak_ptr<FakeRegistryService> service = service_;
  auto late = std::exchange(service_->late, {});
  EXPECT_EQ(service_.use_count(), 1) << "nothing of ours holds it";
  for (const auto& give : late) give();
  notify({kOne});
  lost();
  Run();
  EXPECT_EQ(listener->told, 0);
}

TEST_F(DelegateTroubleTest, AnswersMayOutliveTheExecutorAndComeFromAnyThread) {
  Make();
  service_->answers = Answers::kLater;
  const auto listener = Subscribe();
  std::thread([&] {
    for (const auto& give : std::exchange(service_->late, {})) give();
  }).join();
  Run();
  EXPECT_EQ(listener->told, 1);
  service_->answers = Answers::kLater;
  Register(std::string(kOne) + "?check=false");
}

TEST_F(DelegateTroubleTest, TheEndTakesBackWhatIsDynamicAndWaitsASecondAtMost) {
  Make("timeout=500");
  Register(kOne);
  Register(std::string(kTwo) + "?dynamic=false");
  service_->answers = Answers::kNever;
  std::optional<absl::Status> ended;
  registry_->Destroy([&](absl::Status status) { ended = std::move(status); });
  Advance(milliseconds(499));
  EXPECT_EQ(service_->Count("unregister dubbo://10.0.0.1"), 1);
  Advance(milliseconds(1101));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(service_->Count("unregister dubbo://10.0.0.2"), 0);
}

// Chance: what is wanted stands in the end, whatever the service does meanwhile.
class DelegateConvergenceTest : public DelegateTroubleTest, public ::testing::WithParamInterface<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, DelegateConvergenceTest, ::testing::Range<std::uint64_t>(1, 21));

TEST_P(DelegateConvergenceTest, WhatIsWantedStandsInTheEnd) {
  Make();
  const auto listener = Subscribe();
  Random random(GetParam());
  std::set<int> wanted;
  for (int step = 0; step < 500; ++step) {
    const int n = static_cast<int>(random.Below(20)) + 1;
    const Url url = U("dubbo://10.0.0." + std::to_string(n) + ":1/a.B?check=false");
    switch (random.Below(10)) {
      case 0:
        service_->Break();
        break;
      case 1:
      case 2:
        service_->available = true;
        break;
      case 3:
        service_->throws = random.Below(3) == 0;
        break;
      case 4:
        service_->error = random.Below(3) == 0 ? absl::UnavailableError("x") : absl::OkStatus();
        break;
      case 5:
        service_->answers = static_cast<Answers>(random.Below(3));
        break;
      case 6:
        service_->GiveLate();
        break;
      case 7:
        if (service_->available && random.Below(2) == 0) {
          service_->Break();
          service_->available = true;
          service_->lost();
        }
        break;
      case 8:
        wanted.erase(n);
        registry_->Unregister(url, nullptr);
        break;
      default:
        wanted.insert(n);
        registry_->Register(url, nullptr);
    }
    Advance(milliseconds(static_cast<int>(random.Below(3000))));
  }
  service_->available = true;
  service_->throws = false;
  service_->error = absl::OkStatus();
  service_->answers = Answers::kAtOnce;
  service_->late.clear();
  Advance(seconds(180));
  EXPECT_EQ(Registered(), wanted.size());
  EXPECT_EQ(listener->Providers().size(), wanted.size());
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
}

}  // namespace
}  // namespace fairlead
