#ifndef FAIRLEAD_TESTS_REGISTRY_HAND_RUN_BACKEND_H_
#define FAIRLEAD_TESTS_REGISTRY_HAND_RUN_BACKEND_H_

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "fairlead/base/clock.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {

// A backend on a real server whose executor the test runs by hand, so that a forked child can run it too.
class HandRunBackend : public ::testing::Test {
 protected:
  using Session = RegistryBackend::Session;

  void Create(RegistryFactory& factory, const std::string& url_text) {
    auto made = factory.Create(*Url::Parse(url_text, pool_), {executor_, &RealClock(), &pool_, &logger_, 1});
    ASSERT_EQ(made.status(), absl::OkStatus());
    backend_ = *std::move(made);
    backend_->Start([this](Session session) { session_ = session; });
    ASSERT_TRUE(RunUntil([this] { return session_ == Session::kConnected; }));
  }
  void Stop() {
    bool stopped = false;
    backend_->Stop([&](const absl::Status&) { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    backend_.reset();
    executor_->RunReady();
  }

  // In real time.
  bool RunUntil(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    auto last = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() < deadline) {
      const auto now = std::chrono::steady_clock::now();
      executor_->Advance(now - last);
      last = now;
      executor_->RunReady();
      if (condition()) return true;
      std::this_thread::yield();
    }
    return false;
  }
  // Of the service a.B.
  std::optional<absl::Status> Put(const std::string& url) {
    const auto result = std::make_shared<std::optional<absl::Status>>();
    backend_->Put("a.B", Category::kProviders, url, true, [result](absl::Status status) { *result = std::move(status); });
    RunUntil([&] { return result->has_value(); });
    return *result;
  }

  // A child that uses the backend fails everywhere, and the parent's session lives on.
  void ExpectOnlyTheParentsWorks(bool has_mapping) {
    ASSERT_EQ(Put("before"), absl::OkStatus());
    const pid_t child = fork();
    if (child == 0) _exit(Child(has_mapping));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(Put("after"), absl::OkStatus());
    EXPECT_EQ(session_, Session::kConnected);
  }

  FakeClock clock_;
  const std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  UrlPool pool_;
  LogRecorder recorder_;
  Logger logger_{recorder_.sink(), clock_};
  std::unique_ptr<RegistryBackend> backend_;
  std::optional<Session> session_;

 private:
  // 0 when all is as it should be.
  int Child(bool has_mapping) {
    std::optional<absl::Status> said;
    const auto refused = [&] {
      executor_->RunReady();
      return said.has_value() && said->code() == absl::StatusCode::kFailedPrecondition;
    };
    said = Put("child");
    if (!refused()) return 1;
    said.reset();
    backend_->Read("a.B", Category::kProviders, [&](const ChildrenAnswer& answer) { said = answer.status; });
    if (!refused()) return 2;
    said.reset();
    backend_->Watch("a.B", Category::kProviders, [&](const ChildrenAnswer& answer) { said = answer.status; });
    if (!refused()) return 3;
    said.reset();
    backend_->ReadMapping("a.B", [&](const absl::StatusOr<std::string>& answer) { said = answer.status(); });
    if (has_mapping && !refused()) return 4;
    if (backend_->Describe().find("forked") == std::string::npos) return 5;
    said.reset();
    backend_->Stop([&](absl::Status status) { said = std::move(status); });
    if (!refused()) return 6;
    backend_.reset();
    return 0;
  }
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_HAND_RUN_BACKEND_H_
