// One registry for all who name its address and group, from its first user to its last; in virtual time.
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
#include "fairlead/tests/support/manual_executor.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kConsumer[] = "consumer://10.0.0.9/com.acme.Orders";
constexpr char kProvider[] = "dubbo://10.0.0.1:20880/com.acme.Orders";

class RegistryLifetimeTest : public ::testing::Test {
 protected:
  using Made = absl::StatusOr<std::shared_ptr<Directory>>;

  ~RegistryLifetimeTest() override {
    runtime_.reset();
    executor_->Advance(seconds(30));
  }

  Made Refer(const std::string& registry, const std::string& consumer = kConsumer, milliseconds wait = milliseconds(0)) {
    std::optional<Made> made;
    runtime_->ReferAsync(registry, consumer, protocol_, [&made](Made answer) { made = std::move(answer); });
    executor_->Advance(wait);
    return *std::move(made);
  }
  Registration Register(const std::string& registry, const std::string& provider) {
    executor_->RunReady();
    auto answer = std::async(std::launch::async, [&] { return runtime_->Register(registry, provider); });
    while (executor_->pending_posts() == 0) std::this_thread::yield();
    executor_->RunReady();
    return *answer.get();
  }
  std::vector<MemoryStore::ClientId> Clients(const std::string& group = "dubbo") {
    executor_->Advance(milliseconds(100));  // directories end when the last lease has
    return memory_->store("m", group)->clients();
  }

  FakeClock clock_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  std::shared_ptr<MemoryRegistryFactory> memory_ = std::make_shared<MemoryRegistryFactory>();
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  std::unique_ptr<Runtime> runtime_ = *Runtime::Create(
      {.extensions = *ExtensionRegistry::Builder()
                          .AddRegistry(memory_)
                          .AddLoadBalance(*DefaultExtensions().Policy("random"))
                          .Build(),
       .executor = executor_,
       .clock = &clock_,
       .seed = 3});
};

TEST_F(RegistryLifetimeTest, ParametersThatNameNoPlaceMakeNoOther) {
  std::vector<std::shared_ptr<Directory>> users;
  for (const char* parameters :
       {"", "?timestamp=1", "?timestamp=2&pid=7", "?pid=8", "?check=false", "?timeout=900", "?accepts=dubbo", "?simplified=true",
        "?application=a", "?application=b&dubbo=2.0.2&release=3.3.0", "?id=r1", "?register=false", "?subscribe=true",
        "/org.apache.dubbo.registry.RegistryService?interface=org.apache.dubbo.registry.RegistryService", "?group=dubbo",
        "?session=9000&retry.period=700", "?backup=", "?qos.port=22222&username=&x=y"}) {
    auto made = Refer(std::string("memory://m") + parameters,
                      std::string(kConsumer) + "?n=" + std::to_string(users.size()));
    ASSERT_TRUE(made.ok()) << parameters << ": " << made.status();
    users.push_back(*std::move(made));
    EXPECT_THAT(Clients(), SizeIs(1)) << parameters;
  }
}

TEST_F(RegistryLifetimeTest, AnotherGroupUserOrListOfServersIsAnother) {
  const auto one = Refer("memory://m");
  const auto group = Refer("memory://m?group=other");
  EXPECT_THAT(Clients(), SizeIs(1));
  EXPECT_THAT(Clients("other"), SizeIs(1));
  const auto user = Refer("memory://alice:secret@m");
  EXPECT_THAT(Clients(), SizeIs(2));
  const auto servers = Refer("memory://m?backup=n");
  EXPECT_THAT(Clients(), SizeIs(3));
}

TEST_F(RegistryLifetimeTest, TheSessionEndsWithTheLastUserAndTheNextUseMakesANewOne) {
  const std::vector<MemoryStore::ClientId> none;
  for (MemoryStore::ClientId round = 1; round <= 3; ++round) {
    auto first = *Refer("memory://m?timestamp=1");
    auto second = *Refer("memory://m?timestamp=2", std::string(kConsumer) + "?application=b");
    Registration provider = Register("memory://m?pid=5", kProvider);
    EXPECT_THAT(Clients(), ElementsAre(round)) << "one client for the three";
    first.reset();
    EXPECT_THAT(Clients(), ElementsAre(round));
    EXPECT_THAT(memory_->store("m")->List("com.acme.Orders", Category::kProviders), SizeIs(1));
    EXPECT_TRUE(second->Select({}).ok()) << "what one user leaves stays for the others";
    second.reset();
    EXPECT_THAT(Clients(), ElementsAre(round));
    EXPECT_THAT(memory_->store("m")->List("com.acme.Orders", Category::kConsumers), IsEmpty());
    provider = Registration();
    EXPECT_EQ(Clients(), none);
    EXPECT_THAT(memory_->store("m")->List("com.acme.Orders", Category::kProviders), IsEmpty());
  }
}

TEST_F(RegistryLifetimeTest, AReferThatFailedHoldsNothing) {
  memory_->store("m")->Suspend();
  EXPECT_EQ(Refer("memory://m?timeout=300", kConsumer, milliseconds(300)).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Clients(), IsEmpty());
  EXPECT_EQ(Refer("memory://m", "consumer://10.0.0.9/").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Clients(), IsEmpty());
}

// While the last user is still taking its leave, the next one may come.
TEST_F(RegistryLifetimeTest, AUseRightAfterTheLastOneIsServed) {
  for (int round = 0; round < 5; ++round) {
    Registration provider = Register("memory://m", kProvider);
    auto orders = *Refer("memory://m");
    provider = Registration();
    orders.reset();
    if (round % 2 == 1) executor_->RunReady();
    auto again = *Refer("memory://m");
    provider = Register("memory://m", kProvider);
    EXPECT_THAT(Clients(), SizeIs(1));
    EXPECT_THAT(memory_->store("m")->List("com.acme.Orders", Category::kProviders),
                ElementsAre(HasSubstr("10.0.0.1:20880")));
    EXPECT_TRUE(again->Select({}).ok());
    again.reset();
    provider = Registration();
    if (round % 3 != 0) continue;
    EXPECT_THAT(Clients(), IsEmpty());
  }
}

}  // namespace
}  // namespace fairlead
