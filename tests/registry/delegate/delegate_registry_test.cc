// A host's RegistryService as a registry, in the test's own time.
#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/tests/registry/delegate/delegate_fixture.h"
#include "fairlead/tests/support/fake_protocol.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kOne[] = "dubbo://10.0.0.1:20880/a.B";
constexpr char kTwo[] = "dubbo://10.0.0.2:20880/a.B";

class DelegateRegistryTest : public DelegateFixture {};

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
  runtime.reset();
  executor->RunReady();  // what it posts at its end
}

}  // namespace
}  // namespace fairlead
