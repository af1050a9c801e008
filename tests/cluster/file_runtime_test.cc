#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/temp_directory.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// A whole Runtime on real files.
class FileRuntimeTest : public ::testing::Test {
 protected:
  static bool Eventually(const std::function<bool()>& wanted) {
    for (int i = 0; i < 4000; ++i) {
      if (wanted()) return true;
      std::promise<void>().get_future().wait_for(milliseconds(5));
    }
    return false;
  }
  std::shared_ptr<Directory> Refer(const std::string& registry, const std::string& parameters = "") {
    auto orders = runtime_->Refer(registry, "consumer://10.0.0.9/com.acme.Orders?version=1.0.0&loadbalance=roundrobin" + parameters,
                                  protocol_);
    EXPECT_TRUE(orders.ok()) << orders.status();
    return orders.ok() ? *orders : nullptr;
  }
  // Where ten picks go.
  static std::set<std::string> Picked(Directory& orders) {
    std::set<std::string> addresses;
    for (int i = 0; i < 10; ++i) {
      const absl::StatusOr<Lease> lease = orders.Select({.method = orders.Method("get")});
      addresses.insert(lease.ok() ? lease->As<FakeProtocol::FakeInvoker>().address() : "none");
    }
    return addresses;
  }
  static bool PicksBecome(Directory& orders, const std::set<std::string>& wanted) {
    return Eventually([&] { return Picked(orders) == wanted; });
  }

  TempDirectory directory_;
  std::vector<std::shared_ptr<Directory>> kept_;
  LogRecorder lines_;
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  std::unique_ptr<Runtime> runtime_ =
      *Runtime::Create({.extensions = DefaultExtensions(), .seed = 3, .log = lines_.sink()});
};

TEST_F(FileRuntimeTest, PicksFollowTheFile) {
  directory_.Write("providers.txt",
                   "# orders\n"
                   "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0&region=hz\n"
                   "dubbo://10.0.0.2:20880/com.acme.Orders?version=1.0.0&region=sh\n"
                   "dubbo://10.0.0.3:20880/com.acme.Orders?version=2.0.0\n");
  const std::string registry = "file://" + (directory_ / "providers.txt");
  const auto orders = Refer(registry);
  ASSERT_NE(orders, nullptr);
  EXPECT_EQ(Picked(*orders), (std::set<std::string>{"10.0.0.1:20880", "10.0.0.2:20880"}));

  directory_.Append("providers.txt", "route://0.0.0.0/*?rule=method%3Dget%20%3D%3E%20region%3Dhz&force=true&version=1.0.0\n");
  EXPECT_TRUE(PicksBecome(*orders, {"10.0.0.1:20880"})) << "a rule for every service";
  directory_.Replace("providers.txt",
                     "dubbo://10.0.0.4:20880/com.acme.Orders?version=1.0.0\n"
                     "override://0.0.0.0/com.acme.Orders?version=1.0.0&weight=7\n"
                     "dubbo://10.0.0.5:port/com.acme.Orders?version=1.0.0\n");
  EXPECT_TRUE(PicksBecome(*orders, {"10.0.0.4:20880"}));
  const std::string story = orders->Explain({}).ToString();
  EXPECT_THAT(story, HasSubstr("weight 7"));
  EXPECT_THAT(story, HasSubstr("registry: " + registry + " connected (file " + (directory_ / "providers.txt") +
                               ", 2 urls in 1 file, 1 line skipped (providers.txt:3: "));

  directory_.Remove("providers.txt");
  EXPECT_TRUE(Eventually([&] { return orders->Explain({}).ToString().find("providers.txt, missing") != std::string::npos; }));
  EXPECT_EQ(Picked(*orders), (std::set<std::string>{"10.0.0.4:20880"})) << "the last list serves on";
}

TEST_F(FileRuntimeTest, ExplainFollowsBadLines) {
  directory_.Write("providers.txt", "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0\n");
  const auto orders = Refer("file://" + (directory_ / "providers.txt"));
  ASSERT_NE(orders, nullptr);
  const auto says = [&](const char* text) { return orders->Explain({}).ToString().find(text) != std::string::npos; };
  EXPECT_TRUE(PicksBecome(*orders, {"10.0.0.1:20880"}));
  directory_.Append("providers.txt", "nonsense\n");
  EXPECT_TRUE(Eventually([&] { return says("1 line skipped") && says("providers.txt:2: "); }));
  directory_.Append("providers.txt", "rubbish\n");
  EXPECT_TRUE(Eventually([&] { return says("2 lines skipped") && says("rubbish"); }));
  directory_.Write("providers.txt", "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0\n");
  EXPECT_TRUE(Eventually([&] { return !says("skipped") && !says("rubbish"); })) << orders->Explain({}).ToString();
  directory_.Replace("providers.txt", "junk\n");
  EXPECT_TRUE(Eventually([&] { return says("no line of it is a url"); }));
  EXPECT_EQ(Picked(*orders), (std::set<std::string>{"10.0.0.1:20880"})) << "the last list serves on";
}

TEST_F(FileRuntimeTest, AMissingFileIsWaitedFor) {
  const auto orders = Refer("file://" + (directory_ / "later/providers.txt"));
  ASSERT_NE(orders, nullptr);
  EXPECT_EQ(Picked(*orders), (std::set<std::string>{"none"}));
  directory_.Mkdir("later");
  directory_.Write("later/providers.txt", "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0\n");
  EXPECT_TRUE(PicksBecome(*orders, {"10.0.0.1:20880"}));
  EXPECT_EQ(lines_.count("FL-4-1"), 0u) << "that consumers are not stored is no warning";
}

TEST_F(FileRuntimeTest, TwoFilesAreTwoRegistries) {
  for (const char* number : {"1", "2"}) {
    directory_.Write(number, std::string("dubbo://10.0.0.") + number + ":1/com.acme.Orders?version=1.0.0\n");
    const auto orders = Refer("file://" + (directory_ / number));
    ASSERT_NE(orders, nullptr);
    kept_.push_back(orders);
    EXPECT_EQ(Picked(*orders), (std::set<std::string>{std::string("10.0.0.") + number + ":1"}));
  }
}

TEST_F(FileRuntimeTest, ProvidersMeetConsumersInADirectory) {
  const std::string registry = "file://" + directory_.path();
  const auto orders = Refer(registry);
  ASSERT_NE(orders, nullptr);
  auto other = *Runtime::Create({.extensions = DefaultExtensions(), .log = lines_.sink()});
  auto a = other->Register(registry, "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0");
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_TRUE(PicksBecome(*orders, {"10.0.0.1:20880"}));
  directory_.Write("fixed.txt", "dubbo://10.0.0.2:20880/com.acme.Orders?version=1.0.0\n");
  EXPECT_TRUE(PicksBecome(*orders, {"10.0.0.1:20880", "10.0.0.2:20880"}));
  other.reset();
  EXPECT_TRUE(PicksBecome(*orders, {"10.0.0.2:20880"})) << "its file went with it";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 1);
}

TEST_F(FileRuntimeTest, WhatCannotBeSaidWhy) {
  directory_.Write("providers.txt", "# none\n");
  const absl::Status refused =
      runtime_->Register("file://" + (directory_ / "providers.txt"), "dubbo://10.0.0.1:20880/com.acme.Orders").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("add the url to it as a line, or register in a directory"));
  EXPECT_EQ(runtime_->Register("file://" + (directory_ / "none"), "dubbo://10.0.0.1:20880/com.acme.Orders").status().code(),
            absl::StatusCode::kFailedPrecondition);
  const absl::Status relative = runtime_->Refer("file://providers.txt", "consumer://h/a.B", protocol_).status();
  EXPECT_EQ(relative.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(relative.message(), HasSubstr("file:///absolute/path"));
}

}  // namespace
}  // namespace fairlead
