#ifndef FAIRLEAD_TESTS_REGISTRY_SUBSCRIPTION_FIXTURE_H_
#define FAIRLEAD_TESTS_REGISTRY_SUBSCRIPTION_FIXTURE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fairlead/tests/registry/registry_fixture.h"

namespace fairlead {

// One consumer of a.B on a scripted backend, and what its listener was told.
class SubscriptionTest : public RegistryFixture {
 protected:
  static constexpr std::string_view kConsumer = "consumer://10.0.0.9/a.B";
  static constexpr std::string_view kAll = "consumer://10.0.0.9/a.B?category=providers,configurators,routers";
  static constexpr Category kProviders = Category::kProviders;

  static std::string P(std::string_view host, std::string_view query = "") {
    return "dubbo://" + std::string(host) + ":1/a.B" + std::string(query);
  }

  std::shared_ptr<RecordingListener> Subscribe(std::string_view consumer,
                                               std::optional<absl::Status>* first = nullptr) {
    auto listener = std::make_shared<RecordingListener>();
    registry_->Subscribe(U(consumer), listener, first == nullptr ? Done() : Into(*first));
    Run();
    return listener;
  }
  int WatchCount(Category category) { return backend_->watch_count[{"a.B", category}]; }

  std::optional<absl::Status> first_, second_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_SUBSCRIPTION_FIXTURE_H_
