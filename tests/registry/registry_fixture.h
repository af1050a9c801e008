#ifndef FAIRLEAD_TESTS_REGISTRY_REGISTRY_FIXTURE_H_
#define FAIRLEAD_TESTS_REGISTRY_REGISTRY_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/base/log.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/registry/registry.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/tests/registry/fake_backend.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {

inline std::string KindName(ListKind kind) {
  return kind == ListKind::kList ? "list" : kind == ListKind::kEmpty ? "empty" : "unknown";
}

// Remembers what it was told, as "a.B/providers list 10.0.0.1:1 10.0.0.2:1", and does `then` on each Notify.
class RecordingListener final : public NotifyListener {
 public:
  void Notify(Notification full) override {
    EXPECT_FALSE(inside_) << "a Notify inside a Notify";
    inside_ = true;
    std::string line =
        full.service + "/" + std::string(CategoryName(full.category)) + " " + KindName(full.kind);
    for (const Url& url : full.urls) line += " " + url.Address();
    lines.push_back(line);
    // A replay repeats a version; nothing ever goes back.
    std::uint64_t& version = versions_[{full.service, full.category}];
    EXPECT_GE(full.version, version);
    version = full.version;
    all.push_back(std::move(full));
    const auto leave = [this] { inside_ = false; };
    if (then) {
      try {
        then();
      } catch (...) {
        leave();
        throw;
      }
    }
    leave();
  }

  void OnRegistryChange() override {
    EXPECT_FALSE(inside_) << "within a Notify";
    ++registry_changes;
  }

  std::vector<std::string> Take() { return std::exchange(lines, {}); }

  std::vector<std::string> lines;
  int registry_changes = 0;
  std::vector<Notification> all;
  std::function<void()> then;

 private:
  bool inside_ = false;
  std::map<std::pair<std::string, Category>, std::uint64_t> versions_;
};

// Virtual time, one thread, and what a registry needs.
class RegistryFixture : public ::testing::Test {
 protected:
  using Session = RegistryBackend::Session;
  using Operation = FakeBackend::Operation;

  ~RegistryFixture() override { Close(); }

  RegistryContext Context(std::uint64_t seed = 1) { return {executor_, &clock_, &pool_, &log_, seed}; }
  Url U(std::string_view text) {
    absl::StatusOr<Url> url = Url::Parse(text, pool_);
    EXPECT_TRUE(url.ok()) << url.status();
    return url.ok() ? *url : Url();
  }

  // A registry over a FakeBackend, connected unless told otherwise.
  FailbackRegistry& Open(std::string_view registry_url = "fake://h:1", bool connect = true) {
    Close();
    backend_ = std::make_shared<FakeBackend::State>(executor_);
    registry_ = FailbackRegistry::Create(U(registry_url), std::make_unique<FakeBackend>(backend_), Context());
    if (connect) {
      backend_->Tell(Session::kConnected);
      Run();
    }
    return *registry_;
  }
  void Close() {
    registry_.reset();
    if (backend_ != nullptr) FinishStop();
    executor_->RunReady();
  }
  void FinishStop() {
    executor_->RunReady();
    while (backend_->Answer(Operation::kRemove)) executor_->RunReady();
    if (backend_->stop)
      executor_->Post([done = std::exchange(backend_->stop, nullptr)]() mutable { done({}); });
    executor_->RunReady();
  }

  void Run() { executor_->RunReady(); }
  void Advance(std::chrono::milliseconds by) { executor_->Advance(by); }

  // A Done that puts what it gets into `result`.
  Done Into(std::optional<absl::Status>& result) {
    return [&result](absl::Status status) {
      EXPECT_FALSE(result.has_value()) << "Done was called twice";
      result = std::move(status);
    };
  }
  void Push(std::string_view service, Category category, std::vector<std::string> children,
            std::uint64_t generation = 1) {
    backend_->Push({std::string(service), category}, {generation, {}, false, std::move(children)});
    Run();
  }
  void PushMissing(std::string_view service, Category category) {
    backend_->Push({std::string(service), category}, {1, {}, true, {}});
    Run();
  }
  void PushError(std::string_view service, Category category, std::string_view text = "broken") {
    backend_->Push({std::string(service), category},
                   {1, absl::UnavailableError({text.data(), text.size()}), false, {}});
    Run();
  }

  FakeClock clock_;
  std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  UrlPool pool_{clock_};
  LogRecorder recorder_;
  Logger log_{recorder_.sink(), clock_};
  std::shared_ptr<FakeBackend::State> backend_;
  std::shared_ptr<FailbackRegistry> registry_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_REGISTRY_FIXTURE_H_
