#ifndef FAIRLEAD_TESTS_REGISTRY_REDIS_REDIS_BACKEND_FIXTURE_H_
#define FAIRLEAD_TESTS_REGISTRY_REDIS_REDIS_BACKEND_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/registry/redis/redis_backend.h"
#include "fairlead/tests/registry/redis/fake_redis.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {

// A backend on servers in the test's own time.
class RedisBackendFixture : public ::testing::Test {
 protected:
  using Session = RegistryBackend::Session;
  using List = std::vector<std::string>;

  // One process's registry, and what it was told.
  class Client {
   public:
    Client(RedisBackendFixture& test, const std::string& url) : test_(test) {
      auto options = internal::RedisOptions::Parse(*Url::Parse(url, test.pool_));
      EXPECT_EQ(options.status(), absl::OkStatus());
      backend_ = std::make_unique<internal::RedisBackend>(*options, test.Context(), test.redis_.dialer());
      backend_->OnDescriptionChange([this] { ++description_changes_; });
      backend_->Start([this](Session session) { sessions_.push_back(session); });
      test_.executor_->RunReady();
    }
    ~Client() {
      backend_.reset();
      test_.executor_->RunReady();
    }

    // None: it was not answered.
    std::optional<absl::Status> Put(const std::string& service, const std::string& url, bool dynamic = true,
                                    Category category = Category::kProviders) {
      const auto result = std::make_shared<std::optional<absl::Status>>();
      backend_->Put(service, category, url, dynamic, [result](absl::Status status) { *result = std::move(status); });
      test_.executor_->RunReady();
      return *result;
    }
    std::optional<absl::Status> Remove(const std::string& service, const std::string& url) {
      const auto result = std::make_shared<std::optional<absl::Status>>();
      backend_->Remove(service, Category::kProviders, url, [result](absl::Status status) { *result = std::move(status); });
      test_.executor_->RunReady();
      return *result;
    }
    std::optional<ChildrenAnswer> Read(const std::string& service) {
      const auto result = std::make_shared<std::optional<ChildrenAnswer>>();
      backend_->Read(service, Category::kProviders, [result](ChildrenAnswer answer) { *result = std::move(answer); });
      test_.executor_->RunReady();
      return *result;
    }
    void Watch(const std::string& service, Category category = Category::kProviders) {
      backend_->Watch(service, category, [this](ChildrenAnswer answer) {
        std::sort(answer.children.begin(), answer.children.end());
        told_.push_back(std::move(answer));
      });
      test_.executor_->RunReady();
    }
    void WatchServices() {
      backend_->WatchServices([this](absl::StatusOr<List> names) {
        services_.push_back(names.ok() ? *names : List{std::string(names.status().message())});
      });
      test_.executor_->RunReady();
    }
    absl::Status Stop() {
      absl::Status result = absl::UnknownError("not stopped");
      backend_->Stop([&](absl::Status status) { result = std::move(status); });
      test_.executor_->Advance(std::chrono::seconds(2));
      return result;
    }
    List last() const { return told_.empty() ? List{"nothing was told"} : told_.back().children; }

    RedisBackendFixture& test_;
    std::unique_ptr<internal::RedisBackend> backend_;
    std::vector<Session> sessions_;
    std::vector<ChildrenAnswer> told_;
    std::vector<List> services_;
    int description_changes_ = 0;
  };

  std::unique_ptr<Client> Connect(const std::string& parameters = "", const std::string& address = "h:6379") {
    return std::make_unique<Client>(*this, "redis://" + address + "?" + parameters);
  }
  RegistryContext Context() { return {executor_, &clock_, &pool_, &logger_, 7}; }
  std::int64_t now() const { return clock_.SystemMillis(); }
  FakeRedis::Server& server() { return redis_.server(); }
  void Advance(std::chrono::milliseconds by) { executor_->Advance(by); }

  static constexpr char kKey[] = "/dubbo/a.B/providers";

  FakeClock clock_;
  const std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  UrlPool pool_;
  LogRecorder log_;
  Logger logger_{log_.sink(), clock_};
  FakeRedis redis_{*executor_, clock_};
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_REDIS_REDIS_BACKEND_FIXTURE_H_
