#include "fairlead/registry/memory/memory_registry.h"

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/asio_executor.h"
#include "fairlead/tests/registry/registry_fixture.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using Op = MemoryStore::Operation;

constexpr std::string_view kConsumer = "consumer://10.0.0.9/a.B";
constexpr Category kProviders = Category::kProviders;

std::string P(std::string_view host) { return "dubbo://" + std::string(host) + ":1/a.B"; }

class MemoryRegistryTest : public RegistryFixture {
 protected:
  ~MemoryRegistryTest() override {
    others_.clear();
    registry_.reset();
    store_->HoldAnswers(false);
    Run();
  }
  std::shared_ptr<FailbackRegistry> Make(std::string_view url) {
    auto backend = factory_->Create(U(url), Context());
    EXPECT_TRUE(backend.ok()) << backend.status();
    auto registry = FailbackRegistry::Create(U(url), *std::move(backend), Context());
    Run();
    return registry;
  }
  FailbackRegistry& OpenMemory(std::string_view url = "memory://test") {
    registry_ = Make(url);
    return *registry_;
  }
  FailbackRegistry& Another(std::string_view url = "memory://test") {
    others_.push_back(Make(url));
    return *others_.back();
  }
  std::shared_ptr<RecordingListener> Subscribe(FailbackRegistry& registry,
                                               std::string_view consumer = kConsumer) {
    auto listener = std::make_shared<RecordingListener>();
    first_.reset();
    registry.Subscribe(U(consumer), listener, Into(first_));
    Run();
    return listener;
  }

  std::shared_ptr<MemoryRegistryFactory> factory_ = MakeMemoryRegistryFactory();
  std::shared_ptr<MemoryStore> store_ = factory_->store("test");
  std::vector<std::shared_ptr<FailbackRegistry>> others_;
  std::optional<absl::Status> first_;
};

TEST_F(MemoryRegistryTest, AHostsProvidersReachAConsumer) {
  EXPECT_TRUE(store_->Put(P("p1")).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(store_->Put("nonsense")));
  const auto listener = Subscribe(OpenMemory());
  EXPECT_TRUE(first_ && first_->ok());
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1"));
  EXPECT_TRUE(store_->Put(P("p2")).ok());
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1 p2:1"));
  EXPECT_TRUE(store_->Remove(P("p1")).ok());
  EXPECT_TRUE(store_->Remove(P("never")).ok());
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p2:1"));
  EXPECT_THAT(store_->Services(), ElementsAre("a.B"));
}

TEST_F(MemoryRegistryTest, RegistriesOfOneFactoryAndNameMeet) {
  FailbackRegistry& provider = OpenMemory();
  const auto listener = Subscribe(Another());
  const auto stranger = Subscribe(Another("memory://other"));
  const auto other_group = Subscribe(Another("memory://test?group=g"));
  first_.reset();
  provider.Register(U(P("p1")), Into(first_));
  Run();
  EXPECT_TRUE(first_ && first_->ok());
  EXPECT_EQ(listener->lines.back(), "a.B/providers list p1:1");
  EXPECT_EQ(stranger->lines.back(), "a.B/providers empty");
  EXPECT_EQ(other_group->lines.back(), "a.B/providers empty");
}

TEST_F(MemoryRegistryTest, DynamicUrlsGoWithTheirRegistry) {
  OpenMemory();
  FailbackRegistry& provider = Another();
  provider.Register(U(P("p1")), nullptr);
  provider.Register(U(P("p2") + "?dynamic=false"), nullptr);
  Run();
  others_.clear();
  Run();
  EXPECT_THAT(store_->List("a.B", kProviders), ElementsAre(P("p2") + "?dynamic=false"));
  EXPECT_THAT(store_->clients(), ElementsAre(1u));
}

TEST_F(MemoryRegistryTest, TheServerReapsASessionThatIsGone) {
  const auto listener = Subscribe(OpenMemory());
  FailbackRegistry& provider = Another();
  provider.Register(U(P("p1")), nullptr);
  Run();
  listener->Take();
  store_->Suspend(2);
  Run();
  EXPECT_THAT(listener->Take(), IsEmpty());
  store_->Expire(2);
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
  store_->Resume(2);
  Advance(milliseconds(1000));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1"))
      << "registered again in the new session";
}

// Field reports DG #259, DG #956.
TEST_F(MemoryRegistryTest, AnInterruptionInTheSameSessionIsNotSeenByListeners) {
  ASSERT_TRUE(store_->Put(P("p1")).ok());
  ASSERT_TRUE(store_->Put(P("p2")).ok());
  const auto listener = Subscribe(OpenMemory());
  listener->Take();
  store_->Suspend();
  Run();
  EXPECT_FALSE(registry_->IsAvailable());
  store_->Resume();
  Run();
  EXPECT_TRUE(registry_->IsAvailable());
  EXPECT_THAT(listener->Take(), IsEmpty());
  ASSERT_TRUE(store_->Put(P("p3")).ok());
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1 p2:1 p3:1"));
}

TEST_F(MemoryRegistryTest, ChangesDuringAnInterruptionAreFoundAfterIt) {
  const auto listener = Subscribe(OpenMemory());
  store_->Suspend();
  ASSERT_TRUE(store_->Put(P("p1")).ok());
  Run();
  listener->Take();
  store_->Expire();
  store_->Resume();
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1"));
}

TEST_F(MemoryRegistryTest, AClientThatComesDuringASuspensionWaits) {
  store_->Suspend();
  OpenMemory();
  registry_->Register(U(P("p1")), Into(first_));
  Advance(milliseconds(1000));
  EXPECT_FALSE(first_.has_value());
  store_->Resume();
  Run();
  EXPECT_TRUE(first_ && first_->ok());
}

TEST_F(MemoryRegistryTest, ReorderedAndDuplicatedAnswersSayNothingNew) {
  for (const char* host : {"p1", "p2", "p3", "p4"}) ASSERT_TRUE(store_->Put(P(host)).ok());
  const auto listener = Subscribe(OpenMemory());
  listener->Take();
  store_->Reorder("a.B", kProviders, 5);
  store_->Duplicate(true);
  store_->Reorder("a.B", kProviders, 6);
  Run();
  EXPECT_THAT(listener->Take(), IsEmpty());
  EXPECT_GE(registry_->status().counters.unchanged, 2u);
}

TEST_F(MemoryRegistryTest, SlowAnswersComeInOrder) {
  OpenMemory();
  store_->HoldAnswers(true);
  const auto listener = Subscribe(*registry_);
  ASSERT_TRUE(store_->Put(P("p1")).ok());
  Run();
  EXPECT_THAT(listener->Take(), IsEmpty());
  EXPECT_EQ(store_->ReleaseAnswers(1), 1u);
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
  store_->HoldAnswers(false);
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1"));
}

TEST_F(MemoryRegistryTest, AFailedReadIsReadAgain) {
  ASSERT_TRUE(store_->Put(P("p1")).ok());
  OpenMemory();
  store_->FailNext(Op::kRead, absl::UnavailableError("broken"), 3);
  const auto listener = Subscribe(*registry_);
  EXPECT_THAT(listener->Take(), IsEmpty());
  Advance(milliseconds(4'000));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p1:1"));
}

TEST_F(MemoryRegistryTest, ALostAcknowledgementIsNoSecondUrl) {
  OpenMemory();
  store_->FailNext(Op::kPut, absl::UnavailableError("connection loss"), 1, true);
  registry_->Register(U(P("p1") + "?check=false"), nullptr);
  Run();
  EXPECT_EQ(store_->List("a.B", kProviders).size(), 1u);
  Advance(milliseconds(5000));
  EXPECT_EQ(store_->operations(Op::kPut), 2u);
  EXPECT_EQ(store_->List("a.B", kProviders).size(), 1u);
  EXPECT_EQ(registry_->status().unacknowledged, 0u);
}

TEST_F(MemoryRegistryTest, MissingPathsAndServices) {
  ASSERT_TRUE(store_->Put(P("p1")).ok());
  const auto listener = Subscribe(OpenMemory());
  const auto all = Subscribe(*registry_, "admin://h/*?category=providers");
  listener->Take();
  all->Take();
  store_->RemoveService("a.B");
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers unknown"));
  EXPECT_EQ(all->Take().back(), "a.B/providers empty") << "the name is gone";
  Advance(milliseconds(30'000));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers empty"));
  store_->PutChild("a.B", kProviders, P("p2"));
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p2:1"));
  EXPECT_EQ(all->Take().back(), "a.B/providers list p2:1");
}

TEST_F(MemoryRegistryTest, Lookup) {
  ASSERT_TRUE(store_->Put(P("p1")).ok());
  std::optional<absl::StatusOr<std::vector<Url>>> found;
  OpenMemory().Lookup(U(kConsumer), [&](auto result) { found = std::move(result); });
  Run();
  ASSERT_TRUE(found && found->ok());
  EXPECT_EQ((*found)->size(), 1u);
}

// Field report D #11254: ten changes within the window are at most two notifications.
TEST_F(MemoryRegistryTest, AGivenWindowCollapsesABurstButNotRules) {
  const auto listener = Subscribe(OpenMemory("memory://test?delay-notification=1000"),
                                  "consumer://10.0.0.9/a.B?category=providers,routers");
  Advance(milliseconds(1000));
  listener->Take();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(store_->Put(P("p" + std::to_string(i))).ok());
    Advance(milliseconds(50));
  }
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list p0:1"));
  ASSERT_TRUE(store_->Put("condition://0.0.0.0/a.B?category=routers&rule=x").ok());
  Run();
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/routers list 0.0.0.0"));
  Advance(milliseconds(500));
  ASSERT_EQ(listener->lines.size(), 1u);
  EXPECT_EQ(listener->all.back().urls.size(), 10u);
}

TEST_F(MemoryRegistryTest, ABurstWithoutAWindowQueuesOneReadAtATime) {
  const auto listener = Subscribe(OpenMemory(), "consumer://10.0.0.9/a.B?category=providers");
  listener->Take();
  const std::uint64_t before = store_->operations(MemoryStore::Operation::kRead);
  for (int i = 0; i < 500; ++i) ASSERT_TRUE(store_->Put(P("p" + std::to_string(i))).ok());
  Run();
  EXPECT_LE(store_->operations(MemoryStore::Operation::kRead) - before, 3u);
  EXPECT_EQ(listener->all.back().urls.size(), 500u);
}

TEST_F(MemoryRegistryTest, Documents) {
  OpenMemory();
  std::vector<std::string> seen;
  const auto watch = [&](absl::StatusOr<std::optional<std::string>> value) {
    seen.push_back(!value.ok() ? "error" : value->has_value() ? **value : "none");
  };
  registry_->backend().WatchConfig("dubbo", "a.B.condition-router", watch);
  Run();
  store_->SetConfig("dubbo", "a.B.condition-router", "rule 1");
  store_->SetConfig("dubbo", "other", "x");
  Run();
  store_->Suspend();
  store_->SetConfig("dubbo", "a.B.condition-router", "rule 2");
  Run();
  EXPECT_THAT(seen, ElementsAre("none", "rule 1"));
  store_->FailNext(Op::kReadConfig, absl::UnavailableError("broken"));
  store_->Resume();
  Advance(milliseconds(1000));
  store_->SetConfig("dubbo", "a.B.condition-router", std::nullopt);
  Run();
  EXPECT_THAT(seen, ElementsAre("none", "rule 1", "error", "rule 2", "none"));
  registry_->backend().UnwatchConfig("dubbo", "a.B.condition-router");
  store_->SetConfig("dubbo", "a.B.condition-router", "rule 3");
  Run();
  EXPECT_EQ(seen.size(), 5u);
}

TEST_F(MemoryRegistryTest, TheFactoryRefusesWhatItCannotRead) {
  EXPECT_EQ(factory_->scheme(), "memory");
  EXPECT_TRUE(absl::IsInvalidArgument(factory_->Create(U("memory:///x"), Context()).status()));
  const auto bad = factory_->Create(U("memory://test?timeout=soon"), Context());
  EXPECT_THAT(bad.status().ToString(), AllOf(HasSubstr("timeout"), HasSubstr("soon")));
}

// Two control planes in one process: each registry on its own thread, one store.
TEST_F(MemoryRegistryTest, RegistriesOnDifferentThreadsMeet) {
  constexpr int kUrls = 200;
  struct Plane {
    std::shared_ptr<Executor> executor = MakeThreadExecutor("plane");
    UrlPool pool;
    Logger log{[](const LogRecord&) {}, RealClock()};
    std::shared_ptr<FailbackRegistry> registry;
  };
  class Waiting final : public NotifyListener {
   public:
    void Notify(Notification full) override {
      if (full.urls.size() == kUrls && !std::exchange(done_, true)) full_.set_value();
    }
    std::future<void> Full() { return full_.get_future(); }

   private:
    bool done_ = false;
    std::promise<void> full_;
  };
  const auto open = [this](Plane& plane) {
    plane.executor->Post([this, &plane] {
      const Url url = Url::Parse("memory://threads", plane.pool).value();
      const RegistryContext context{plane.executor, &RealClock(), &plane.pool, &plane.log, 1};
      plane.registry = FailbackRegistry::Create(url, factory_->Create(url, context).value(), context);
    });
  };
  Plane one, two;
  open(one);
  open(two);
  const auto listener = std::make_shared<Waiting>();
  std::future<void> full = listener->Full();
  two.executor->Post(
      [&] { two.registry->Subscribe(Url::Parse(kConsumer, two.pool).value(), listener, nullptr); });
  for (int i = 0; i < kUrls; ++i) {
    one.executor->Post([&one, i] {
      one.registry->Register(Url::Parse(P("p" + std::to_string(i)), one.pool).value(), nullptr);
    });
  }
  EXPECT_EQ(full.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  for (Plane* plane : {&one, &two}) {
    std::promise<void> over;
    plane->executor->Post(
        [plane, &over] { plane->registry->Destroy([&over](const absl::Status&) { over.set_value(); }); });
    over.get_future().wait();
    std::promise<void> dropped;
    plane->executor->Post([plane, &dropped] {
      plane->registry.reset();
      plane->executor->Post([&dropped] { dropped.set_value(); });
    });
    dropped.get_future().wait();
  }
  EXPECT_THAT(factory_->store("threads")->List("a.B", kProviders), IsEmpty());
}

}  // namespace
}  // namespace fairlead
