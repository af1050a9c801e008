#ifndef FAIRLEAD_TESTS_REGISTRY_DELEGATE_DELEGATE_FIXTURE_H_
#define FAIRLEAD_TESTS_REGISTRY_DELEGATE_DELEGATE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/registry/delegate/delegate_registry.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/tests/registry/delegate/fake_registry_service.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {

// A registry over a host's service, in the test's own time.
class DelegateFixture : public ::testing::Test {
 protected:
  struct Listener final : NotifyListener {
    void Notify(Notification full) override {
      last[full.category] = full;
      ++told;
      if (then) std::exchange(then, nullptr)();
    }
    std::vector<std::string> Providers() const {
      const auto at = last.find(Category::kProviders);
      if (at == last.end()) return {"nothing was told"};
      std::vector<std::string> addresses;
      for (const Url& url : at->second.urls) addresses.push_back(url.Address());
      return addresses;
    }
    ListKind kind() const { return last.at(Category::kProviders).kind; }
    std::map<Category, Notification> last;
    std::function<void()> then;
    int told = 0;
  };

  void TearDown() override {
    registry_.reset();
    Advance(std::chrono::seconds(10));
  }
  FailbackRegistry& Make(const std::string& parameters = "") {
    const auto factory = MakeDelegateRegistryFactory("dubbo", [this](const Url&) { return service_; });
    const Url url = *Url::Parse("dubbo://10.9.9.9:9090?file-cache=false&" + parameters, pool_);
    auto backend = factory->Create(url, Context());
    EXPECT_EQ(backend.status(), absl::OkStatus());
    registry_ = FailbackRegistry::Create(url, *std::move(backend), Context());
    Run();
    return *registry_;
  }
  RegistryContext Context() { return {executor_, &clock_, &pool_, &logger_, 7}; }
  Url U(const std::string& text) { return *Url::Parse(text, pool_); }
  void Run() { executor_->RunReady(); }
  void Advance(std::chrono::milliseconds by) { executor_->Advance(by); }
  std::optional<absl::Status> Register(const std::string& url) {
    const auto result = std::make_shared<std::optional<absl::Status>>();
    registry_->Register(U(url), [result](absl::Status status) { *result = std::move(status); });
    Run();
    return *result;
  }
  std::shared_ptr<Listener> Subscribe(const std::string& consumer = "consumer://10.0.0.9/a.B?check=false") {
    const auto listener = std::make_shared<Listener>();
    registry_->Subscribe(U(consumer), listener, nullptr);
    Run();
    return listener;
  }
  // What somebody else has registered.
  void ElsewhereIs(const std::set<std::string>& urls) {
    server_->registered[nullptr] = urls;
    server_->Change();
    Run();
  }
  std::size_t Registered() { return server_->registered[service_.get()].size(); }

  FakeClock clock_;
  const std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  UrlPool pool_{clock_};
  LogRecorder log_;
  Logger logger_{log_.sink(), clock_};
  const std::shared_ptr<FakeRegistryServer> server_ = std::make_shared<FakeRegistryServer>();
  std::shared_ptr<FakeRegistryService> service_ = std::make_shared<FakeRegistryService>(server_);
  std::shared_ptr<FailbackRegistry> registry_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_DELEGATE_DELEGATE_FIXTURE_H_
