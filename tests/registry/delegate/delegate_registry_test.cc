// A host's RegistryService as a registry, in the test's own time.
#include "fairlead/registry/delegate/delegate_registry.h"

#include <gmock/gmock.h>

#include <thread>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/registry/delegate/delegate_lists.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/tests/registry/delegate/fake_registry_service.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

using Answers = FakeRegistryService::Answers;
constexpr char kOne[] = "dubbo://10.0.0.1:20880/a.B";
constexpr char kTwo[] = "dubbo://10.0.0.2:20880/a.B";

class DelegateRegistryTest : public ::testing::Test {
 protected:
  struct Listener final : NotifyListener {
    void Notify(Notification full) override {
      last[full.category] = full;
      ++told;
      if (then) std::exchange(then, nullptr)();
    }
    std::vector<std::string> Providers() const {
      const auto at = last.find(Category::kProviders);
      if (at == last.end()) return {"nothing was told"};
      std::vector<std::string> addresses;
      for (const Url& url : at->second.urls) addresses.push_back(url.Address());
      return addresses;
    }
    ListKind kind() const { return last.at(Category::kProviders).kind; }
    std::map<Category, Notification> last;
    std::function<void()> then;
    int told = 0;
  };

  void TearDown() override {
    registry_.reset();
    Advance(seconds(10));
  }
  FailbackRegistry& Make(const std::string& parameters = "") {
    const auto factory = MakeDelegateRegistryFactory("dubbo", [this](const Url&) { return service_; });
    const Url url = *Url::Parse("dubbo://10.9.9.9:9090?file-cache=false&" + parameters, pool_);
    auto backend = factory->Create(url, Context());
    EXPECT_EQ(backend.status(), absl::OkStatus());
    registry_ = FailbackRegistry::Create(url, *std::move(backend), Context());
    Run();
    return *registry_;
  }
  RegistryContext Context() { return {executor_, &clock_, &pool_, &logger_, 7}; }
  Url U(const std::string& text) { return *Url::Parse(text, pool_); }
  void Run() { executor_->RunReady(); }
  void Advance(milliseconds by) { executor_->Advance(by); }
  std::optional<absl::Status> Register(const std::string& url) {
    const auto result = std::make_shared<std::optional<absl::Status>>();
    registry_->Register(U(url), [result](absl::Status status) { *result = std::move(status); });
    Run();
    return *result;
  }
  std::shared_ptr<Listener> Subscribe(const std::string& consumer = "consumer://10.0.0.9/a.B?check=false") {
    const auto listener = std::make_shared<Listener>();
    registry_->Subscribe(U(consumer), listener, nullptr);
    Run();
    return listener;
  }
  // What somebody else has registered.
  void ElsewhereIs(const std::set<std::string>& urls) {
    server_->registered[nullptr] = urls;
    server_->Change();
    Run();
  }
  std::size_t Registered() { return server_->registered[service_.get()].size(); }

  FakeClock clock_;
  const std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  UrlPool pool_{clock_};
  LogRecorder log_;
  Logger logger_{log_.sink(), clock_};
  const std::shared_ptr<FakeRegistryServer> server_ = std::make_shared<FakeRegistryServer>();
  std::shared_ptr<FakeRegistryService> service_ = std::make_shared<FakeRegistryService>(server_);
  std::shared_ptr<FailbackRegistry> registry_;
};

TEST_F(DelegateRegistryTest, RegistersSubscribesAndLooksUp) {
  Make();
  EXPECT_EQ(Register(kOne), absl::OkStatus());
  EXPECT_THAT(service_->calls, Contains("register dubbo://10.0.0.1:20880/a.B"));
  const auto listener = Subscribe();
  EXPECT_THAT(service_->calls, Contains("subscribe consumer://0.0.0.0/a.B?category=providers&check=false&classifier=*&enabled=*"
                                        "&group=*&interface=a.B&version=*"));
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.1:20880"));
  ElsewhereIs({kTwo});
  Advance(seconds(1));
  EXPECT_THAT(listener->Providers(), UnorderedElementsAre("10.0.0.1:20880", "10.0.0.2:20880"));
  std::optional<absl::StatusOr<std::vector<Url>>> found;
  registry_->Lookup(U("consumer://10.0.0.9/c.D"), [&](absl::StatusOr<std::vector<Url>> urls) { found = std::move(urls); });
  Run();
  ASSERT_TRUE(found && found->ok());
  EXPECT_THAT(**found, IsEmpty());
  EXPECT_EQ(service_->Count("lookup "), 1);
  registry_->Unsubscribe(U("consumer://10.0.0.9/a.B?check=false"), listener);
  registry_->Unregister(U(kOne), nullptr);
  Advance(seconds(1));
  EXPECT_THAT(service_->subscribed, IsEmpty());
  EXPECT_EQ(Registered(), 0u);
}

TEST_F(DelegateRegistryTest, ListsOfTheServiceAreReadAsDubboWritesThem) {
  Make();
  const auto listener = Subscribe();
  const auto notify = service_->subscribed.begin()->second;
  const auto tell = [&](std::vector<std::string> urls) {
    notify(std::move(urls));
    Advance(seconds(2));
  };
  tell({kOne, "dubbo://10.0.0.2:1/other.Service", "override://0.0.0.0/a.B?category=configurators", "no url at all"});
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.1:20880"));
  EXPECT_THAT(registry_->status().unreadable, ElementsAre(HasSubstr("no url at all")));
  const int told = listener->told;
  tell({"empty://0.0.0.0/a.B?category=routers"});
  EXPECT_EQ(listener->told, told) << "it is about another category";
  tell({"empty://0.0.0.0/a.B?category=configurators,providers"});
  EXPECT_EQ(listener->kind(), ListKind::kEmpty);
  tell({kTwo});
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.2:20880"));
  tell({});
  EXPECT_EQ(listener->kind(), ListKind::kUnknown) << "it says nothing of the service";
  Advance(seconds(31));
  EXPECT_EQ(listener->kind(), ListKind::kEmpty);
}

TEST_F(DelegateRegistryTest, BurstsAreToldTogether) {
  Make();
  const auto listener = Subscribe();
  const int told = listener->told;
  for (int n = 1; n <= 100; ++n) ElsewhereIs({"dubbo://10.0.0." + std::to_string(n) + ":1/a.B"});
  Advance(seconds(3));
  EXPECT_LE(listener->told, told + 2);
  EXPECT_THAT(listener->Providers(), ElementsAre("10.0.0.100:1"));
}

TEST_F(DelegateRegistryTest, AllServices) {
  Make();
  const auto listener = Subscribe("admin://10.0.0.9?interface=*&group=*&version=*&classifier=*&category=providers&check=false");
  ElsewhereIs({kOne, "dubbo://10.0.0.3:1/c.D"});
  Advance(seconds(1));
  EXPECT_EQ(service_->Count("subscribe admin://0.0.0.0/*?category=providers,consumers,routers,configurators&"), 1);
  EXPECT_EQ(service_->Count("subscribe consumer://0.0.0.0/a.B?category=providers"), 1);
  EXPECT_EQ(service_->Count("subscribe consumer://0.0.0.0/c.D?category=providers"), 1);
  // The server tells a service's end by a mark.
  for (const auto& [url, notify] : std::map(service_->subscribed)) {
    if (url.starts_with("admin")) notify({"empty://0.0.0.0/c.D?category=providers,consumers,routers,configurators"});
  }
  Advance(seconds(2));
  EXPECT_EQ(service_->Count("unsubscribe consumer://0.0.0.0/c.D"), 1);
}

TEST_F(DelegateRegistryTest, WhatWasNotThereIsFoundWithinAPeriod) {
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

TEST_F(DelegateRegistryTest, WhoWaitsIsToldThatTheServiceIsNotThere) {
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

TEST_F(DelegateRegistryTest, AfterALostConnectionEverythingIsMadeAnewAndTheListsStay) {
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

TEST_F(DelegateRegistryTest, AConnectionThatWasLostBetweenTwoLooksIsNoticedWhenTheHostSaysSo) {
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
TEST_F(DelegateRegistryTest, WhatWaitsForItsNextTryIsNotPutOff) {
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

TEST_F(DelegateRegistryTest, FailedCallsAreTriedAgainWhileTheConnectionStands) {
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

TEST_F(DelegateRegistryTest, WhatTheServiceThrowsIsAFailure) {
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

TEST_F(DelegateRegistryTest, AnAnswerThatDoesNotComeIsAFailureAndALateListCounts) {
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

TEST_F(DelegateRegistryTest, AnOlderTrysListDoesNotReplaceANewerOnes) {
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

TEST_F(DelegateRegistryTest, ListsOfALostConnectionAreNotBelieved) {
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

TEST_F(DelegateRegistryTest, AConfirmedSubscriptionWithoutAListIsLookedUp) {
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

TEST_F(DelegateRegistryTest, NoCallIsMadeWithinAnother) {
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

TEST_F(DelegateRegistryTest, TheHostMayDropTheRegistryWithinACall) {
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

TEST_F(DelegateRegistryTest, AnswersAfterTheEndAreNotHeard) {
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

TEST_F(DelegateRegistryTest, AnswersMayOutliveTheExecutorAndComeFromAnyThread) {
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

TEST_F(DelegateRegistryTest, TheEndTakesBackWhatIsDynamicAndWaitsASecondAtMost) {
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

TEST_F(DelegateRegistryTest, TheFactorySaysWhatIsWrong) {
  const Url url = U("dubbo://10.9.9.9:9090");
  const auto code = [&](const RegistryServiceMaker& make, const Url& at) {
    return MakeDelegateRegistryFactory("dubbo", make)->Create(at, Context()).status().code();
  };
  EXPECT_EQ(code([](const Url&) { return nullptr; }, url), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code([](const Url&) -> std::shared_ptr<RegistryService> { throw std::runtime_error("x"); }, url),
            absl::StatusCode::kInternal);
  EXPECT_EQ(code([](const Url&) { return absl::NotFoundError("x"); }, url), absl::StatusCode::kNotFound);
  EXPECT_EQ(code([this](const Url&) { return service_; }, U("dubbo://h:1?reconnect.period=0")),
            absl::StatusCode::kInvalidArgument);
}

// Chance: what is wanted stands in the end, whatever the service does meanwhile.
class DelegateConvergenceTest : public DelegateRegistryTest, public ::testing::WithParamInterface<std::uint64_t> {};
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

TEST(DelegateRuntimeTest, AHostAddsItWithItsScheme) {
  const auto server = std::make_shared<FakeRegistryServer>();
  server->registered[nullptr] = {kOne};
  FakeClock clock;
  const auto executor = std::make_shared<ManualExecutor>(clock);
  const auto extensions = DefaultExtensions()
                              .ToBuilder()
                              .AddRegistry(MakeDelegateRegistryFactory(
                                  "dubbo", [&](const Url&) { return std::make_shared<FakeRegistryService>(server); }))
                              .Build();
  ASSERT_TRUE(extensions.ok()) << extensions.status();
  auto runtime = *Runtime::Create({.extensions = *extensions, .executor = executor, .clock = &clock, .local_address = "10.0.0.9"});
  std::shared_ptr<Directory> directory;
  runtime->ReferAsync("dubbo://10.9.9.9:9090?file-cache=false", "consumer://10.0.0.9/a.B", std::make_shared<FakeProtocol>(),
                      [&](absl::StatusOr<std::shared_ptr<Directory>> made) {
                        ASSERT_TRUE(made.ok()) << made.status();
                        directory = *made;
                      });
  executor->Advance(seconds(1));
  ASSERT_NE(directory, nullptr);
  auto lease = directory->Select({});
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lease->invoker().url().Address(), "10.0.0.1:20880");
  lease->End(absl::OkStatus());
  directory.reset();
  runtime->Shutdown(seconds(1), [](const absl::Status&) {});
  executor->Advance(seconds(20));
}

}  // namespace
}  // namespace fairlead
