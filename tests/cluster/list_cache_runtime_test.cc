// A Runtime and the file in which its registries keep their last lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

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

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kConsumer[] = "consumer://10.0.0.9/com.acme.Orders?version=1.0.0&application=shop";
constexpr char kFirst[] = "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0&timestamp=1&pid=7";
constexpr char kSecond[] = "dubbo://10.0.0.2:20880/com.acme.Orders?version=1.0.0&weight=50";
constexpr char kOverride[] = "override://0.0.0.0/com.acme.Orders?category=configurators&version=1.0.0&timeout=700";

std::set<std::string> AddressesOf(const Directory& directory) {
  std::set<std::string> addresses;
  for (int i = 0; i < 200; ++i) {
    const absl::StatusOr<Lease> lease = directory.Select({});
    if (!lease.ok()) return {lease.status().ToString()};
    addresses.insert(lease->As<FakeProtocol::FakeInvoker>().address());
  }
  return addresses;
}

class ListCacheRuntimeTest : public ::testing::Test {
 protected:
  // A process: its registry server is there before it, and after it.
  struct World {
    FakeClock clock;
    LogRecorder lines;
    std::shared_ptr<ManualExecutor> executor = std::make_shared<ManualExecutor>(clock);
    std::shared_ptr<MemoryRegistryFactory> memory = std::make_shared<MemoryRegistryFactory>();
    std::shared_ptr<FakeProtocol> protocol = std::make_shared<FakeProtocol>();
    std::unique_ptr<Runtime> runtime;

    explicit World(Options options = {}) {
      options.extensions = Extensions(memory);
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
    std::optional<absl::StatusOr<std::shared_ptr<Directory>>> Refer(const std::string& registry, milliseconds wait,
                                                                    const std::string& consumer = kConsumer) {
      std::optional<absl::StatusOr<std::shared_ptr<Directory>>> made;
      runtime->ReferAsync(registry, consumer, protocol,
                          [&made](absl::StatusOr<std::shared_ptr<Directory>> answer) { made = std::move(answer); });
      executor->Advance(wait);
      return made;
    }
  };

  static ExtensionRegistry Extensions(const std::shared_ptr<MemoryRegistryFactory>& memory) {
    return *ExtensionRegistry::Builder().AddRegistry(memory).AddLoadBalance(*DefaultExtensions().Policy("random")).Build();
  }
  static void Fill(MemoryStore& store) {
    for (const char* url : {kSecond, kFirst, kOverride}) ASSERT_TRUE(store.Put(url).ok());
  }

  TempDirectory dir_;
  const std::string file_ = dir_ / "lists.cache";
  const std::string registry_ = "memory://m?file=" + file_;
};

TEST_F(ListCacheRuntimeTest, AColdStartWithADeadRegistryServesAndTheSameProvidersAreNotTouchedWhenItReturns) {
  {
    World warm;
    Fill(*warm.memory->store("m"));
    ASSERT_TRUE(warm.Refer(registry_, milliseconds(600)).value().ok());
    EXPECT_THAT(FileText(file_), HasSubstr("com.acme.Orders\\:1.0.0=dubbo"));
  }
  World cold;
  cold.memory->store("m")->Suspend();
  const auto orders = cold.Refer(registry_, milliseconds(2500));
  ASSERT_TRUE(orders.has_value());
  ASSERT_TRUE(orders->ok()) << orders->status();
  Directory& directory = ***orders;
  const std::set<std::string> both = {"10.0.0.1:20880", "10.0.0.2:20880"};
  EXPECT_EQ(AddressesOf(directory), both);
  const auto stale = directory.Explain({});
  EXPECT_THAT(stale.registry, AllOf(HasSubstr("connecting since "), HasSubstr("served from " + file_)));
  EXPECT_THAT(stale.skipped, Contains(HasSubstr("its providers are those of the list cache file")));
  EXPECT_EQ(cold.protocol->referred, 2);
  EXPECT_EQ(cold.protocol->destroyed, 0);

  Fill(*cold.memory->store("m"));
  cold.memory->store("m")->Resume();
  cold.executor->Advance(seconds(1));
  const auto fresh = directory.Explain({});
  EXPECT_THAT(fresh.registry, AllOf(HasSubstr("connected"), Not(HasSubstr("served from"))));
  EXPECT_THAT(fresh.skipped, IsEmpty());
  EXPECT_EQ(AddressesOf(directory), both);
  EXPECT_EQ(cold.protocol->referred, 2) << "0 refers";
  EXPECT_EQ(cold.protocol->destroyed, 0) << "0 destroys";
  EXPECT_EQ(cold.protocol->updated, 0);

  // And from here on it is an ordinary registry.
  ASSERT_TRUE(cold.memory->store("m")->Remove(kFirst).ok());
  cold.executor->Advance(seconds(1));
  EXPECT_EQ(AddressesOf(directory), std::set<std::string>{"10.0.0.2:20880"});
  EXPECT_THAT(FileText(file_), Not(HasSubstr("10.0.0.1")));
}

TEST_F(ListCacheRuntimeTest, WithoutAFileADeadRegistryIsAnError) {
  World cold;
  cold.memory->store("m")->Suspend();
  const auto orders = cold.Refer("memory://m", seconds(6));
  EXPECT_EQ(orders.value().status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ListCacheRuntimeTest, CheckFalseReturnsAtOnceAndServesLater) {
  PutFile(file_, "com.acme.Orders\\:1.0.0=dubbo\\://10.0.0.1\\:20880/com.acme.Orders?version\\=1.0.0 "
                 "empty\\://10.0.0.9/com.acme.Orders?category\\=routers&version\\=1.0.0\n");
  World cold;
  cold.memory->store("m")->Suspend();
  const auto orders = cold.Refer(registry_ + "&check=false", milliseconds(0));
  ASSERT_TRUE(orders.value().ok());
  EXPECT_EQ(AddressesOf(***orders).begin()->substr(0, 19), "FAILED_PRECONDITION");
  cold.executor->Advance(milliseconds(2000));
  EXPECT_EQ(AddressesOf(***orders), std::set<std::string>{"10.0.0.1:20880"});
  EXPECT_THAT((**orders)->Explain({}).skipped, Contains(HasSubstr("its configurators are not known")));
}

TEST_F(ListCacheRuntimeTest, AnEmptyListInTheFileSaysWhereItIsFrom) {
  PutFile(file_, "com.acme.Orders\\:1.0.0=empty\\://10.0.0.9/com.acme.Orders?category\\=providers\n");
  World cold;
  cold.memory->store("m")->Suspend();
  const auto orders = cold.Refer(registry_, milliseconds(2000));
  EXPECT_THAT(std::string((**orders)->Select({}).status().message()), HasSubstr("list cache file"));
}

TEST_F(ListCacheRuntimeTest, OneFileOfTheOptionsServesSeveralRegistriesEachItsOwn) {
  const char* const consumer = "consumer://10.0.0.9/com.acme.Orders?version=1.0.0&application=shop";
  // The memory registry has a file only when it is named.
  const auto url = [](const char* name) { return std::string("memory://") + name; };
  {
    World warm({.cache_file = file_});
    ASSERT_TRUE(warm.memory->store("a")->Put(kFirst).ok());
    ASSERT_TRUE(warm.memory->store("b")->Put(kSecond).ok());
    ASSERT_TRUE(warm.Refer(url("a"), milliseconds(1000), consumer)->ok());
    ASSERT_TRUE(warm.Refer(url("b"), milliseconds(1000), consumer)->ok());
  }
  World cold({.cache_file = file_});
  for (const char* name : {"a", "b"}) cold.memory->store(name)->Suspend();
  const auto b = cold.Refer(url("b"), milliseconds(2500), consumer), a = cold.Refer(url("a"), milliseconds(2500), consumer);
  ASSERT_TRUE(a.value().ok() && b.value().ok()) << a->status() << b->status();
  EXPECT_EQ(AddressesOf(***a), std::set<std::string>{"10.0.0.1:20880"});
  EXPECT_EQ(AddressesOf(***b), std::set<std::string>{"10.0.0.2:20880"});
}

TEST_F(ListCacheRuntimeTest, HasAThreadOfItsOwnForTheDiskThatEndsWithTheRuntime) {
  const auto is_there = [] {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream comm(task.path() / "comm");
      std::string text;
      std::getline(comm, text);
      if (text == "fairlead-file") return true;
    }
    return false;
  };
  const auto memory = std::make_shared<MemoryRegistryFactory>();
  Fill(*memory->store("m"));
  const auto protocol = std::make_shared<FakeProtocol>();
  LogRecorder lines;
  const auto make = [&] { return *Runtime::Create({.extensions = Extensions(memory), .log = lines.sink()}); };
  auto runtime = make();
  ASSERT_TRUE(runtime->Refer("memory://other", kConsumer, protocol).ok());
  EXPECT_FALSE(is_there()) << "nothing to do for one";
  ASSERT_TRUE(runtime->Refer(registry_, kConsumer, protocol).ok());
  EXPECT_TRUE(is_there());
  runtime.reset();
  EXPECT_FALSE(is_there());
  EXPECT_THAT(FileText(file_), HasSubstr("10.0.0.1")) << "the end writes what is not written yet";

  memory->store("m")->Suspend();
  runtime = make();
  const auto orders = runtime->Refer(registry_ + "&file.wait=1", kConsumer, protocol);
  ASSERT_TRUE(orders.ok()) << orders.status();
  EXPECT_EQ(AddressesOf(**orders).size(), 2u);
}

TEST_F(ListCacheRuntimeTest, DubbosNameIsTheDefault) {
  if (!DefaultExtensions().Registry("zookeeper").ok()) GTEST_SKIP() << "built without ZooKeeper";
  const char* const before = ::getenv("HOME");
  const std::string home = before == nullptr ? "" : before;
  ::setenv("HOME", dir_.path().c_str(), 1);
  std::filesystem::create_directories(dir_ / ".dubbo");
  PutFile(dir_ / ".dubbo/dubbo-registry-shop-127.0.0.1-1.cache",
          "#Dubbo Registry Cache\n#Tue Mar 05 10:11:12 CST 2024\n"
          "com.acme.Orders\\:1.0.0=dubbo\\://10.0.0.1\\:20880/com.acme.Orders?version\\=1.0.0 "
          "empty\\://10.0.0.7/com.acme.Orders?category\\=configurators empty\\://10.0.0.7/com.acme.Orders?category\\=routers\n");
  LogRecorder lines;
  const auto protocol = std::make_shared<FakeProtocol>();
  auto runtime = *Runtime::Create({.extensions = DefaultExtensions(), .log = lines.sink()});
  const auto orders = runtime->Refer("zookeeper://127.0.0.1:1?file.wait=100", kConsumer, protocol);
  ASSERT_TRUE(orders.ok()) << orders.status();
  EXPECT_EQ(AddressesOf(**orders), std::set<std::string>{"10.0.0.1:20880"});
  runtime.reset();
  if (before == nullptr) {
    ::unsetenv("HOME");
  } else {
    ::setenv("HOME", home.c_str(), 1);
  }
}

}  // namespace
}  // namespace fairlead
