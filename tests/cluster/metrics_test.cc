// Options::metrics: what an operator's scrape finds of registries and directories, through their troubles.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/registry/memory/memory_registry.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

class MetricsTest : public ::testing::Test {
 protected:
  MetricsTest() {
    Options options;
    options.extensions = *ExtensionRegistry::Builder()
                              .AddRegistry(memory_)
                              .AddLoadBalance(*DefaultExtensions().Policy("random"))
                              .Build();
    options.executor = executor_;
    options.clock = &clock_;
    options.seed = 3;
    options.log = lines_.sink();
    options.metrics_period = seconds(1);
    options.metrics = [this](std::span<const MetricSample> samples) {
      ++told_;
      text_ = PrometheusText(samples);
      if (throws_) throw std::runtime_error("the exporter is broken");
    };
    runtime_ = *Runtime::Create(std::move(options));
  }
  ~MetricsTest() override {
    orders_.reset();
    runtime_.reset();
    executor_->Advance(seconds(30));
  }

  void Refer(const std::string& parameters = "?register=false") {
    runtime_->ReferAsync("memory://reg?check=false", "consumer://10.0.0.9/com.acme.Orders" + parameters, protocol_,
                         [this](absl::StatusOr<std::shared_ptr<Directory>> made) { orders_ = *std::move(made); });
    executor_->RunReady();
  }
  // The value of the metric's first sample as of the next telling.
  std::string Next(const std::string& name) {
    executor_->Advance(seconds(1));
    const std::size_t at = text_.find("\n" + name + "{");
    if (at == std::string::npos) return "no " + name + " in:\n" + text_;
    const std::size_t end = text_.find('\n', at + 1);
    return text_.substr(text_.rfind(' ', end) + 1, end - text_.rfind(' ', end) - 1);
  }

  FakeClock clock_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  LogRecorder lines_;
  std::shared_ptr<MemoryRegistryFactory> memory_ = MakeMemoryRegistryFactory();
  std::shared_ptr<MemoryStore> store_ = memory_->store("reg");
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  std::string text_;
  int told_ = 0;
  bool throws_ = false;
  std::unique_ptr<Runtime> runtime_;
  std::shared_ptr<Directory> orders_;
};

TEST_F(MetricsTest, EveryPeriodUntilTheEnd) {
  Refer();
  executor_->Advance(milliseconds(3500));
  EXPECT_EQ(told_, 3);
  runtime_->Shutdown(seconds(0), nullptr);
  executor_->Advance(seconds(60));
  EXPECT_EQ(told_, 3);
}

TEST_F(MetricsTest, TheFormatHasEachFamilyOnceAndNoSampleTwice) {
  Refer();
  Refer();  // another directory of the same service
  executor_->Advance(seconds(1));
  std::vector<std::string> heads, samples;
  for (std::size_t at = 0; at < text_.size(); at = text_.find('\n', at) + 1) {
    const std::string line = text_.substr(at, text_.find('\n', at) - at);
    (line.rfind("# TYPE", 0) == 0 ? heads : samples).push_back(line.substr(0, line.rfind(' ')));
  }
  for (std::vector<std::string>* lines : {&heads, &samples}) {
    std::sort(lines->begin(), lines->end());
    EXPECT_EQ(std::adjacent_find(lines->begin(), lines->end()), lines->end()) << text_;
    EXPECT_GT(lines->size(), 20u);
  }
}

TEST_F(MetricsTest, ALinkThatBreaksIsSeenWithHowLongAgo) {
  Refer();
  EXPECT_EQ(Next("fairlead_registry_connected"), "1");
  EXPECT_EQ(Next("fairlead_registry_stale_seconds"), "0");
  EXPECT_THAT(text_, HasSubstr("fairlead_registry_state{registry=\"memory://reg\",connection=\"1\",state=\"connected\"} 1\n"));
  EXPECT_THAT(text_, Not(HasSubstr("fairlead_registry_last_error{")));
  store_->Suspend();
  executor_->RunReady();
  executor_->Advance(seconds(41));
  EXPECT_EQ(Next("fairlead_registry_stale_seconds"), "42");
  EXPECT_EQ(Next("fairlead_registry_connected"), "0");
  EXPECT_THAT(text_, HasSubstr("state=\"suspended\"} 1\n"));
  store_->Resume();
  executor_->Advance(seconds(5));
  EXPECT_EQ(Next("fairlead_registry_stale_seconds"), "0");
}

TEST_F(MetricsTest, WhatFailsIsCountedAndNamed) {
  store_->FailNext(MemoryStore::Operation::kPut, absl::UnavailableError("disk full"), 1000);
  Refer("");  // registers the consumer
  EXPECT_NE(Next("fairlead_registry_last_error"), "0");
  EXPECT_THAT(text_, HasSubstr("error=\"UNAVAILABLE: disk full\"} 1\n"));
  executor_->Advance(seconds(300));
  EXPECT_NE(Next("fairlead_registry_retries_total"), "0");
  EXPECT_NE(Next("fairlead_registry_retries_pending"), "0");
}

TEST_F(MetricsTest, AProtectedServiceIsSeenWithItsValidProviders) {
  ASSERT_TRUE(store_->Put("dubbo://10.0.0.1:20880/com.acme.Orders").ok());
  ASSERT_TRUE(store_->Put("dubbo://10.0.0.2:20880/com.acme.Orders").ok());
  Refer();
  EXPECT_EQ(Next("fairlead_directory_providers"), "2");
  EXPECT_EQ(Next("fairlead_directory_valid_providers"), "2");
  EXPECT_EQ(Next("fairlead_directory_protected_seconds"), "0");
  store_->RemoveChild("com.acme.Orders", Category::kProviders, "dubbo://10.0.0.1:20880/com.acme.Orders");
  store_->RemoveChild("com.acme.Orders", Category::kProviders, "dubbo://10.0.0.2:20880/com.acme.Orders");
  executor_->RunReady();
  executor_->Advance(seconds(9));
  const std::string held = Next("fairlead_directory_protected_seconds");
  EXPECT_TRUE(held == "10" || held.rfind("9.9", 0) == 0 || held.rfind("10.0", 0) == 0) << held;
  EXPECT_EQ(Next("fairlead_directory_providers"), "2");
}

TEST_F(MetricsTest, AHookThatThrowsIsLoggedAndCalledAgain) {
  throws_ = true;
  Refer();
  executor_->Advance(seconds(3));
  EXPECT_EQ(told_, 3);
  const auto lines = lines_.lines();
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const auto& line) {
    return line.code == "FL-1-3" && line.text.find("the exporter is broken") != std::string::npos;
  }));
}

}  // namespace
}  // namespace fairlead
