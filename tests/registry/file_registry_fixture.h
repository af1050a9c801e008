#ifndef FAIRLEAD_TESTS_REGISTRY_FILE_REGISTRY_FIXTURE_H_
#define FAIRLEAD_TESTS_REGISTRY_FILE_REGISTRY_FIXTURE_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/registry/file/file_backend.h"
#include "fairlead/tests/registry/registry_fixture.h"
#include "fairlead/tests/support/temp_directory.h"

namespace fairlead {

// What a test sees of its directory watches, and does to them.
struct FakeWatches {
  std::set<std::string> directories;
  absl::AnyInvocable<void()> on_event;
  absl::Status make_status, set_status;
  int alive = 0;

  internal::DirectoryWatchMaker Maker() {
    return
        [this](
            absl::AnyInvocable<void()> event) -> absl::StatusOr<std::unique_ptr<internal::DirectoryWatch>> {
          if (!make_status.ok()) return make_status;
          on_event = std::move(event);
          return std::make_unique<Watch>(*this);
        };
  }

 private:
  class Watch final : public internal::DirectoryWatch {
   public:
    explicit Watch(FakeWatches& owner) : owner_(owner) { ++owner_.alive; }
    ~Watch() override {
      --owner_.alive;
      owner_.on_event = nullptr;
    }
    absl::Status Set(const std::set<std::string>& directories) override {
      owner_.directories = directories;
      return owner_.set_status;
    }

   private:
    FakeWatches& owner_;
  };
};

// A registry in real files, in virtual time: nobody hears of a change unless the test says so, or a look
// falls due.
class FileRegistryFixture : public RegistryFixture {
 protected:
  static constexpr std::string_view kConsumer = "consumer://10.0.0.9/a.B";
  static constexpr std::chrono::milliseconds kSettle = internal::FileFeed::kSettle;

  ~FileRegistryFixture() override {
    registry_.reset();
    Run();
  }

  // On the file or directory of this name in the test's own.
  FailbackRegistry& OpenFile(std::string_view name, std::string_view parameters = "") {
    auto backend = std::make_unique<internal::FileBackend>(directory_ / name, Context(), watches_.Maker());
    file_ = backend.get();
    const std::string url = "file://" + (directory_ / name) + std::string(parameters);
    registry_ = FailbackRegistry::Create(U(url), std::move(backend), Context());
    Run();
    return *registry_;
  }
  std::shared_ptr<RecordingListener> Subscribe(std::string_view consumer = kConsumer) {
    auto listener = std::make_shared<RecordingListener>();
    first_.reset();
    registry_->Subscribe(U(consumer), listener, Into(first_));
    Run();
    return listener;
  }
  absl::Status Register(std::string_view url) {
    std::optional<absl::Status> told;
    registry_->Register(U(url), Into(told));
    Run();
    return told.value_or(absl::UnknownError("not answered"));
  }
  absl::Status Unregister(std::string_view url) {
    std::optional<absl::Status> told;
    registry_->Unregister(U(url), Into(told));
    Run();
    return told.value_or(absl::UnknownError("not answered"));
  }
  // As inotify would tell.
  void Event() {
    if (watches_.on_event) executor_->Post([this] { watches_.on_event(); });
    Run();
  }
  // An event, and time for the files to be still.
  void Settle() {
    Event();
    Advance(kSettle);
  }
  std::vector<std::string> Lines(std::string_view code) {
    std::vector<std::string> lines;
    for (const LogRecorder::Line& line : recorder_.lines()) {
      if (line.code == code) lines.push_back(line.subject + " " + line.text);
    }
    return lines;
  }

  TempDirectory directory_;
  FakeWatches watches_;
  internal::FileBackend* file_ = nullptr;  // the registry's
  std::optional<absl::Status> first_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_FILE_REGISTRY_FIXTURE_H_
