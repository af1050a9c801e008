#ifndef FAIRLEAD_TESTS_REGISTRY_FAKE_BACKEND_H_
#define FAIRLEAD_TESTS_REGISTRY_FAKE_BACKEND_H_

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/base/executor.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/registry_key.h"

namespace fairlead {

// A backend that does nothing by itself: a test sees each operation and gives each answer, as a task of the
// executor. `State` outlives the backend, which the registry owns.
class FakeBackend final : public RegistryBackend {
 public:
  struct Operation {
    enum Kind { kPut, kRemove, kRead } kind = kPut;
    RegistryKey key;
    std::string text;
    bool dynamic = false;
    Done done;      // of Put and Remove
    Children once;  // of Read
  };

  struct State {
    explicit State(std::shared_ptr<Executor> on) : executor(std::move(on)) {}

    std::shared_ptr<Executor> executor;
    absl::AnyInvocable<void(Session)> on_session;
    std::vector<Operation> open;   // without an answer
    std::vector<std::string> log;  // "put a.B/providers text" ...
    std::map<RegistryKey, std::shared_ptr<Children>> watches;
    std::map<RegistryKey, int> watch_count;  // how often each path was watched
    std::shared_ptr<Names> names;
    Done stop;
    bool encoded = false;
    bool destroyed = false;
    absl::Status refusal;
    absl::AnyInvocable<void()> on_description_change;

    void Refuse(absl::Status why) {
      refusal = std::move(why);
      executor->Post([this] { on_description_change(); });
    }
    void Tell(Session session) {
      executor->Post([this, session] { on_session(session); });
    }
    // Answers the oldest open operation of this kind.
    bool Answer(Operation::Kind kind, absl::Status status = absl::OkStatus()) {
      const auto at =
          std::find_if(open.begin(), open.end(), [kind](const Operation& one) { return one.kind == kind; });
      if (at == open.end()) return false;
      executor->Post([done = std::move(at->done), status]() mutable { done(status); });
      open.erase(at);
      return true;
    }
    bool AnswerRead(ChildrenAnswer answer) {
      const auto at = std::find_if(open.begin(), open.end(),
                                   [](const Operation& one) { return one.kind == Operation::kRead; });
      if (at == open.end()) return false;
      executor->Post(
          [once = std::move(at->once), answer = std::move(answer)]() mutable { once(std::move(answer)); });
      open.erase(at);
      return true;
    }
    void Push(const RegistryKey& key, ChildrenAnswer answer) {
      const auto watch = watches.find(key);
      if (watch == watches.end()) return;
      executor->Post(
          [to = watch->second, answer = std::move(answer)]() mutable { (*to)(std::move(answer)); });
    }
    void PushNames(absl::StatusOr<std::vector<std::string>> all) {
      executor->Post([to = names, all = std::move(all)]() mutable { (*to)(std::move(all)); });
    }
    std::size_t Count(Operation::Kind kind) const {
      return static_cast<std::size_t>(
          std::count_if(open.begin(), open.end(), [kind](const Operation& one) { return one.kind == kind; }));
    }
  };

  explicit FakeBackend(std::shared_ptr<State> state) : state_(std::move(state)) {}
  ~FakeBackend() override { state_->destroyed = true; }

  void Start(absl::AnyInvocable<void(Session)> on_session) override {
    state_->on_session = std::move(on_session);
  }
  void Put(std::string_view service, Category category, std::string_view text, bool dynamic,
           Done done) override {
    state_->log.push_back("put " + Path(service, category) + " " + std::string(text));
    state_->open.push_back({Operation::kPut,
                            {std::string(service), category},
                            std::string(text),
                            dynamic,
                            std::move(done),
                            nullptr});
  }
  void Remove(std::string_view service, Category category, std::string_view text, Done done) override {
    state_->log.push_back("remove " + Path(service, category) + " " + std::string(text));
    state_->open.push_back({Operation::kRemove,
                            {std::string(service), category},
                            std::string(text),
                            false,
                            std::move(done),
                            nullptr});
  }
  void Read(std::string_view service, Category category, Children once) override {
    state_->log.push_back("read " + Path(service, category));
    state_->open.push_back(
        {Operation::kRead, {std::string(service), category}, "", false, nullptr, std::move(once)});
  }
  void Watch(std::string_view service, Category category, Children on_full_list) override {
    const RegistryKey key{std::string(service), category};
    ++state_->watch_count[key];
    state_->watches[key] = std::make_shared<Children>(std::move(on_full_list));
  }
  void Unwatch(std::string_view service, Category category) override {
    state_->watches.erase({std::string(service), category});
  }
  void WatchServices(Names on_names) override {
    state_->names = std::make_shared<Names>(std::move(on_names));
  }
  void UnwatchServices() override { state_->names.reset(); }
  void WatchConfig(std::string_view, std::string_view, ConfigValue) override {}
  void UnwatchConfig(std::string_view, std::string_view) override {}
  bool ChildrenAreEncoded() const override { return state_->encoded; }
  std::string Describe() const override { return "fake"; }
  void OnDescriptionChange(absl::AnyInvocable<void()> on_change) override {
    state_->on_description_change = std::move(on_change);
  }
  absl::Status Refusal() const override { return state_->refusal; }
  void Stop(Done done) override { state_->stop = std::move(done); }

 private:
  static std::string Path(std::string_view service, Category category) {
    return std::string(service) + "/" + std::string(CategoryName(category));
  }

  const std::shared_ptr<State> state_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_FAKE_BACKEND_H_
