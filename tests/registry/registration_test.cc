#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fairlead/tests/registry/registry_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kProvider = "dubbo://10.0.0.1:20880/a.B?version=1";
constexpr std::string_view kQuiet = "dubbo://10.0.0.1:20880/a.B?check=false&version=1";

class RegistrationTest : public RegistryFixture {
 protected:
  std::vector<std::string> Log() { return std::exchange(backend_->log, {}); }
  // Answers one operation and runs what follows.
  void Answer(Operation::Kind kind, absl::Status status = absl::OkStatus()) {
    ASSERT_TRUE(backend_->Answer(kind, std::move(status)));
    Run();
  }
  static absl::Status Broken() { return absl::UnavailableError("connection loss"); }
  std::optional<absl::Status> first_, second_;
};

TEST_F(RegistrationTest, CheckedDoneWaitsForTheRegistry) {
  Open().Register(U(kProvider), Into(first_));
  Run();
  EXPECT_FALSE(first_.has_value());
  EXPECT_THAT(Log(), ElementsAre("put a.B/providers " + std::string(kProvider)));
  EXPECT_TRUE(backend_->open[0].dynamic);
  Answer(Operation::kPut);
  EXPECT_TRUE(first_ && first_->ok());
  EXPECT_EQ(registry_->status().registered, 1u);
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
}

TEST_F(RegistrationTest, DoneNeverComesInsideTheCall) {
  Open();
  for (const std::string_view url :
       {kQuiet, std::string_view("dubbo://h:1/a.B?register=false"), std::string_view("dubbo://h:1"),
        std::string_view("dubbo://h:1/a.B?category=x")}) {
    first_.reset();
    registry_->Register(U(url), Into(first_));
    EXPECT_FALSE(first_.has_value()) << url;
    Run();
    EXPECT_TRUE(first_.has_value()) << url;
  }
}

TEST_F(RegistrationTest, UncheckedDoneOnlyRecordsTheWish) {
  Open("fake://h:1", false).Register(U(kQuiet), Into(first_));
  Run();
  EXPECT_TRUE(first_ && first_->ok());
  EXPECT_THAT(Log(), IsEmpty()) << "nothing is asked for without a session";
  backend_->Tell(Session::kConnected);
  Run();
  EXPECT_THAT(Log(), ElementsAre("put a.B/providers " + std::string(kQuiet)));
}

TEST_F(RegistrationTest, CheckNeedsBothUrlsAndAPort) {
  Open("fake://h:1?check=false").Register(U(kProvider), Into(first_));
  Run();
  EXPECT_TRUE(first_ && first_->ok());
  Open().Register(U("consumer://10.0.0.9/a.B?category=consumers"), Into(second_));
  Run();
  EXPECT_TRUE(second_ && second_->ok());
}

TEST_F(RegistrationTest, PersistentUnlessDynamic) {
  Open().Register(U("override://0.0.0.0/a.B?category=configurators&dynamic=false&weight=7"), Into(first_));
  Run();
  EXPECT_FALSE(backend_->open[0].dynamic);
  EXPECT_EQ(backend_->open[0].key, (RegistryKey{"a.B", Category::kConfigurators}));
}

TEST_F(RegistrationTest, SomeUrlsAreNotForTheRegistry) {
  Open("fake://h:1?accepts=-rest");
  for (const std::string_view url : {"rest://h:1/a.B", "dubbo://h:1/a.B?register=false",
                                     "dubbo://h:1/a.B?isExtra=true", "consumer://h/*?category=consumers"}) {
    first_.reset();
    registry_->Register(U(url), Into(first_));
    Run();
    EXPECT_TRUE(first_ && first_->ok()) << url;
  }
  EXPECT_THAT(Log(), IsEmpty());
  EXPECT_EQ(registry_->status().registered, 0u);
}

TEST_F(RegistrationTest, AnInterfaceThatStandsForManyIsRefused) {
  FailbackRegistry& registry = Open();
  for (const std::string_view text : {"dubbo://h:1/com.acme.*", "dubbo://h:1/com.*.Orders?check=false", "dubbo://h:1/x?interface=*.Orders",
                                      "override://0.0.0.0/com.acme.*?category=configurators&weight=1"}) {
    std::optional<absl::Status> told;
    registry.Register(U(text), [&](absl::Status status) { told = std::move(status); });
    Run();
    ASSERT_TRUE(told.has_value()) << text;
    EXPECT_EQ(told->code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(told->message()), HasSubstr("stands for many services"));
  }
  EXPECT_EQ(backend_->Count(Operation::kPut), 0u);
  EXPECT_EQ(registry.status().registered, 0u);
}

TEST_F(RegistrationTest, NothingIsStoredInARegistryThatIsOnlyReadFrom) {
  Open("fake://h:1?register=false").Register(U(kProvider), Into(first_));
  Run();
  EXPECT_TRUE(first_ && first_->ok());
  EXPECT_THAT(Log(), IsEmpty());
  EXPECT_EQ(registry_->status().registered, 0u);
  // Another url of the same registry may say otherwise.
  registry_->Register(U(kProvider), RegistryCallOptions(), nullptr);
  Run();
  EXPECT_EQ(Log().size(), 1u);
}

TEST_F(RegistrationTest, ACheckedFailureIsToldAndEndsTheWish) {
  Open().Register(U(kProvider), Into(first_));
  Answer(Operation::kPut, Broken());
  ASSERT_TRUE(first_.has_value());
  EXPECT_TRUE(absl::IsUnavailable(*first_));
  EXPECT_THAT(first_->ToString(),
              AllOf(HasSubstr("fake://h:1"), HasSubstr("10.0.0.1"), HasSubstr("connection loss")));
  EXPECT_EQ(registry_->status().registered, 0u);
  Answer(Operation::kRemove);
  Log();
  // Dubbo's defect: registered all the same by the next recovery.
  backend_->Tell(Session::kExpired);
  backend_->Tell(Session::kNew);
  Advance(milliseconds(60'000));
  EXPECT_THAT(Log(), IsEmpty());
}

TEST_F(RegistrationTest, AFailureKeepsTheCodeOfWhatTheCallerCanMend) {
  const std::vector<std::pair<absl::Status, absl::StatusCode>> cases = {
      {absl::InvalidArgumentError("too long"), absl::StatusCode::kInvalidArgument},
      {absl::PermissionDeniedError("no auth"), absl::StatusCode::kPermissionDenied},
      {absl::FailedPreconditionError("read only"), absl::StatusCode::kFailedPrecondition},
      {Broken(), absl::StatusCode::kUnavailable},
      {absl::NotFoundError("no node"), absl::StatusCode::kUnavailable},
      {absl::InternalError("odd"), absl::StatusCode::kUnavailable}};
  for (const auto& [answer, code] : cases) {
    Open().Register(U(kProvider), Into(first_));
    Answer(Operation::kPut, answer);
    EXPECT_EQ(first_->code(), code) << answer;
    Open().Register(U(kProvider), nullptr);
    Answer(Operation::kPut);
    registry_->Unregister(U(kProvider), Into(second_));
    Answer(Operation::kRemove, answer);
    EXPECT_EQ(second_->code(), code) << answer;
    EXPECT_THAT(std::string(second_->message()), HasSubstr(answer.message()));
    first_.reset();
    second_.reset();
  }
}

TEST_F(RegistrationTest, ErrorsShowTheBeginningOfALongUrl) {
  const std::string url = std::string(kProvider) + "&text=" + std::string(2 << 20, 'x');
  Open().Register(U(url), Into(first_));
  Answer(Operation::kPut, absl::InvalidArgumentError("too long"));
  EXPECT_THAT(std::string(first_->message()), AllOf(HasSubstr("10.0.0.1"), HasSubstr("bytes)"), HasSubstr("too long")));
  EXPECT_LT(first_->message().size(), 1000u);
  Open("fake://h:1", false).Register(U(url), Into(second_));
  Advance(milliseconds(5000));
  EXPECT_LT(second_->message().size(), 1000u);
  for (const std::string& wrong : {"dubbo://h:1?text=" + std::string(2 << 20, 'x'),
                                   "dubbo://h:1/a.B?category=" + std::string(2 << 20, 'x')}) {
    first_.reset();
    Open().Register(U(wrong), Into(first_));
    Run();
    EXPECT_TRUE(absl::IsInvalidArgument(*first_));
    EXPECT_LT(first_->message().size(), 1000u);
  }
}

TEST_F(RegistrationTest, AFailureThatMayHaveStoredTheUrlIsCleanedUp) {
  Open().Register(U(kProvider), Into(first_));
  Answer(Operation::kPut, Broken());
  EXPECT_FALSE(first_->ok());
  EXPECT_EQ(backend_->Count(Operation::kRemove), 1u);
  Answer(Operation::kRemove);
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
}

TEST_F(RegistrationTest, ASilentRegistryFailsACheckedCallAtTheTimeout) {
  Open("fake://h:1?timeout=3000", false).Register(U(kProvider), Into(first_));
  Advance(milliseconds(2999));
  EXPECT_FALSE(first_.has_value());
  Advance(milliseconds(1));
  ASSERT_TRUE(first_.has_value());
  EXPECT_TRUE(absl::IsUnavailable(*first_));
  EXPECT_THAT(first_->ToString(), AllOf(HasSubstr("fake://h:1"), HasSubstr("3000 ms"), HasSubstr("; fake; check")));
  backend_->Tell(Session::kConnected);
  Advance(milliseconds(10'000));
  EXPECT_THAT(Log(), IsEmpty());
}

TEST_F(RegistrationTest, ACallsOwnOptionsHoldNotTheRegistrys) {
  Open("fake://h:1?check=false&accepts=tri");
  RegistryCallOptions call;
  call.timeout = milliseconds(70);
  registry_->Register(U(kProvider), call, Into(first_));
  Run();
  EXPECT_FALSE(first_.has_value()) << "check=true";
  EXPECT_THAT(Log(), ElementsAre(HasSubstr("put a.B/providers"))) << "and not accepts=tri";
  Advance(milliseconds(70));
  ASSERT_TRUE(first_.has_value());
  EXPECT_THAT(first_->ToString(), HasSubstr("within 70 ms"));

  Open("fake://h:1?timeout=60000");
  RegistryCallOptions quick;
  quick.check = false;
  quick.simplified = true;
  registry_->Register(U("dubbo://10.0.0.1:20880/a.B?retries=2&version=1"), quick, Into(second_));
  Run();
  EXPECT_TRUE(second_ && second_->ok());
  EXPECT_THAT(Log(), ElementsAre("put a.B/providers dubbo://10.0.0.1:20880/a.B?version=1"));
}

TEST_F(RegistrationTest, TheOppositeCallCancels) {
  Open().Register(U(kQuiet), Into(first_));
  Answer(Operation::kPut, absl::PermissionDeniedError("no auth"));
  registry_->Unregister(U(kQuiet), Into(second_));
  Log();
  Advance(milliseconds(60'000));
  EXPECT_THAT(Log(), IsEmpty()) << "nothing is there, so nothing is to be done";
  EXPECT_EQ(registry_->status().registered, 0u);
}

TEST_F(RegistrationTest, AWaitingRegisterIsToldThatItWasCancelled) {
  Open().Register(U(kProvider), Into(first_));
  registry_->Unregister(U(kProvider), Into(second_));
  Run();
  EXPECT_TRUE(first_ && absl::IsCancelled(*first_));
  EXPECT_EQ(backend_->Count(Operation::kRemove), 0u) << "one operation of a url at a time";
  Answer(Operation::kPut);
  EXPECT_FALSE(second_.has_value());
  Answer(Operation::kRemove);
  EXPECT_TRUE(second_ && second_->ok());
}

TEST_F(RegistrationTest, RegisteredAgainWhileTheRemovalIsUnderWay) {
  Open().Register(U(kQuiet), nullptr);
  Answer(Operation::kPut);
  registry_->Unregister(U(kQuiet), nullptr);
  registry_->Register(U(kQuiet), nullptr);
  Answer(Operation::kRemove, Broken());
  // The removal may have happened although its answer says otherwise.
  Answer(Operation::kPut);
  EXPECT_EQ(registry_->status().registered, 1u);
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
  EXPECT_THAT(backend_->open, IsEmpty());
}

TEST_F(RegistrationTest, UnregisterRemovesWhatSomebodyElseStored) {
  Open().Unregister(U("override://0.0.0.0/a.B?category=configurators&check=false&dynamic=false&x=1"),
                    Into(first_));
  Run();
  EXPECT_THAT(Log(), ElementsAre("remove a.B/configurators override://0.0.0.0/"
                                 "a.B?category=configurators&check=false&dynamic=false&x=1"));
  Answer(Operation::kRemove);
  // A provider of another library may stand under more parameters than this one would write.
  registry_->Unregister(U("dubbo://h:1/a.B?anyhost=true&check=false"), Into(second_));
  Answer(Operation::kRemove);
  Answer(Operation::kRemove);
  EXPECT_THAT(Log(), ElementsAre("remove a.B/providers dubbo://h:1/a.B?anyhost=true&check=false",
                                 "remove a.B/providers dubbo://h:1/a.B?check=false"));
}

TEST_F(RegistrationTest, ANewerTimestampReplacesTheOldText) {
  Open().Register(U("dubbo://h:1/a.B?check=false&timestamp=1"), nullptr);
  Answer(Operation::kPut);
  registry_->Register(U("dubbo://h:1/a.B?check=false&timestamp=2"), nullptr);
  Answer(Operation::kPut);
  Answer(Operation::kRemove);
  EXPECT_THAT(Log(), ElementsAre("put a.B/providers dubbo://h:1/a.B?check=false&timestamp=1",
                                 "put a.B/providers dubbo://h:1/a.B?check=false&timestamp=2",
                                 "remove a.B/providers dubbo://h:1/a.B?check=false&timestamp=1"));
  EXPECT_EQ(registry_->status().registered, 1u);
  // Any of its texts names the url.
  registry_->Unregister(U("dubbo://h:1/a.B?check=false&timestamp=1"), nullptr);
  Answer(Operation::kRemove);
  EXPECT_THAT(Log(), ElementsAre("remove a.B/providers dubbo://h:1/a.B?check=false&timestamp=2"));
  EXPECT_THAT(backend_->open, IsEmpty());
}

TEST_F(RegistrationTest, AFailedReplacementLeavesTheOldText) {
  Open().Register(U("dubbo://h:1/a.B?timestamp=1"), nullptr);
  Answer(Operation::kPut);
  registry_->Register(U("dubbo://h:1/a.B?timestamp=2"), Into(first_));
  Answer(Operation::kPut, absl::PermissionDeniedError("no auth"));
  EXPECT_FALSE(first_->ok());
  EXPECT_THAT(backend_->open, IsEmpty());
  EXPECT_EQ(registry_->status().registered, 1u);
}

TEST_F(RegistrationTest, UrlsThatDifferInAParameterCoexist) {
  Open();
  registry_->Register(U("dubbo://h:1/a.B?check=false"), nullptr);
  registry_->Register(U("dubbo://h:1/a.B?check=false&version=1"), nullptr);
  registry_->Register(U("dubbo://h:1/a.B?check=false&version=1"), nullptr);
  Run();
  EXPECT_EQ(Log().size(), 2u);
}

TEST_F(RegistrationTest, ANewSessionRegistersEverything) {
  Open().Register(U(kQuiet), nullptr);
  registry_->Register(U("dubbo://h:2/a.B?check=false&dynamic=false"), nullptr);
  Answer(Operation::kPut);
  Answer(Operation::kPut);
  Log();
  backend_->Tell(Session::kExpired);
  Advance(milliseconds(10'000));
  EXPECT_THAT(Log(), IsEmpty());
  EXPECT_FALSE(registry_->IsAvailable());
  backend_->Tell(Session::kNew);
  Advance(milliseconds(1000));
  EXPECT_EQ(Log().size(), 2u);
  EXPECT_TRUE(registry_->IsAvailable());
  EXPECT_EQ(registry_->status().unacknowledged, 2u);
}

TEST_F(RegistrationTest, AnExpiredSessionSettlesRemovalsOfDynamicUrls) {
  Open().Register(U(kProvider), nullptr);
  Answer(Operation::kPut);
  backend_->Tell(Session::kSuspended);
  Run();
  registry_->Unregister(U(kProvider), Into(first_));
  Run();
  EXPECT_FALSE(first_.has_value());
  backend_->Tell(Session::kExpired);
  Run();
  EXPECT_TRUE(first_ && first_->ok());
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
}

TEST_F(RegistrationTest, LateAnswersOfAnEndedSessionDoNotCount) {
  Open().Register(U(kQuiet), nullptr);
  Run();
  Done late = std::move(backend_->open[0].done);
  backend_->open.clear();
  backend_->Tell(Session::kExpired);
  backend_->Tell(Session::kNew);
  Advance(milliseconds(1000));
  executor_->Post([&late] { late(absl::OkStatus()); });
  Run();
  EXPECT_EQ(registry_->status().unacknowledged, 1u);
  Answer(Operation::kPut);
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
}

TEST_F(RegistrationTest, AThrowingDoneIsCaughtAndCounted) {
  Open().Register(U(kQuiet), [](const absl::Status&) { throw std::runtime_error("host bug"); });
  Run();
  EXPECT_EQ(registry_->status().counters.host_exceptions, 1u);
  ASSERT_EQ(recorder_.count("FL-1-3"), 1u);
}

TEST_F(RegistrationTest, DestroyRemovesDynamicUrlsAndCancelsWhoWaits) {
  Open().Register(U("dubbo://h:1/a.B?check=false"), nullptr);
  registry_->Register(U("dubbo://h:2/a.B?check=false&dynamic=false"), nullptr);
  Answer(Operation::kPut);
  Answer(Operation::kPut);
  registry_->Register(U("dubbo://h:3/a.B"), Into(first_));
  Log();
  registry_->Destroy(Into(second_));
  Run();
  EXPECT_TRUE(first_ && absl::IsCancelled(*first_));
  EXPECT_THAT(Log(), ElementsAre("remove a.B/providers dubbo://h:1/a.B?check=false",
                                 "remove a.B/providers dubbo://h:3/a.B"));
  EXPECT_FALSE(backend_->stop) << "first the removals";
  Answer(Operation::kRemove);
  Answer(Operation::kRemove);
  FinishStop();
  EXPECT_TRUE(second_ && second_->ok());
  second_.reset();
  registry_->Register(U(kQuiet), Into(second_));
  Run();
  EXPECT_TRUE(second_ && absl::IsCancelled(*second_));
  second_.reset();
  registry_->Destroy(Into(second_));
  Run();
  EXPECT_TRUE(second_ && second_->ok());
}

TEST_F(RegistrationTest, DestroyDoesNotWaitForASilentRegistryForLong) {
  Open("fake://h:1?timeout=700").Register(U(kQuiet), nullptr);
  Answer(Operation::kPut);
  registry_->Destroy(Into(first_));
  Advance(milliseconds(699));
  EXPECT_FALSE(backend_->stop);
  Advance(milliseconds(1));
  ASSERT_TRUE(backend_->stop);
  executor_->Post([done = std::exchange(backend_->stop, nullptr)]() mutable { done({}); });
  Run();
  ASSERT_TRUE(first_);
  EXPECT_TRUE(absl::IsUnavailable(*first_));
  EXPECT_THAT(std::string(first_->message()), AllOf(HasSubstr("fake://h:1"), HasSubstr("1 url was")));
}

TEST_F(RegistrationTest, DestroyTellsOfUrlsThatMayStay) {
  const auto ended = [this](std::string_view url, const std::function<void()>& before, const std::function<void()>& after) {
    Open().Register(U(url), nullptr);
    Answer(Operation::kPut);
    before();
    Run();
    registry_->Destroy(Into(first_));
    Run();
    after();
    Run();
    FinishStop();
    return std::exchange(first_, std::nullopt).value().code();
  };
  const auto removed = [this](absl::Status status) { return [this, status] { backend_->Answer(Operation::kRemove, status); }; };
  const auto session = [this](Session state) { return [this, state] { backend_->Tell(state); }; };
  const std::function<void()> nothing = [] {};
  const std::string lasting = "dubbo://10.0.0.1:20880/a.B?check=false&dynamic=false";
  EXPECT_EQ(ended(kQuiet, nothing, removed(absl::OkStatus())), absl::StatusCode::kOk);
  EXPECT_EQ(ended(kQuiet, nothing, removed(Broken())), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ended(kQuiet, nothing, removed(absl::PermissionDeniedError("no auth"))), absl::StatusCode::kOk)
      << "gone with the session";
  EXPECT_EQ(ended(kQuiet, session(Session::kSuspended), nothing), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ended(kQuiet, session(Session::kExpired), nothing), absl::StatusCode::kOk) << "gone with the session";
  EXPECT_EQ(ended(lasting, session(Session::kSuspended), nothing), absl::StatusCode::kOk) << "is to stay";
  const auto unregister = [this, lasting] { registry_->Unregister(U(lasting), nullptr); };
  EXPECT_EQ(ended(lasting, unregister, [this] {
              backend_->Answer(Operation::kRemove);
              backend_->Answer(Operation::kRemove, absl::PermissionDeniedError("no auth"));
            }),
            absl::StatusCode::kUnavailable);
}

TEST_F(RegistrationTest, TheBackendOutlivesItsStop) {
  Open();
  registry_.reset();
  Run();
  ASSERT_TRUE(backend_->stop);
  EXPECT_FALSE(backend_->destroyed);
  FinishStop();
  EXPECT_TRUE(backend_->destroyed);
}

TEST_F(RegistrationTest, DescribeSaysWhatMattersAndNoPassword) {
  Open("fake://user:secret@h:1?timeout=5").Register(U(kQuiet), nullptr);
  Answer(Operation::kPut, Broken());
  EXPECT_THAT(registry_->Describe(),
              AllOf(HasSubstr("fake://h:1"), HasSubstr("connected"), HasSubstr("1 registered"),
                    HasSubstr("1 not confirmed"), HasSubstr("connection loss"), Not(HasSubstr("secret"))));
}

TEST_F(RegistrationTest, TheStateFollowsTheSession) {
  Open("fake://h:1", false);
  const auto state = [this] {
    Run();
    const RegistryState now = registry_->status().state;
    EXPECT_EQ(registry_->IsAvailable(), now == RegistryState::kConnected);
    EXPECT_THAT(registry_->Describe(), HasSubstr("fake://h:1 " + std::string(RegistryStateName(now))));
    return RegistryStateName(now);
  };
  EXPECT_EQ(state(), "connecting");
  backend_->Tell(Session::kConnected);
  EXPECT_EQ(state(), "connected");
  backend_->Tell(Session::kSuspended);
  EXPECT_EQ(state(), "suspended");
  backend_->Tell(Session::kReconnected);
  EXPECT_EQ(state(), "connected");
  backend_->Tell(Session::kExpired);
  EXPECT_EQ(state(), "expired");
  EXPECT_THAT(registry_->Describe(), HasSubstr("expired since "));
  backend_->Tell(Session::kNew);
  EXPECT_EQ(state(), "connected");
  EXPECT_THAT(registry_->Describe(), Not(HasSubstr("since")));
  registry_->Destroy(nullptr);
  EXPECT_EQ(state(), "destroyed");
}

TEST_F(RegistrationTest, AnUnreadableRegistryParameterIsLogged) {
  Open("fake://h:1?timeout=soon");
  EXPECT_EQ(recorder_.count("FL-1-6"), 1u);
}

}  // namespace
}  // namespace fairlead
