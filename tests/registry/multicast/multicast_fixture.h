#ifndef FAIRLEAD_TESTS_REGISTRY_MULTICAST_MULTICAST_FIXTURE_H_
#define FAIRLEAD_TESTS_REGISTRY_MULTICAST_MULTICAST_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/registry/multicast/multicast_backend.h"
#include "fairlead/tests/registry/multicast/fake_group.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {

// Backends that share a group, in the test's own time.
class MulticastFixture : public ::testing::Test {
 protected:
  using Session = RegistryBackend::Session;
  using List = std::vector<std::string>;

  class Client {
   public:
    Client(MulticastFixture& test, const std::string& parameters, const std::string& host) : test_(test) {
      auto options = internal::MulticastOptions::Parse(*Url::Parse("multicast://224.5.6.7:1234?" + parameters, test.pool_));
      EXPECT_EQ(options.status(), absl::OkStatus());
      backend_ = std::make_unique<internal::MulticastBackend>(*options, test.Context(), test.group_.opener(host));
      backend_->OnDescriptionChange([this] { ++description_changes_; });
      backend_->Start([this](Session session) { sessions_.push_back(session); });
      test_.Run();
    }
    ~Client() {
      backend_.reset();
      test_.Run();
    }

    // None: it was not answered.
    std::optional<absl::Status> Put(const std::string& url, bool dynamic = true, Category category = Category::kProviders) {
      const auto result = std::make_shared<std::optional<absl::Status>>();
      backend_->Put("a.B", category, url, dynamic, [result](absl::Status status) { *result = std::move(status); });
      test_.Run();
      return *result;
    }
    std::optional<absl::Status> Remove(const std::string& url) {
      const auto result = std::make_shared<std::optional<absl::Status>>();
      backend_->Remove("a.B", Category::kProviders, url, [result](absl::Status status) { *result = std::move(status); });
      test_.Run();
      return *result;
    }
    void Watch(Category category = Category::kProviders, const std::string& service = "a.B") {
      backend_->Watch(service, category, [this](ChildrenAnswer answer) {
        told_.push_back(std::move(answer));
        if (then_) then_();
      });
      test_.Run();
    }
    void WatchServices() {
      backend_->WatchServices([this](absl::StatusOr<List> names) {
        services_.push_back(names.ok() ? *names : List{std::string(names.status().message())});
      });
      test_.Run();
    }
    absl::Status Stop() {
      absl::Status result = absl::UnknownError("not stopped");
      backend_->Stop([&](absl::Status status) { result = std::move(status); });
      test_.Run();
      return result;
    }
    List last() const { return told_.empty() ? List{"nothing was told"} : told_.back().children; }

    MulticastFixture& test_;
    std::unique_ptr<internal::MulticastBackend> backend_;
    std::vector<Session> sessions_;
    std::vector<ChildrenAnswer> told_;
    std::function<void()> then_;  // within a watch's callback
    std::vector<List> services_;
    int description_changes_ = 0;
  };

  std::unique_ptr<Client> Join(const std::string& parameters = "", const std::string& host = "10.0.0.1") {
    return std::make_unique<Client>(*this, parameters, host);
  }
  // Watches the providers, and waits until they are told.
  std::unique_ptr<Client> Consumer(const std::string& parameters = "", const std::string& host = "10.0.0.9") {
    auto consumer = Join(parameters, host);
    consumer->Watch();
    Advance(std::chrono::seconds(1));
    return consumer;
  }
  RegistryContext Context() { return {executor_, &clock_, &pool_, &logger_, ++seed_}; }
  void Run() { executor_->RunReady(); }
  void Advance(std::chrono::milliseconds by) { executor_->Advance(by); }
  static std::string P(int n, const std::string& parameters = "") {
    return "dubbo://10.0.0." + std::to_string(n) + ":20880/a.B" + parameters;
  }

  std::uint64_t seed_ = 0;
  FakeClock clock_;
  const std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  UrlPool pool_{clock_};
  LogRecorder log_;
  Logger logger_{log_.sink(), clock_};
  FakeGroup group_{*executor_};
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_MULTICAST_MULTICAST_FIXTURE_H_
