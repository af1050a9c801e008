// Bursts of registry events, from the store to the directory's snapshots, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/registry/memory/memory_registry.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;

constexpr char kConsumer[] = "consumer://10.0.0.9/a.B?check=false";

class CoalescingProperty : public ::testing::TestWithParam<int> {
 protected:
  ~CoalescingProperty() override {
    directory_.reset();
    runtime_.reset();
    executor_->Advance(std::chrono::seconds(30));
  }
  static ExtensionRegistry Extensions(const std::shared_ptr<MemoryRegistryFactory>& memory) {
    ExtensionRegistry::Builder builder;
    builder.AddRegistry(memory).AddLoadBalance(*DefaultExtensions().Policy("random"));
    builder.AddRouter("condition", *DefaultExtensions().Router("condition"));
    return *builder.Build();
  }
  void Refer(milliseconds window) {
    runtime_->ReferAsync("memory://m?delay-notification=" + std::to_string(window.count()), kConsumer, protocol_,
                         [this](absl::StatusOr<std::shared_ptr<Directory>> made) { directory_ = *std::move(made); });
    executor_->RunReady();
  }
  std::string Provider(std::uint64_t n) { return "dubbo://10.0.0." + std::to_string(n) + ":1/a.B"; }
  std::string Rule(std::uint64_t n) {
    return "condition://0.0.0.0/a.B?category=routers&force=false&priority=" + std::to_string(n) +
           "&rule=" + PercentEncode("method=none => host=10.0.0." + std::to_string(n));
  }
  // Some provider comes or goes; the last one does not.
  bool Change() {
    const std::string provider = Provider(random_.Below(40));
    const std::vector<std::string> all = store_->List("a.B", Category::kProviders);
    if (std::find(all.begin(), all.end(), provider) == all.end()) {
      return store_->Put(provider).ok();
    }
    return all.size() > 1 && store_->Remove(provider).ok();
  }
  std::uint64_t snapshot() { return directory_->Explain({}).snapshot; }
  std::set<std::string> Listed() {
    std::set<std::string> addresses;
    for (const Url& url : directory_->List({})) addresses.insert(url.Address());
    return addresses;
  }
  std::set<std::string> Stored() {
    std::set<std::string> addresses;
    for (const std::string& text : store_->List("a.B", Category::kProviders)) {
      addresses.insert(text.substr(8, text.find("/a.B") - 8));
    }
    return addresses;
  }

  FakeClock clock_;
  LogRecorder lines_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  std::shared_ptr<MemoryRegistryFactory> memory_ = std::make_shared<MemoryRegistryFactory>();
  std::shared_ptr<MemoryStore> store_ = memory_->store("m");
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  std::unique_ptr<Runtime> runtime_ = *Runtime::Create(
      {.extensions = Extensions(memory_), .executor = executor_, .clock = &clock_, .seed = 3, .log = lines_.sink()});
  std::shared_ptr<Directory> directory_;
  Random random_{Mix64(static_cast<std::uint64_t>(GetParam()))};
};

TEST_P(CoalescingProperty, AWindowIsTwoRebuildsAndRulesDoNotWait) {
  const milliseconds window(20 + random_.Below(2000));
  (void)store_->Put(Provider(1));
  Refer(window);
  std::set<std::uint64_t> rules;
  for (int round = 0; round < 8; ++round) {
    executor_->Advance(window * 2);
    ASSERT_EQ(Listed(), Stored());
    const std::uint64_t before = snapshot();
    std::uint64_t rule_rebuilds = 0;

    // The first event of a burst is told at once.
    while (!Change()) {
    }
    executor_->RunReady();
    EXPECT_EQ(Listed(), Stored());
    const std::uint64_t first_reads = store_->operations(MemoryStore::Operation::kRead);
    std::uint64_t rule_reads = 0;
    milliseconds left = window;
    for (std::uint64_t k = random_.Below(60); k > 0; --k) {
      // Several may come between two tasks.
      if (random_.Below(3) != 0) {
        const milliseconds step(random_.Below(static_cast<std::uint64_t>(window.count()) / 20 + 1));
        if (step >= left) break;
        left -= step;
        executor_->Advance(step);
      }
      if (random_.Below(6) != 0) {
        Change();
        continue;
      }
      executor_->RunReady();
      const std::uint64_t rebuilds = snapshot();
      const std::set<std::string> providers = Listed();
      const std::uint64_t rule = random_.Below(100);
      if (rules.insert(rule).second) {
        (void)store_->Put(Rule(rule));
      } else {
        rules.erase(rule);
        (void)store_->Remove(Rule(rule));
      }
      executor_->RunReady();
      EXPECT_EQ(snapshot(), rebuilds + 1) << "no time has passed";
      EXPECT_EQ(Listed(), providers) << "and the providers still wait for theirs";
      ++rule_rebuilds;
      ++rule_reads;
    }
    executor_->Advance(left);
    EXPECT_EQ(Listed(), Stored()) << "at the end of the window of " << window.count() << " ms";
    EXPECT_LE(snapshot() - before, 2 + rule_rebuilds);
    EXPECT_LE(store_->operations(MemoryStore::Operation::kRead) - first_reads, 1 + rule_reads);
  }
  EXPECT_EQ(store_->List("a.B", Category::kRouters).size(), rules.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, CoalescingProperty, ::testing::Range(1, 1 + Effort(100)));

}  // namespace
}  // namespace fairlead
