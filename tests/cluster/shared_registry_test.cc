// Several callers of one Runtime that name one registry, and what they are told of it; in virtual time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/registry/memory/memory_registry.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kConsumer[] = "consumer://10.0.0.9/com.acme.Orders?version=1.0.0";
constexpr char kProvider[] = "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0";

class SharedRegistryTest : public ::testing::Test {
 protected:
  using Made = absl::StatusOr<std::shared_ptr<Directory>>;

  ~SharedRegistryTest() override {
    runtime_.reset();
    executor_->Advance(seconds(30));
  }

  static ExtensionRegistry Extensions(const std::shared_ptr<MemoryRegistryFactory>& memory) {
    ExtensionRegistry::Builder builder;
    builder.AddRegistry(memory).AddLoadBalance(*DefaultExtensions().Policy("random"));
    for (const char* name : {"condition", "route"}) builder.AddRouter(name, *DefaultExtensions().Router(name));
    return *builder.Build();
  }

  // `into` is empty until the answer comes.
  void Refer(const std::string& registry, std::optional<Made>& into, const std::string& consumer = kConsumer) {
    runtime_->ReferAsync(registry, consumer, protocol_, [&into](Made made) { into = std::move(made); });
    executor_->RunReady();
  }
  std::shared_ptr<Directory> Refer(const std::string& registry, const std::string& consumer = kConsumer) {
    std::optional<Made> made;
    Refer(registry, made, consumer);
    return *std::move(made).value();
  }
  // Registers from another thread, `wait` of virtual time after which the answer must be there.
  absl::StatusOr<Registration> Register(const std::string& registry, const std::string& provider,
                                        milliseconds wait = milliseconds(0)) {
    executor_->RunReady();  // so that what is posted next is the call
    auto answer = std::async(std::launch::async, [&] { return runtime_->Register(registry, provider); });
    while (executor_->pending_posts() == 0) std::this_thread::yield();
    executor_->RunReady();
    executor_->Advance(wait);
    if (answer.wait_for(seconds(5)) == std::future_status::ready) return answer.get();
    ADD_FAILURE() << "no answer after " << wait.count() << " ms";
    executor_->Advance(std::chrono::hours(1));
    return answer.get();
  }
  absl::Status Refusal(const std::string& url) { return Register("memory://m", url).status(); }

  FakeClock clock_;
  LogRecorder lines_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  std::shared_ptr<MemoryRegistryFactory> memory_ = std::make_shared<MemoryRegistryFactory>();
  std::shared_ptr<MemoryStore> store_ = memory_->store("m");
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  std::unique_ptr<Runtime> runtime_ = *Runtime::Create(
      {.extensions = Extensions(memory_), .executor = executor_, .clock = &clock_, .seed = 3, .log = lines_.sink()});
};

TEST_F(SharedRegistryTest, ExplainShowsABadChildAtOnceAndTablesStay) {
  ASSERT_TRUE(store_->Put(kProvider).ok());
  const auto orders = Refer("memory://m");
  const std::uint64_t snapshot = orders->Explain({}).snapshot;
  EXPECT_THAT(orders->Explain({}).skipped, IsEmpty());
  store_->PutChild("com.acme.Orders", Category::kProviders, "dubbo://10.0.0.2:port/com.acme.Orders");
  store_->PutChild("com.acme.Others", Category::kProviders, "junk");
  executor_->RunReady();
  EXPECT_THAT(orders->Explain({}).skipped, ElementsAre(HasSubstr("10.0.0.2:port")));
  store_->RemoveChild("com.acme.Orders", Category::kProviders, "dubbo://10.0.0.2:port/com.acme.Orders");
  executor_->RunReady();
  EXPECT_THAT(orders->Explain({}).skipped, IsEmpty());
  EXPECT_EQ(orders->Explain({}).snapshot, snapshot) << "nothing that picks read has changed";
}

TEST_F(SharedRegistryTest, ExplainShowsTheSessionAtOnceAndTablesStay) {
  ASSERT_TRUE(store_->Put(kProvider).ok());
  const auto orders = Refer("memory://m");
  const auto again = Refer("memory://m", std::string(kConsumer) + "&application=b");
  const std::uint64_t snapshot = orders->Explain({}).snapshot;
  const auto both_say = [&](const char* state) {
    executor_->RunReady();
    EXPECT_THAT(orders->Explain({}).registry, HasSubstr(state));
    EXPECT_THAT(again->Explain({}).registry, HasSubstr(state));
  };
  both_say("memory://m connected");
  store_->Suspend();
  both_say("memory://m suspended since ");
  store_->Expire();
  both_say("memory://m suspended since ");
  store_->Resume();
  both_say("memory://m connected");
  EXPECT_EQ(orders->Explain({}).snapshot, snapshot);
  EXPECT_TRUE(orders->Select({}).ok());
}

TEST_F(SharedRegistryTest, BeforeTheFirstListPicksAndExplainSayTheRegistrysState) {
  store_->Suspend();
  const auto orders = Refer("memory://m?check=false");
  const auto refused = [&] { return orders->Select({}).status(); };
  EXPECT_EQ(refused().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused().message()), AllOf(HasSubstr("no list of"), HasSubstr("memory://m connecting since ")));
  EXPECT_THAT(orders->Explain({}).registry, HasSubstr("connecting"));
  EXPECT_THAT(orders->Explain({}).registry, HasSubstr("1 subscriptions"));
  absl::Status late;
  orders->AwaitReady(seconds(1), [&](absl::Status status) { late = std::move(status); });
  executor_->Advance(seconds(1));
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(late.message()), HasSubstr("memory://m connecting"));

  // Connected, but no answer yet: not the state of before.
  store_->HoldAnswers(true);
  store_->Resume();
  executor_->RunReady();
  EXPECT_THAT(std::string(refused().message()), AllOf(HasSubstr("no list of"), HasSubstr("memory://m connected")));
  store_->HoldAnswers(false);
  store_->ReleaseAnswers();
  executor_->RunReady();
  EXPECT_EQ(refused().code(), absl::StatusCode::kUnavailable);
}

TEST_F(SharedRegistryTest, AClosedDirectoryNoLongerSpeaksOfTheRegistry) {
  const auto orders = Refer("memory://m");
  runtime_.reset();
  executor_->RunReady();
  EXPECT_EQ(orders->Explain({}).registry, "");
  EXPECT_EQ(orders->Explain({}).status.code(), absl::StatusCode::kCancelled);
}

TEST_F(SharedRegistryTest, EachReferObeysTheCheckAndTimeoutOfItsOwnUrl) {
  store_->Suspend();
  std::optional<Made> lenient, strict, brief, consumer_lenient, last;
  Refer("memory://m?check=false&timeout=60000", lenient);
  ASSERT_TRUE(lenient.has_value());
  EXPECT_TRUE(lenient->ok());
  Refer("memory://m", strict);
  Refer("memory://m?timeout=200", brief);
  EXPECT_FALSE(strict.has_value() || brief.has_value());
  Refer("memory://m", consumer_lenient, std::string(kConsumer) + "&check=false");
  EXPECT_TRUE(consumer_lenient.has_value() && consumer_lenient->ok());
  executor_->Advance(milliseconds(199));
  EXPECT_FALSE(brief.has_value());
  executor_->Advance(milliseconds(1));
  ASSERT_TRUE(brief.has_value());
  EXPECT_EQ(brief->status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(brief->status().message()), HasSubstr("within 200 ms"));
  EXPECT_FALSE(strict.has_value());
  executor_->Advance(milliseconds(4800));
  ASSERT_TRUE(strict.has_value());
  EXPECT_THAT(std::string(strict->status().message()), HasSubstr("within 5000 ms"));
  // The strict ones came first; now one that does not mind.
  Refer("memory://m?check=false", last);
  EXPECT_TRUE(last.has_value() && last->ok());
  EXPECT_EQ(store_->clients().size(), 1u) << "one connection for all";
  store_->Resume();
  executor_->RunReady();
  EXPECT_EQ((**lenient)->Select({}).status().code(), absl::StatusCode::kUnavailable) << "it has an empty list";
}

TEST_F(SharedRegistryTest, EachRegisterObeysTheUrlItWasGiven) {
  store_->Suspend();
  const auto strict = Register("memory://m?timeout=300", kProvider, milliseconds(300));
  EXPECT_THAT(std::string(strict.status().message()), HasSubstr("within 300 ms"));
  auto orders = Refer("memory://m?check=false");  // holds the registry
  const auto lenient = Register("memory://m?check=false", kProvider);
  EXPECT_TRUE(lenient.ok()) << lenient.status();
  const auto refused = Register("memory://m?check=false&accepts=tri", "dubbo://10.0.0.2:1/com.acme.Orders");
  EXPECT_TRUE(refused.ok());
  store_->Resume();
  executor_->RunReady();
  EXPECT_THAT(store_->List("com.acme.Orders", Category::kProviders), ElementsAre(HasSubstr("10.0.0.1:20880")));
}

TEST_F(SharedRegistryTest, ARegistryThatIsOnlyReadFromStoresNothing) {
  const auto consumers = [this] { return store_->List("com.acme.Orders", Category::kConsumers); };
  const auto orders = Refer("memory://m?register=false&check=false");
  EXPECT_THAT(consumers(), IsEmpty());
  {
    const auto real = Register("memory://m", kProvider);
    ASSERT_TRUE(real.ok()) << real.status();
    {
      const auto none = Register("memory://m?register=false", kProvider);
      EXPECT_TRUE(none.ok()) << none.status();
    }
    executor_->RunReady();
    EXPECT_THAT(store_->List("com.acme.Orders", Category::kProviders), ElementsAre(HasSubstr("10.0.0.1:20880")))
        << "what was not registered is not taken away";
    EXPECT_TRUE(orders->Select({}).ok()) << "but it is subscribed";
  }
  executor_->RunReady();
  EXPECT_THAT(store_->List("com.acme.Orders", Category::kProviders), IsEmpty());
  // The list of accepted protocols, too, is each url's own, and counts for consumers.
  const auto refused = Refer("memory://m?accepts=dubbo", std::string(kConsumer) + "&application=b");
  EXPECT_THAT(consumers(), IsEmpty());
  const auto stored = Refer("memory://m", std::string(kConsumer) + "&application=c");
  EXPECT_THAT(consumers(), ElementsAre(HasSubstr("application=c")));
}

TEST_F(SharedRegistryTest, ARegistryThatIsOnlyRegisteredToIsNoneToReferTo) {
  std::optional<Made> made;
  Refer("memory://m?check=false&subscribe=false", made);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(made->status().message()), AllOf(HasSubstr("memory://m"), HasSubstr("subscribe=false")));
  EXPECT_TRUE(Register("memory://m?subscribe=false", kProvider).ok());
}

TEST_F(SharedRegistryTest, OneConnectionForAnAddressAndGroupHoweverItIsWritten) {
  const auto a = Refer("memory://m");
  const auto b = Refer("memory://m/org.apache.dubbo.registry.RegistryService?group=dubbo&timeout=9");
  EXPECT_EQ(store_->clients().size(), 1u);
  EXPECT_EQ(lines_.count("FL-4-3"), 0u);
  const auto c = Refer("memory://m?session=7000&check=false");
  EXPECT_EQ(store_->clients().size(), 1u);
  ASSERT_EQ(lines_.count("FL-4-3"), 1u);
  EXPECT_THAT(lines_.lines().back().text, HasSubstr("session=7000"));
  const auto full = Refer("memory://n?session=9000&retry.period=100&check=false");
  const auto brief = Refer("memory://n?check=false");
  EXPECT_EQ(lines_.count("FL-4-3"), 1u) << "a url that says nothing of the connection contradicts nothing";
  const auto other = Refer("memory://n?retry.period=200");
  ASSERT_EQ(lines_.count("FL-4-3"), 2u);
  EXPECT_THAT(lines_.lines().back().text, AllOf(HasSubstr("retry.period=200"), Not(HasSubstr("session="))));
  const auto d = Refer("memory://m?group=other");
  EXPECT_EQ(store_->clients().size(), 1u);
  EXPECT_EQ(memory_->store("m", "other")->clients().size(), 1u);
  std::optional<Made> wrong;
  Refer("memory://m?timeout=soon", wrong);
  EXPECT_EQ(wrong->status().code(), absl::StatusCode::kInvalidArgument) << "also when the registry is there";
}

TEST_F(SharedRegistryTest, EveryDifferentUrlOfARegistryIsSaid) {
  const auto a = Refer("memory://m");
  const auto b = Refer("memory://m?session=7000&check=false");
  const auto c = Refer("memory://m?session=8000&retry.times=3&namespace=n&check=false");
  ASSERT_EQ(lines_.count("FL-4-3"), 2u) << "no line hides another";
  EXPECT_THAT(lines_.lines().back().text, HasSubstr("instead of session=8000, retry.times=3, namespace=n"));
}

TEST_F(SharedRegistryTest, APasswordMakesARegistryAlsoWithoutAUser) {
  const auto a = Refer("memory://m");
  const auto b = Refer("memory://:s3cret@m?check=false");
  const auto c = Refer("memory://:hidden@m?check=false");
  EXPECT_EQ(store_->clients().size(), 3u) << "nobody reads with another one's password";
  const auto again = Refer("memory://:hidden@m?session=1000");
  EXPECT_EQ(store_->clients().size(), 3u);
  for (const auto& line : lines_.lines()) EXPECT_THAT(line.text, Not(AnyOf(HasSubstr("s3cret"), HasSubstr("hidden"))));
}

TEST_F(SharedRegistryTest, WhatConsumersWouldSkipIsNotRegistered) {
  const std::string rule = "&rule=" + PercentEncode("=> host=10.*");
  const struct {
    std::string url, names;
  } cases[] = {
      {"dubbo://10.0.0.1:99999999/a.B", "no such port"},
      {"dubbo://10.0.0.1:-1/a.B", "no such port"},
      {"dubbo://u:p@10.0.0.1:0/a.B?x=1", "no such port"},
      {"dubbo://[::1]:-20880?interface=a.B", "no such port"},
      {"\xef\xbb\xbf" "dubbo://10.0.0.1:1/a.B", "no such protocol"},
      {"dubbo:///a.B", "no host"},
      {"consumer://10.0.0.1/a.B", "category=consumers"},
      {"empty://10.0.0.1:1/a.B", "no provider's protocol"},
      {"10.0.0.1:20880/a.B", "no protocol"},
      {"route://0.0.0.0/a.B?force=true" + rule, "category=routers"},
      {"override://0.0.0.0/a.B?weight=1", "category=configurators"},
      {"override://0.0.0.0/a.B?category=routers&weight=1", "category=configurators"},
      {"override:///a.B?category=configurators&weight=1", "host is missing"},
      {"route://0.0.0.0/a.B?category=configurators" + rule, "category=routers"},
      {"dubbo://10.0.0.1:1/a.B?category=routers", "leave `category` out"},
      {"dubbo://10.0.0.1:1/a.B?category=consumers", "leave `category` out"},
      {"dubbo://10.0.0.1:1/a.B?category=provider", "category=provider"},
      {"route://0.0.0.0/a.B?category=routers&rule=" + PercentEncode("=> =>"), "correct the rule"},
  };
  for (const auto& one : cases) {
    const absl::Status status = Refusal(one.url);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << one.url;
    EXPECT_THAT(std::string(status.message()), HasSubstr(one.names)) << one.url;
    EXPECT_THAT(std::string(status.message()), HasSubstr("a.B"));
  }
  const absl::Status secret = Refusal("dubbo://u:hush@10.0.0.1:99999/a.B?password=hush");
  EXPECT_THAT(std::string(secret.message()), AllOf(HasSubstr("10.0.0.1:99999"), Not(HasSubstr("hush"))));
  for (const std::string& url : {"dubbo://10.0.0.1:1?text=" + std::string(2 << 20, 'x'),
                                 "dubbo:///a.B?text=" + std::string(2 << 20, 'x'), std::string(2 << 20, 'x') + ":1:x/a.B"}) {
    const absl::Status status = Refusal(url);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_LT(status.message().size(), 1000u);
  }
  EXPECT_THAT(store_->Services(), IsEmpty());
}

TEST_F(SharedRegistryTest, WhateverDubboRegistersIsRegistered) {
  for (const char* url :
       {"tri://10.0.0.1:50051/a.B", "custom-rpc://10.0.0.1:1/a.B", "http://10.0.0.1/a.B", "http://u:0@10.0.0.1?interface=a.B", "dubbo://0.0.0.0:20880/a.B?anyhost=true",
        "dubbo://[2001:db8::1]:20880/a.B", "dubbo://10.0.0.1:1/a.B?enabled=false&category=providers",
        "consumer://10.0.0.1/a.B?category=consumers&check=false", "override://0.0.0.0/a.B?category=configurators&weight=5",
        "absent://0.0.0.0:1/a.B?category=configurators&weight=5", "route://0.0.0.0/a.B?category=routers&rule=%3D%3E+host%3D10.*",
        "script://0.0.0.0/a.B?category=routers&rule=x", "route://0.0.0.0/a.B?category=routers&router=script&rule=x",
        "mine://0.0.0.0/a.B?category=routers&router=mine"}) {
    const auto made = Register("memory://m", url);
    EXPECT_TRUE(made.ok()) << url << ": " << made.status();
  }
}

TEST_F(SharedRegistryTest, AShutdownSaysWhatItCouldNotUnregister) {
  enum Fault { kNone, kUnreachable, kSilent };
  const auto shut = [&](Fault fault, const char* provider, milliseconds deadline) {
    auto runtime = *Runtime::Create({.extensions = Extensions(memory_), .executor = executor_, .clock = &clock_, .seed = 4});
    runtime_.swap(runtime);
    std::optional<absl::StatusOr<Registration>> registration;
    if (provider != nullptr) registration = Register("memory://m", provider);
    std::optional<Made> orders;
    if (provider == nullptr) Refer("memory://m", orders);
    if (fault == kUnreachable) store_->Suspend();
    if (fault == kSilent) store_->HoldAnswers(true);
    std::optional<absl::Status> told;
    runtime_->Shutdown(deadline, [&](absl::Status status) { told = std::move(status); });
    executor_->RunReady();
    if (fault == kSilent) {
      executor_->Advance(deadline + milliseconds(1999));
      EXPECT_FALSE(told.has_value());
      executor_->Advance(milliseconds(1));
    } else {
      executor_->Advance(milliseconds(8000));
    }
    runtime_.swap(runtime);
    store_->HoldAnswers(false);
    store_->ReleaseAnswers();
    store_->Resume();
    executor_->RunReady();
    return told.value_or(absl::InternalError("nothing told"));
  };
  for (const char* provider : {kProvider, static_cast<const char*>(nullptr)}) {
    EXPECT_TRUE(shut(kNone, provider, milliseconds(10)).ok());
    const absl::Status unreachable = shut(kUnreachable, provider, milliseconds(9000));
    EXPECT_EQ(unreachable.code(), absl::StatusCode::kUnavailable) << unreachable;
    EXPECT_THAT(std::string(unreachable.message()), AllOf(HasSubstr("memory://m"), HasSubstr("1 url")));
    EXPECT_EQ(shut(kSilent, provider, milliseconds(10)).code(), absl::StatusCode::kDeadlineExceeded);
  }
}

TEST_F(SharedRegistryTest, UnreadableParametersAreSaidAndCounted) {
  const auto orders = Refer("memory://m?check=maybe&simplified=",
                            std::string(kConsumer) + "&down.after=abc&check=1&timeout=x&retry.period=abc&rules.wait=1.5"
                                                     "&compat=fixed&register=FALSE&retry.times=-1");
  const std::vector<std::string> skipped = orders->Explain({}).skipped;
  EXPECT_EQ(skipped.size(), 7u);
  for (const char* remark :
       {"registry parameter check=maybe: expected true or false; false holds instead",
        "consumer parameter check=1: expected true or false; false holds instead",
        "consumer parameter down.after=abc: expected a decimal integer of 32 bits; 3 holds instead",
        "consumer parameter timeout=x: expected", "consumer parameter retry.period=abc: expected",
        "consumer parameter rules.wait=1.5: expected a decimal integer of 32 bits; 3000 holds instead",
        "consumer parameter compat=fixed: expected Options::compat"}) {
    EXPECT_THAT(skipped, Contains(HasSubstr(remark)));
  }
  EXPECT_EQ(lines_.count("FL-4-2"), 7u) << "one line each";
  const auto again = Refer("memory://m?check=maybe");
  EXPECT_EQ(lines_.count("FL-4-2"), 7u) << "a repeat within a minute is only counted";
  const auto provider = Register("memory://m", "dubbo://10.0.0.1:1/com.acme.Orders?dynamic=no");
  ASSERT_TRUE(provider.ok());
  EXPECT_EQ(lines_.count("FL-4-2"), 8u);
  EXPECT_THAT(lines_.lines().back().text, HasSubstr("provider parameter dynamic=no: expected true or false; false holds"));
}

}  // namespace
}  // namespace fairlead
