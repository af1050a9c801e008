#ifndef FAIRLEAD_TESTS_DIRECTORY_DIRECTORY_FIXTURE_H_
#define FAIRLEAD_TESTS_DIRECTORY_DIRECTORY_FIXTURE_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/directory/registry_directory.h"
#include "fairlead/loadbalance/policies.h"
#include "fairlead/routing/condition/condition_router.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/percent.h"

namespace fairlead {

// A RegistryDirectory in virtual time, fed by hand.
class DirectoryFixture : public ::testing::Test {
 protected:
  static constexpr std::string_view kService = "com.acme.Orders";

  void SetUp() override { Start("consumer://10.0.0.9/com.acme.Orders?application=shop"); }
  void TearDown() override {
    handle_.reset();
    if (directory_ != nullptr) directory_->Close(std::chrono::nanoseconds(0), nullptr);
    executor_.Advance(std::chrono::seconds(1));
  }

  void Start(const std::string& consumer) {
    if (directory_ != nullptr) TearDown();
    DirectoryConfig config;
    config.executor = std::shared_ptr<Executor>(&executor_, [](Executor*) {});
    executor_holds_ = config.executor;
    config.clock = &clock_;
    config.log = &log_;
    config.pool = &pool_;
    config.protocol = protocol_;
    config.consumer = Parse(consumer + "&interface=com.acme.Orders&side=consumer&category=providers,configurators,routers");
    config.local_address = "10.0.0.9";
    config.seed = 7;
    auto policies = DefaultLoadBalances();
    policies.insert(policies.end(), more_policies_.begin(), more_policies_.end());
    config.policy = [policies](std::string_view name) -> absl::StatusOr<std::shared_ptr<const LoadBalance>> {
      for (const auto& policy : policies) {
        if (policy->name() == name) return policy;
      }
      return absl::NotFoundError("no policy " + std::string(name));
    };
    const auto condition = MakeConditionRouterFactory();
    config.router = [condition, more = more_routers_](std::string_view name) -> absl::StatusOr<std::shared_ptr<RouterFactory>> {
      if (name == "condition" || name == "route") return condition;
      const auto found = more.find(std::string(name));
      if (found != more.end()) return found->second;
      return absl::NotFoundError("no router " + std::string(name));
    };
    config.registry_state = [] { return std::string("a test, connected"); };
    directory_ = RegistryDirectory::Create(std::move(config));
    handle_ = directory_->MakeDirectory(nullptr);
  }

  Url Parse(const std::string& text) {
    absl::StatusOr<Url> url = Url::Parse(text, pool_);
    EXPECT_TRUE(url.ok()) << url.status();
    return *url;
  }
  // "10.0.0.1?weight=5" -> a provider url.
  Url ProviderAt(const std::string& address_and_params) {
    const std::size_t mark = address_and_params.find('?');
    const std::string params = mark == std::string::npos ? "" : "&" + address_and_params.substr(mark + 1);
    return Parse("dubbo://" + address_and_params.substr(0, mark) +
                 ":20880/com.acme.Orders?interface=com.acme.Orders&side=provider&application=orders" + params);
  }
  Url RuleUrl(const std::string& rule, const std::string& params = "force=true") {
    return Parse("route://0.0.0.0/com.acme.Orders?category=routers&" + params + "&rule=" + PercentEncode(rule));
  }
  void Notify(Category category, ListKind kind, std::vector<Url> urls = {}) {
    directory_->Notify({std::string(kService), category, ++version_, kind, std::move(urls)});
  }
  void Providers(const std::vector<std::string>& list) {
    std::vector<Url> urls;
    for (const std::string& one : list) urls.push_back(ProviderAt(one));
    Notify(Category::kProviders, urls.empty() ? ListKind::kEmpty : ListKind::kList, urls);
  }
  void Rules(std::vector<Url> urls) {
    const ListKind kind = urls.empty() ? ListKind::kEmpty : ListKind::kList;
    Notify(Category::kRouters, kind, std::move(urls));
  }
  void Overrides(const std::vector<std::string>& list) {
    std::vector<Url> urls;
    for (const std::string& one : list) urls.push_back(Parse(one));
    Notify(Category::kConfigurators, urls.empty() ? ListKind::kEmpty : ListKind::kList, urls);
  }
  // The usual start: no rules, no overrides, these providers.
  void Open(const std::vector<std::string>& list) {
    Overrides({});
    Rules({});
    Providers(list);
    executor_.RunReady();
  }

  std::string PickAddress(const Invocation& invocation = {}, std::span<const ProviderId> tried = {}) {
    absl::StatusOr<Lease> lease = handle_->Select(invocation, tried);
    return lease.ok() ? lease->As<FakeProtocol::FakeInvoker>().address() : std::string(lease.status().message());
  }
  std::map<std::string, int> Shares(int picks, const Invocation& invocation = {}) {
    std::map<std::string, int> shares;
    for (int i = 0; i < picks; ++i) ++shares[PickAddress(invocation)];
    return shares;
  }
  std::vector<std::string> ListAddresses(const Invocation& invocation = {}) {
    std::vector<std::string> addresses;
    for (const Url& url : handle_->List(invocation)) addresses.push_back(url.parts().Address());
    return addresses;
  }

  FakeClock clock_;
  ManualExecutor executor_{clock_};
  LogRecorder lines_;
  Logger log_{lines_.sink(), clock_};
  UrlPool pool_{clock_};
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  // Taken by the next Start.
  std::map<std::string, std::shared_ptr<RouterFactory>> more_routers_;
  std::vector<std::shared_ptr<const LoadBalance>> more_policies_;
  std::weak_ptr<Executor> executor_holds_;  // expired when nothing holds the executor any more
  std::shared_ptr<RegistryDirectory> directory_;
  std::shared_ptr<Directory> handle_;
  std::uint64_t version_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_DIRECTORY_DIRECTORY_FIXTURE_H_
