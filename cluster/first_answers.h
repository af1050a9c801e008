#ifndef FAIRLEAD_CLUSTER_FIRST_ANSWERS_H_
#define FAIRLEAD_CLUSTER_FIRST_ANSWERS_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/executor.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/cluster/source_listener.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// OK when `directory` has a provider that is up; else what its picks say, with the remedy.
absl::Status ProviderExpected(const Directory& directory);

// What Refer waits for with several registries: one of those with check=true that answers, and all whose url says so
// itself; then that the directory is ready. Executor only.
class FirstAnswers : public std::enable_shared_from_this<FirstAnswers> {
 public:
  struct Awaited {
    std::string name;
    std::chrono::milliseconds timeout;
    bool checks;    // its timeout counts
    bool required;  // must answer
    std::weak_ptr<FailbackRegistry> registry;
    std::shared_ptr<SourceListener> listener;
  };
  struct Config {
    std::shared_ptr<Executor> executor;
    Url consumer;
    std::vector<Awaited> registries;
    std::shared_ptr<Directory> handle;
    Runtime::Referred done;
  };
  // `done` is called once, unless the result goes before.
  static std::shared_ptr<FirstAnswers> Await(Config config);
  // The directory ends: kCancelled, if `done` was not told before.
  void Cancel();

 private:
  explicit FirstAnswers(Config config) : config_(std::move(config)) {}
  void Look();
  void OnTimeout();
  void GiveUp(const std::vector<const Awaited*>& missing, std::string_view what);
  void Fail(absl::Status status);

  Config config_;
  bool ready_ = false, over_ = false;
  bool late_ = false;  // the registries' timeouts are over
  Timer any_;
  std::vector<Timer> required_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_CLUSTER_FIRST_ANSWERS_H_
