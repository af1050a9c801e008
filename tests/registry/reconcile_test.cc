// Getting what is wanted into the registry: at once after an interruption, with pauses after a refusal.
#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/backoff.h"
#include "fairlead/tests/registry/registry_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::string_view kProvider = "dubbo://10.0.0.1:20880/a.B?version=1";
constexpr std::string_view kQuiet = "dubbo://10.0.0.1:20880/a.B?check=false&version=1";

class ReconcileTest : public RegistryFixture {
 protected:
  std::vector<std::string> Log() { return std::exchange(backend_->log, {}); }
  // Answers one operation and runs what follows.
  void Answer(Operation::Kind kind, absl::Status status = absl::OkStatus()) {
    ASSERT_TRUE(backend_->Answer(kind, std::move(status)));
    Run();
  }
  void RegisterMany(int count) {
    for (int i = 0; i < count; ++i) {
      registry_->Register(U("dubbo://10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ":1/a.B?check=false"), nullptr);
    }
    Run();
  }
  // How long until an operation of this kind is under way; at most `most`.
  milliseconds PauseUntil(Operation::Kind kind, milliseconds most) {
    milliseconds pause(0);
    while (backend_->Count(kind) == 0 && pause <= most) {
      Advance(milliseconds(1));
      ++pause;
    }
    return pause;
  }
  static absl::Status Broken() { return absl::UnavailableError("connection loss"); }
  std::optional<absl::Status> first_;
};

TEST_F(ReconcileTest, AFailedOperationIsRetriedForEverAfterRandomPauses) {
  Open("fake://h:1?retry.period=1000").Register(U(kQuiet), Into(first_));
  Run();
  std::vector<milliseconds> pauses;
  milliseconds longest(1000);
  for (int k = 0; k < 20; ++k) {
    Answer(Operation::kPut, Broken());
    ASSERT_EQ(backend_->Count(Operation::kPut), 0u);
    pauses.push_back(PauseUntil(Operation::kPut, longest));
    EXPECT_GE(pauses.back(), milliseconds(200)) << k;
    EXPECT_LE(pauses.back(), longest) << k;
    longest = std::min(longest * 2, milliseconds(60'000));
  }
  EXPECT_GT(*std::max_element(pauses.begin(), pauses.end()), milliseconds(30'000)) << "the pauses grow";
  EXPECT_EQ(std::set(pauses.begin(), pauses.end()).size(), pauses.size()) << "and are random";
  Answer(Operation::kPut);
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
  EXPECT_EQ(registry_->status().counters.retries, 20u);
  EXPECT_EQ(registry_->status().last_error, absl::OkStatus());
  EXPECT_GE(log_.Count("FL-1-1"), 20u);
}

TEST_F(ReconcileTest, TheLastErrorIsOfWhatIsFailingNow) {
  const auto last = [this] { return std::string(registry_->status().last_error.message()); };
  Open("fake://h:1?retry.period=300").Register(U(kQuiet), nullptr);
  const auto listener = std::make_shared<RecordingListener>();
  registry_->Subscribe(U("consumer://10.0.0.9/a.B?check=false"), listener, nullptr);
  Run();
  Answer(Operation::kPut, absl::PermissionDeniedError("denied"));
  EXPECT_EQ(last(), "denied");
  PushError("a.B", Category::kProviders, "broken");
  EXPECT_EQ(last(), "broken");
  Push("a.B", Category::kProviders, {});
  EXPECT_EQ(last(), "denied") << "an older one that still fails";
  PushError("a.B", Category::kProviders, "broken");
  PauseUntil(Operation::kPut, milliseconds(60'000));
  Answer(Operation::kPut);
  EXPECT_EQ(last(), "broken");
  registry_->Unsubscribe(U("consumer://10.0.0.9/a.B?check=false"), listener);
  EXPECT_EQ(last(), "") << "nobody wants it any more";

  registry_->Unregister(U(kQuiet), nullptr);
  Run();
  Answer(Operation::kRemove, absl::UnavailableError("connection loss"));
  EXPECT_EQ(last(), "connection loss");
  backend_->Tell(Session::kSuspended);
  backend_->Tell(Session::kExpired);
  backend_->Tell(Session::kNew);
  Advance(milliseconds(1000));
  EXPECT_EQ(last(), "") << "it went with its session";

  registry_->Register(U("dubbo://10.0.0.2:1/a.B"), Into(first_));
  Run();
  Answer(Operation::kPut, absl::PermissionDeniedError("denied"));
  EXPECT_FALSE(first_->ok());
  EXPECT_EQ(last(), "") << "the wish ended with the failure";
}

TEST_F(ReconcileTest, ALostLinkIsOneLineHoweverManyOperationsMetIt) {
  Open();
  for (int i = 0; i < 50; ++i) {
    const std::string at = std::to_string(i);
    registry_->Register(U("dubbo://10.0.0.1:" + std::to_string(i + 1) + "/a.B?check=false"), nullptr);
    registry_->Subscribe(U("consumer://10.0.0.9/a.C" + at + "?check=false"), std::make_shared<RecordingListener>(), nullptr);
  }
  Run();
  Answer(Operation::kPut);
  registry_->Unregister(U("dubbo://10.0.0.1:1/a.B?check=false"), nullptr);
  backend_->Tell(Session::kSuspended);
  Run();
  Answer(Operation::kRemove, Broken());
  while (backend_->Answer(Operation::kPut, Broken())) Run();
  for (int i = 0; i < 50; ++i) PushError("a.C" + std::to_string(i), Category::kProviders, "connection loss");
  EXPECT_EQ(log_.Count("FL-1-1"), 0u);
  EXPECT_EQ(log_.Count("FL-1-5"), 1u);
  EXPECT_EQ(registry_->status().last_error.message(), "connection loss");
  backend_->Tell(Session::kReconnected);
  Advance(milliseconds(1000));
  Answer(Operation::kPut, absl::PermissionDeniedError("denied"));
  EXPECT_EQ(log_.Count("FL-1-1"), 1u) << "what a registry that is there says is its own line";
}

TEST_F(ReconcileTest, TheLogEndsOnWhatTheSessionIs) {
  const auto lines = [this] {
    std::vector<std::string> about;
    for (const LogRecorder::Line& line : recorder_.lines()) {
      if (line.code == "FL-1-5" || line.code == "FL-1-11") about.push_back(line.text.substr(0, 15));
    }
    return about;
  };
  const auto session = [this](std::initializer_list<Session> changes) {
    for (const Session change : changes) backend_->Tell(change);
    Run();
  };
  Open();
  session({Session::kSuspended, Session::kReconnected});
  EXPECT_THAT(lines(), ElementsAre("connection lost", "connected again"));
  Advance(std::chrono::minutes(10));
  EXPECT_THAT(lines(), SizeIs(2)) << "said once";
  session({Session::kSuspended, Session::kExpired, Session::kNew});
  EXPECT_THAT(lines(), SizeIs(4));
  EXPECT_EQ(lines().back(), "new session; ev");
  Advance(std::chrono::seconds(10));
  session({Session::kSuspended, Session::kReconnected, Session::kSuspended});
  EXPECT_THAT(lines(), SizeIs(4)) << "held back";
  Advance(std::chrono::seconds(49));
  EXPECT_THAT(lines(), SizeIs(4));
  Advance(std::chrono::seconds(1));
  EXPECT_THAT(lines(), SizeIs(5));
  EXPECT_EQ(lines().back(), "connection lost") << "and so it is still";
  Advance(std::chrono::minutes(10));
  EXPECT_THAT(lines(), SizeIs(5));
}

TEST_F(ReconcileTest, ASuccessBeginsThePausesAnew) {
  Open("fake://h:1?retry.period=300").Register(U(kQuiet), nullptr);
  Run();
  for (int k = 0; k < 10; ++k) {
    Answer(Operation::kPut, Broken());
    PauseUntil(Operation::kPut, milliseconds(60'000));
  }
  Answer(Operation::kPut);
  registry_->Unregister(U(kQuiet), nullptr);
  Answer(Operation::kRemove, Broken());
  EXPECT_LE(PauseUntil(Operation::kRemove, milliseconds(300)), milliseconds(300));
}

TEST_F(ReconcileTest, TheUrlsOwnPaceCountsBeforeTheRegistrys) {
  Open("fake://h:1?retry.period=60000");
  registry_->Register(U("dubbo://h:1/a.B?check=false&retry.period=250"), nullptr);
  Answer(Operation::kPut, Broken());
  EXPECT_LE(PauseUntil(Operation::kPut, milliseconds(250)), milliseconds(250));
}

TEST_F(ReconcileTest, RetryTimesCountsAfterTheFirstAndWhatRestsIsNotForgotten) {
  const std::pair<const char*, int> expected[] = {{"3", 4}, {"1", 2}};
  for (const auto& [times, calls_expected] : expected) {
    Open();
    registry_->Register(U("dubbo://h:1/a.B?check=false&retry.times=" + std::string(times)), nullptr);
    Run();
    int calls = 0;
    for (int i = 0; i < 10; ++i) {
      if (backend_->Answer(Operation::kPut, Broken())) ++calls;
      Advance(milliseconds(60'000));
    }
    EXPECT_EQ(calls, calls_expected);
    EXPECT_EQ(registry_->status().retries_pending, 0u);
    EXPECT_EQ(registry_->status().unacknowledged, 1u);
    backend_->Tell(Session::kSuspended);
    backend_->Tell(Session::kReconnected);
    Advance(milliseconds(1000));
    EXPECT_EQ(backend_->Count(Operation::kPut), 1u) << "the next link tries again";
  }
  // As many as it takes.
  for (const char* times : {"0", "-1"}) {
    Open("fake://h:1?retry.times=" + std::string(times));
    registry_->Register(U(kQuiet), nullptr);
    Run();
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(backend_->Answer(Operation::kPut, Broken())) << times << " " << i;
      Advance(milliseconds(60'000));
    }
  }
}

TEST_F(ReconcileTest, AReconnectDoesNotWaitForTheBackOff) {
  Open("fake://h:1?retry.period=600000").Register(U(kQuiet), nullptr);
  Run();
  for (int k = 0; k < 3; ++k) {
    Answer(Operation::kPut, Broken());
    PauseUntil(Operation::kPut, milliseconds(600'000));
  }
  Answer(Operation::kPut, Broken());
  EXPECT_EQ(registry_->status().retries_pending, 1u);
  backend_->Tell(Session::kSuspended);
  backend_->Tell(Session::kReconnected);
  EXPECT_LE(PauseUntil(Operation::kPut, milliseconds(1000)), milliseconds(1000));
  EXPECT_EQ(registry_->status().retries_pending, 0u);
}

TEST_F(ReconcileTest, AtMostOneHundredAndTwentyEightWritesAreUnderWay) {
  Open("fake://h:1", false);
  RegisterMany(500);
  backend_->Tell(Session::kConnected);
  Run();
  EXPECT_EQ(backend_->Count(Operation::kPut), 128u);
  int written = 0;
  while (backend_->Answer(Operation::kPut)) {
    Run();
    ++written;
    ASSERT_LE(backend_->Count(Operation::kPut), 128u);
  }
  EXPECT_EQ(written, 500) << "each once";
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
  // A failure gives its place to others, and an interruption gives all places back.
  Log();
  backend_->Tell(Session::kExpired);
  backend_->Tell(Session::kNew);
  Advance(milliseconds(1000));
  EXPECT_EQ(Log().size(), 128u);
  Answer(Operation::kPut, Broken());
  EXPECT_EQ(Log().size(), 1u);
  backend_->open.clear();
  backend_->Tell(Session::kSuspended);
  backend_->Tell(Session::kReconnected);
  Advance(milliseconds(1000));
  EXPECT_EQ(backend_->Count(Operation::kPut), 128u);
  // What waits for its turn can be taken back, and turns around.
  registry_->Unregister(U("dubbo://10.0.1.249:1/a.B?check=false"), nullptr);
  registry_->Unregister(U("dubbo://10.0.1.248:1/a.B?check=false"), nullptr);
  registry_->Register(U("dubbo://10.0.1.248:1/a.B?check=false"), nullptr);
  while (backend_->Answer(Operation::kPut) || backend_->Answer(Operation::kRemove)) Run();
  EXPECT_EQ(registry_->status().registered, 499u);
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
}

// After an interruption what was not acknowledged is issued again, and only that.
TEST_F(ReconcileTest, ReconnectedInTheSameSessionAsksForTheRest) {
  Open();
  RegisterMany(50);
  for (int i = 0; i < 20; ++i) Answer(Operation::kPut);
  backend_->Tell(Session::kSuspended);
  Run();
  backend_->open.clear();  // answers that never come
  Log();
  Advance(milliseconds(60'000));
  EXPECT_THAT(Log(), IsEmpty());
  backend_->Tell(Session::kReconnected);
  Advance(milliseconds(1000));
  EXPECT_EQ(Log().size(), 30u);
  while (backend_->Answer(Operation::kPut)) Run();
  EXPECT_EQ(registry_->status().registered, 50u);
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
}

TEST_F(ReconcileTest, TheReturnOfManyClientsIsSpread) {
  std::set<std::int64_t> times;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    auto state = std::make_shared<FakeBackend::State>(executor_);
    auto registry =
        FailbackRegistry::Create(U("fake://h:1"), std::make_unique<FakeBackend>(state), Context(seed));
    state->Tell(Session::kConnected);
    registry->Register(U(kQuiet), nullptr);
    Run();
    state->Tell(Session::kExpired);
    state->Tell(Session::kNew);
    Run();
    state->log.clear();
    std::int64_t at = 0;
    while (state->log.empty() && at <= 1000) {
      Advance(milliseconds(1));
      ++at;
    }
    EXPECT_LE(at, 1001);
    times.insert(at);
    registry.reset();
    backend_ = state;
    FinishStop();
  }
  EXPECT_GT(times.size(), 15u);
  EXPECT_LT(*times.begin(), 250) << "none of 20 in the first quarter has a chance of 0.3 %";
  EXPECT_GT(*times.rbegin(), 750);
}

TEST_F(ReconcileTest, WhatWaitsForItsBackOffIsCounted) {
  Open();
  registry_->Register(U(kQuiet), nullptr);
  registry_->Register(U("dubbo://h:2/a.B?check=false"), nullptr);
  Run();
  EXPECT_EQ(registry_->status().retries_pending, 0u);
  Answer(Operation::kPut, Broken());
  Answer(Operation::kPut, Broken());
  EXPECT_EQ(registry_->status().retries_pending, 2u);
  EXPECT_THAT(registry_->Describe(), HasSubstr("2 pending"));
  while (backend_->Count(Operation::kPut) < 2) Advance(milliseconds(100));
  EXPECT_EQ(registry_->status().retries_pending, 0u) << "they are under way";
  Answer(Operation::kPut);
  Answer(Operation::kPut, Broken());
  EXPECT_EQ(registry_->status().retries_pending, 1u);
  for (const std::string_view url : {kQuiet, std::string_view("dubbo://h:2/a.B?check=false")}) {
    registry_->Unregister(U(url), nullptr);
  }
  EXPECT_EQ(registry_->status().retries_pending, 0u) << "the opposite call took it back";
}

TEST_F(ReconcileTest, AFailingUnregisterIsToldAndRetried) {
  Open().Register(U(kProvider), nullptr);
  Answer(Operation::kPut);
  registry_->Unregister(U(kProvider), Into(first_));
  Answer(Operation::kRemove, Broken());
  EXPECT_TRUE(first_ && absl::IsUnavailable(*first_));
  Advance(milliseconds(5000));
  Answer(Operation::kRemove);
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
}

}  // namespace
}  // namespace fairlead
