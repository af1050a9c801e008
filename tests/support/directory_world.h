#ifndef FAIRLEAD_TESTS_SUPPORT_DIRECTORY_WORLD_H_
#define FAIRLEAD_TESTS_SUPPORT_DIRECTORY_WORLD_H_

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/directory/updater.h"
#include "fairlead/loadbalance/policies.h"
#include "fairlead/routing/condition/condition_router.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/percent.h"

namespace fairlead {

// What directories of one service need around them, in virtual time, and that service's urls in short.
struct DirectoryWorld {
  static constexpr std::string_view kService = "com.acme.Orders";

  DirectoryConfig Config(const std::string& consumer, std::shared_ptr<Protocol> protocol) {
    DirectoryConfig config;
    config.executor = std::shared_ptr<Executor>(&executor_, [](Executor*) {});
    executor_holds_ = config.executor;
    config.clock = &clock_;
    config.log = &log_;
    config.pool = &pool_;
    config.protocol = std::move(protocol);
    config.consumer = Parse(consumer + "&interface=com.acme.Orders&side=consumer&category=providers,configurators,routers");
    config.local_address = "10.0.0.9";
    config.documents = documents_;
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
    return config;
  }

  Url Parse(const std::string& text) {
    absl::StatusOr<Url> url = Url::Parse(text, pool_);
    if (!url.ok()) throw std::runtime_error(url.status().ToString());
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

  FakeClock clock_;
  ManualExecutor executor_{clock_};
  LogRecorder lines_;
  Logger log_{lines_.sink(), clock_};
  UrlPool pool_{clock_};
  // Taken by the next Config.
  std::map<std::string, std::shared_ptr<RouterFactory>> more_routers_;
  std::vector<std::shared_ptr<const LoadBalance>> more_policies_;
  std::shared_ptr<RuleSource> documents_;
  std::weak_ptr<Executor> executor_holds_;  // expired when nothing holds the executor any more
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_DIRECTORY_WORLD_H_
