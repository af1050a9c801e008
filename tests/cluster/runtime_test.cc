#include "fairlead/cluster/runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/executor_work_guard.hpp>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "fairlead/base/asio_executor.h"
#include "fairlead/cluster/default_extensions.h"
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
using ::testing::HasSubstr;

class RuntimeTest : public ::testing::Test {
 protected:
  // A store of its own for each test.
  const std::string registry_ = std::string("memory://") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  LogRecorder lines_;
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  std::unique_ptr<Runtime> runtime_ = *Runtime::Create({.extensions = DefaultExtensions(), .seed = 3, .log = lines_.sink()});

  static std::string AddressOf(const absl::StatusOr<Lease>& lease) {
    return lease.ok() ? lease->As<FakeProtocol::FakeInvoker>().address() : std::string(lease.status().message());
  }
  // Picks until `wanted` says it is so, or five seconds passed.
  static bool Eventually(const std::function<bool()>& wanted) {
    for (int i = 0; i < 2500; ++i) {
      if (wanted()) return true;
      std::promise<void>().get_future().wait_for(milliseconds(2));
    }
    return false;
  }
};

TEST_F(RuntimeTest, CheckWrittenInAConsumerWantsAProvider) {
  const std::string consumer = "consumer://10.0.0.9/com.acme.Orders?version=1.0.0";
  EXPECT_TRUE(runtime_->Refer(registry_, consumer, protocol_).ok());
  const auto none = runtime_->Refer(registry_, consumer + "&check=true", protocol_);
  EXPECT_EQ(none.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(none.status().message()), AllOf(HasSubstr("com.acme.Orders:1.0.0"), HasSubstr("check=true")));
  auto a = runtime_->Register(registry_, "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0");
  ASSERT_TRUE(a.ok()) << a.status();
  const auto some = runtime_->Refer(registry_, consumer + "&check=true", protocol_);
  EXPECT_TRUE(some.ok()) << some.status();
}

TEST_F(RuntimeTest, ProvidersAndConsumersOfOneProcessFindEachOther) {
  auto a = runtime_->Register(registry_, "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0");
  ASSERT_TRUE(a.ok()) << a.status();
  auto orders = runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders?version=1.0.0", protocol_);
  ASSERT_TRUE(orders.ok()) << orders.status();
  EXPECT_EQ(AddressOf((*orders)->Select({})), "10.0.0.1:20880");

  auto other = *Runtime::Create({.extensions = DefaultExtensions(), .log = lines_.sink()});
  auto b = other->Register(registry_, "dubbo://10.0.0.2:20880/com.acme.Orders?version=1.0.0");
  ASSERT_TRUE(b.ok());
  EXPECT_TRUE(Eventually([&] { return (*orders)->List({}).size() == 2; }));
  *a = Registration();
  EXPECT_TRUE(Eventually([&] { return (*orders)->List({}).size() == 1; })) << "a was unregistered";
  EXPECT_EQ(AddressOf((*orders)->Select({})), "10.0.0.2:20880");
  auto wrong_version = runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders?version=2.0.0", protocol_);
  ASSERT_TRUE(wrong_version.ok());
  EXPECT_EQ((*wrong_version)->Select({}).status().code(), absl::StatusCode::kUnavailable);
}

TEST_F(RuntimeTest, WrongInputIsRefusedWithItsRemedy) {
  const auto code = [&](const char* registry, const char* consumer) {
    return runtime_->Refer(registry, consumer, protocol_).status();
  };
  EXPECT_EQ(code("nosuch://h:1", "consumer://h/a.B").code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(code("nosuch://h:1", "consumer://h/a.B").message(), HasSubstr("memory"));
  EXPECT_THAT(code("127.0.0.1:2181", "consumer://h/a.B").message(), HasSubstr("zookeeper://"));
  EXPECT_EQ(code("memory://x", "consumer://h").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(code("memory://x", "consumer://h/*").message(), HasSubstr("names all services"));
  EXPECT_EQ(code("memory://x", "consumer://h:port/a.B").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("memory://x", "consumer://h/a.B?loadbalance=nope").code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(code("memory://x", "consumer://h/a.B?find.loadbalance=nope").message(),
              AllOf(HasSubstr("find.loadbalance"), HasSubstr("nope"), HasSubstr("known: consistenthash, leastactive, random, roundrobin")));
  EXPECT_TRUE(code("memory://x", "consumer://h/a.B?check=false&loadbalance=&find.loadbalance=roundrobin").ok());
  EXPECT_THAT(code("memory://x", "consumer://h/a.B?category=nosuch").message(), HasSubstr("nosuch"));
  EXPECT_TRUE(code("memory://x", "consumer://h/a.B?category=providers").ok()) << "and without waiting for rules";
  EXPECT_EQ(code("memory://x:nan", "consumer://h/a.B").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(runtime_->Refer("memory://x", "consumer://h/a.B", nullptr).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(runtime_->Register("memory://x", "dubbo://h:1").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Runtime::Create({.clock = nullptr}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(RuntimeTest, PolicyParametersOfTheConsumerThatCannotBeUsedAreLeftOutAndSaid) {
  auto provider = *runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders?hash.nodes=320&weight=7");
  const auto orders = *runtime_->Refer(
      registry_, "consumer://10.0.0.9/com.acme.Orders?loadbalance=consistenthash&hash.nodes=zz&find.hash.arguments=q&weight=heavy",
      protocol_);
  EXPECT_TRUE(orders->Select({}).ok());
  EXPECT_EQ(orders->List({}).at(0).Param("hash.nodes"), "320") << "the provider's word holds";
  EXPECT_EQ(orders->List({}).at(0).Param("weight"), "7");
  const std::vector<std::string> skipped = orders->Explain({}).skipped;
  EXPECT_EQ(skipped.size(), 3u);
  for (const char* what : {"consumer parameter hash.nodes=zz", "find.hash.arguments=q", "weight=heavy"}) {
    EXPECT_THAT(skipped, ::testing::Contains(HasSubstr(what)));
  }
  EXPECT_EQ(lines_.count("FL-4-2"), 3u);
}

TEST_F(RuntimeTest, AServiceWithNothingReadableIsAnsweredAtOnceForEveryReference) {
  const auto factory = std::make_shared<MemoryRegistryFactory>();
  auto extensions = *ExtensionRegistry::Builder().AddRegistry(factory).AddLoadBalance(DefaultExtensions().Policy("random").value()).Build();
  auto runtime = *Runtime::Create({.extensions = extensions, .log = lines_.sink()});
  factory->store("m")->PutChild("com.acme.Orders", Category::kProviders, "garbage");
  for (int i = 0; i < 2; ++i) {
    auto orders = runtime->Refer("memory://m", "consumer://10.0.0.9/com.acme.Orders", protocol_);
    ASSERT_TRUE(orders.ok()) << orders.status();
    EXPECT_EQ((*orders)->Select({}).status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT((*orders)->Explain({}).ToString(), HasSubstr("garbage"));
  }
}

TEST_F(RuntimeTest, MissingCallbacksDoNoHarm) {
  runtime_->ReferAsync(registry_, "consumer://10.0.0.9/a.B", protocol_, nullptr);
  auto orders = *runtime_->Refer(registry_, "consumer://10.0.0.9/a.B", protocol_);
  orders->AwaitReady(seconds(1), nullptr);
  EXPECT_EQ(orders->Select({}).status().code(), absl::StatusCode::kUnavailable);
  runtime_->Shutdown(seconds(1), nullptr);
}

TEST_F(RuntimeTest, ItsEndCutsALongShutdownShort) {
  auto a = *runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders");
  auto orders = *runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_);
  const absl::StatusOr<Lease> lease = orders->Select({});
  ASSERT_TRUE(lease.ok());
  absl::Status told;
  runtime_->Shutdown(std::chrono::hours(1), [&](absl::Status status) { told = std::move(status); });
  runtime_.reset();
  EXPECT_EQ(told.code(), absl::StatusCode::kDeadlineExceeded) << told;
  EXPECT_EQ(AddressOf(lease), "10.0.0.1:1");
}

TEST_F(RuntimeTest, IsDeadInTheChildOfAForkAndSaysSo) {
  auto orders = *runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_);
  const pid_t child = fork();
  if (child == 0) {
    int wrong = 0;
    const auto refused = [&](const absl::Status& status) {
      wrong += status.code() != absl::StatusCode::kFailedPrecondition;
    };
    refused(runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_).status());
    refused(runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders").status());
    runtime_->ReferAsync(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_,
                         [&](absl::StatusOr<std::shared_ptr<Directory>> made) { refused(made.status()); });
    runtime_->Shutdown(seconds(1), refused);
    runtime_.reset();
    _exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(RuntimeTest, WhoWaitsForADirectoryIsToldOfTheEnd) {
  auto orders = *runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_);
  runtime_.reset();
  absl::Status told;
  orders->AwaitReady(seconds(1), [&](absl::Status status) { told = std::move(status); });
  EXPECT_EQ(told.code(), absl::StatusCode::kCancelled) << told;
}

TEST_F(RuntimeTest, AnEndlessDeadlineIsALongOne) {
  auto a = *runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders");
  std::promise<absl::Status> done;
  runtime_->Shutdown(std::chrono::nanoseconds::max(), [&](absl::Status status) { done.set_value(std::move(status)); });
  EXPECT_TRUE(done.get_future().get().ok());
}

TEST_F(RuntimeTest, TheBlockingFormsRefuseToWaitForTheirOwnThread) {
  std::promise<absl::StatusCode> code;
  runtime_->ReferAsync(registry_, "consumer://10.0.0.9/a.B", protocol_, [&](absl::StatusOr<std::shared_ptr<Directory>>) {
    code.set_value(runtime_->Refer(registry_, "consumer://10.0.0.9/a.B", protocol_).status().code());
  });
  EXPECT_EQ(code.get_future().get(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RuntimeTest, ARuleInTheRegistryRoutes) {
  auto a = *runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders?region=hz");
  auto b = *runtime_->Register(registry_, "dubbo://10.0.0.2:1/com.acme.Orders?region=sh");
  auto rule = runtime_->Register(registry_, "route://0.0.0.0/com.acme.Orders?category=routers&dynamic=false&force=true&rule=" +
                                                PercentEncode("method=pay => region=sh"));
  ASSERT_TRUE(rule.ok()) << rule.status();
  auto orders = *runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_);
  const MethodId pay = orders->Method("pay");
  for (int i = 0; i < 50; ++i) EXPECT_EQ(AddressOf(orders->Select({.method = pay})), "10.0.0.2:1");
  *rule = Registration();
  EXPECT_TRUE(Eventually([&] { return AddressOf(orders->Select({.method = pay})) == "10.0.0.1:1"; }));
}

TEST_F(RuntimeTest, ShutdownCancelsPicksUnregistersAndWaitsForLeases) {
  auto a = *runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders");
  auto orders = *runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_);
  absl::StatusOr<Lease> lease = orders->Select({});
  ASSERT_TRUE(lease.ok());
  std::promise<absl::Status> done;
  runtime_->Shutdown(seconds(5), [&](absl::Status status) { done.set_value(std::move(status)); });
  EXPECT_TRUE(Eventually([&] { return absl::IsCancelled(orders->Select({}).status()); }));
  EXPECT_EQ(protocol_->destroyed, 0);
  lease->End(absl::OkStatus());
  EXPECT_TRUE(done.get_future().get().ok());
  EXPECT_EQ(protocol_->destroyed, 1);
  EXPECT_EQ(runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders").status().code(), absl::StatusCode::kCancelled);

  auto other = *Runtime::Create({.extensions = DefaultExtensions(), .log = lines_.sink()});
  auto after = *other->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_);
  EXPECT_EQ(after->Select({}).status().code(), absl::StatusCode::kUnavailable) << "the provider was unregistered";
}

TEST_F(RuntimeTest, LeasesAndHandlesOutliveTheRuntime) {
  auto a = *runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders");
  auto orders = *runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_);
  Lease lease = *orders->Select({});
  runtime_.reset();
  EXPECT_EQ(protocol_->destroyed, 1);
  EXPECT_EQ(protocol_->deleted, 0);
  EXPECT_TRUE(lease.As<FakeProtocol::FakeInvoker>().alive());
  EXPECT_EQ(orders->Select({}).status().code(), absl::StatusCode::kCancelled);
  orders.reset();
  lease.End(absl::OkStatus());
  EXPECT_EQ(protocol_->deleted, 1);
}

TEST_F(RuntimeTest, EqualRegistrationsAreOneEntryUntilTheLastEnds) {
  const std::string url = "dubbo://10.0.0.1:1/com.acme.Orders?timestamp=1";
  auto first = *runtime_->Register(registry_, url), second = *runtime_->Register(registry_, url);
  auto orders = *runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_);
  first.Unregister();
  auto other = *runtime_->Register(registry_, "dubbo://10.0.0.2:1/com.acme.Orders");
  EXPECT_TRUE(Eventually([&] { return orders->List({}).size() == 2; }));
  second.Unregister();
  EXPECT_TRUE(Eventually([&] { return orders->List({}).size() == 1; }));
}

TEST_F(RuntimeTest, MayBeDestroyedByItsOwnThread) {
  std::promise<void> gone;
  runtime_->ReferAsync(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_,
                       [&](absl::StatusOr<std::shared_ptr<Directory>>) {
                         runtime_.reset();
                         gone.set_value();
                       });
  EXPECT_EQ(gone.get_future().wait_for(seconds(5)), std::future_status::ready);
}

TEST_F(RuntimeTest, ItsThreadEndsWithItWhoeverHoldsAReport) {
  auto a = *runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders");
  auto orders = *runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_);
  runtime_.reset();
  ASSERT_EQ(protocol_->reports.size(), 1u);
  protocol_->reports.begin()->second.Down();
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream name(task.path() / "comm");
    std::string text;
    std::getline(name, text);
    EXPECT_NE(text, "fairlead");
  }
}

TEST_F(RuntimeTest, DroppingTheHandleClosesItsInvokers) {
  auto a = *runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders");
  auto orders = *runtime_->Refer(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_);
  orders.reset();
  EXPECT_TRUE(Eventually([&] { return protocol_->deleted == 1; }));
}

TEST_F(RuntimeTest, RunsOnTheHostsEventLoopWithoutAThread) {
  asio::io_context loop;
  auto guard = asio::make_work_guard(loop);
  auto hosted = *Runtime::Create({.extensions = DefaultExtensions(), .executor = MakeAsioExecutor(loop), .log = lines_.sink()});
  auto a = *runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders");
  std::string picked;
  std::shared_ptr<Directory> orders;
  hosted->ReferAsync(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_,
                     [&](absl::StatusOr<std::shared_ptr<Directory>> made) {
                       orders = *std::move(made);
                       picked = AddressOf(orders->Select({}));
                       hosted->Shutdown(seconds(1), [&](absl::Status) { guard.reset(); });
                     });
  loop.run_for(seconds(5));
  EXPECT_EQ(picked, "10.0.0.1:1");
  EXPECT_TRUE(absl::IsCancelled(orders->Select({}).status()));
}

TEST_F(RuntimeTest, AnEventLoopThatNeverRunsAgainLeavesNothingBehind) {
  auto a = *runtime_->Register(registry_, "dubbo://10.0.0.1:1/com.acme.Orders");
  {
    asio::io_context loop;
    auto hosted = *Runtime::Create({.extensions = DefaultExtensions(), .executor = MakeAsioExecutor(loop), .log = lines_.sink()});
    std::shared_ptr<Directory> orders;
    hosted->ReferAsync(registry_, "consumer://10.0.0.9/com.acme.Orders", protocol_,
                       [&](absl::StatusOr<std::shared_ptr<Directory>> made) { orders = *std::move(made); });
    for (int i = 0; i < 100 && orders == nullptr; ++i) loop.run_one_for(milliseconds(100));
    ASSERT_NE(orders, nullptr);
    EXPECT_TRUE(orders->Select({}).ok());
    hosted.reset();
  }
  EXPECT_EQ(protocol_->deleted, 1);
}

TEST_F(RuntimeTest, AConsumerNodeIsRegisteredUnlessToldOtherwise) {
  auto orders = *runtime_->Refer(registry_, "consumer:///com.acme.Orders?application=shop", protocol_);
  EXPECT_EQ(orders->consumer().Param("application"), "shop");
  EXPECT_NE(orders->consumer().host(), "") << "the local address was filled in";
  EXPECT_EQ(orders->consumer().Param("side"), "consumer");
}

TEST_F(RuntimeTest, AConsumersThreadBlocksAllSignals) {
  std::promise<bool> all_blocked;
  runtime_->ReferAsync(registry_, "consumer://10.0.0.9/a.B", protocol_, [&](absl::StatusOr<std::shared_ptr<Directory>>) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    all_blocked.set_value(sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGCHLD) == 1);
  });
  EXPECT_TRUE(all_blocked.get_future().get());
}

}  // namespace
}  // namespace fairlead
