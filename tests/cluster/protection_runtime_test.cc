// Empty protection as a Runtime's urls ask for it, from the registry to the pick.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/registry/memory/memory_registry.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/tests/support/temp_directory.h"

namespace fairlead {
namespace {

using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr char kConsumer[] = "consumer://10.0.0.9/com.acme.Orders?application=shop";
constexpr char kProvider[] = "dubbo://10.0.0.1:20880/com.acme.Orders?application=orders";

class ProtectionRuntimeTest : public ::testing::Test {
 protected:
  // A process and its registry server.
  struct World {
    FakeClock clock;
    LogRecorder lines;
    std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
    std::shared_ptr<MemoryRegistryFactory> memory = std::make_shared<MemoryRegistryFactory>();
    std::shared_ptr<FakeProtocol> protocol = std::make_shared<FakeProtocol>();
    std::unique_ptr<Runtime> runtime;

    World() {
      Options options;
      options.extensions =
          *ExtensionRegistry::Builder().AddRegistry(memory).AddLoadBalance(*DefaultExtensions().Policy("random")).Build();
      options.executor = executor;
      options.clock = &clock;
      options.seed = 3;
      options.log = lines.sink();
      runtime = *Runtime::Create(std::move(options));
    }
    ~World() {
      runtime.reset();
      executor->Advance(seconds(30));
    }
    absl::StatusOr<std::shared_ptr<Directory>> Refer(const std::string& registry, const std::string& consumer_params = "") {
      std::optional<absl::StatusOr<std::shared_ptr<Directory>>> made;
      runtime->ReferAsync(registry, kConsumer + consumer_params, protocol,
                          [&made](absl::StatusOr<std::shared_ptr<Directory>> answer) { made = std::move(answer); });
      executor->Advance(seconds(6));
      return std::move(made).value();
    }
    MemoryStore& store() { return *memory->store("m"); }
  };
};

TEST_F(ProtectionRuntimeTest, TheLastListStaysUnlessTheUrlsSayOtherwise) {
  World world;
  ASSERT_TRUE(world.store().Put(kProvider).ok());
  const auto usual = *world.Refer("memory://m");
  const auto brief = *world.Refer("memory://m?protect-max-age=60000");
  const auto off = *world.Refer("memory://m?enable-empty-protection=false");
  const auto on = *world.Refer("memory://m?enable-empty-protection=false", "&enable-empty-protection=true");
  const auto briefest = *world.Refer("memory://m?protect-max-age=60000", "&protect-max-age=30000");
  EXPECT_EQ(world.lines.count("FL-4-3"), 0u) << "these are no parameters of the connection";
  ASSERT_TRUE(world.store().Remove(kProvider).ok());
  const auto serving = [&] {
    std::string all;
    for (const auto& directory : {usual, brief, off, on, briefest}) all += directory->Select({}).ok() ? 'y' : 'n';
    return all;
  };
  world.executor->Advance(seconds(1));
  EXPECT_EQ(serving(), "yynyy");
  EXPECT_GT(usual->Stats().protected_for, nanoseconds(0));
  world.executor->Advance(seconds(31));
  EXPECT_EQ(serving(), "yynyn");
  world.executor->Advance(seconds(31));
  EXPECT_EQ(serving(), "ynnyn");
  on->ClearProtection();
  world.executor->RunReady();
  EXPECT_EQ(serving(), "ynnnn");
  world.executor->Advance(minutes(10));
  EXPECT_EQ(serving(), "nnnnn");
  ASSERT_TRUE(world.store().Put("dubbo://10.0.0.2:20880/com.acme.Orders?application=orders").ok());
  world.executor->Advance(seconds(1));
  EXPECT_EQ(serving(), "yyyyy");
  EXPECT_EQ(world.protocol->destroyed, 5);
}

TEST_F(ProtectionRuntimeTest, AnUnreadableParameterIsSaid) {
  World world;
  ASSERT_TRUE(world.store().Put(kProvider).ok());
  const auto refused = world.Refer("memory://m?protect-max-age=soon");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("protect-max-age"));
  const auto orders = *world.Refer("memory://m?enable-empty-protection=perhaps", "&protect-max-age=soon");
  EXPECT_THAT(orders->Explain({}).skipped, Contains(HasSubstr("registry parameter enable-empty-protection=perhaps")));
  EXPECT_THAT(orders->Explain({}).skipped, Contains(HasSubstr("consumer parameter protect-max-age=soon")));
  const auto negative = *world.Refer("memory://m", "&protect-max-age=-5");
  EXPECT_THAT(negative->Explain({}).skipped, Contains(HasSubstr("consumer parameter protect-max-age=-5: expected a decimal integer of 0")));
  ASSERT_TRUE(world.store().Remove(kProvider).ok());
  world.executor->Advance(seconds(1));
  EXPECT_TRUE(negative->Select({}).ok());
  EXPECT_FALSE(orders->Select({}).ok()) << "false for anything but true, as Dubbo reads it";
}

// The registry was wiped while it was away: what the file says is a list that is held.
TEST_F(ProtectionRuntimeTest, AWipedRegistryDoesNotTakeTheListOfTheCacheFileAway) {
  TempDirectory dir;
  const std::string registry = "memory://m?missing.grace=30000&file=" + (dir / "lists.cache");
  {
    World warm;
    ASSERT_TRUE(warm.store().Put(kProvider).ok());
    ASSERT_TRUE(warm.Refer(registry).ok());
  }
  World cold;
  cold.store().Suspend();
  const auto orders = *cold.Refer(registry);
  EXPECT_TRUE(orders->Select({}).ok());
  cold.store().Resume();
  cold.executor->Advance(minutes(2));
  EXPECT_TRUE(orders->Select({}).ok());
  EXPECT_THAT(orders->Explain({}).protection, HasSubstr("1 of 1 still valid"));
  cold.executor->Advance(minutes(10));
  EXPECT_EQ(orders->Select({}).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace fairlead
