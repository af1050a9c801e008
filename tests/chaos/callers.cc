#include "fairlead/tests/chaos/callers.h"

#include <chrono>
#include <utility>

#include "fairlead/examples/call_with_retry.h"

namespace fairlead::chaos {
namespace {

// Long: the machine may be busy with compilers and sanitizers, and a provider that dies ends its connections.
constexpr std::chrono::seconds kCallTimeout{20};
// Between two calls of a thread, so that what is tested has some of the processor, too.
constexpr std::chrono::microseconds kPause{1000};
constexpr std::size_t kMostFailures = 5;

}  // namespace

Callers::Callers(std::vector<std::shared_ptr<Directory>> directories, int threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, i, directory = directories[static_cast<std::size_t>(i) % directories.size()]] {
      Call(directory, i);
    });
  }
}

Callers::~Callers() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void Callers::Call(const std::shared_ptr<Directory>& directory, int number) {
  const MethodId get = directory->Method("get");
  const std::string argument = std::to_string(number);
  while (!stop_) {
    const toy::CallResult result = toy::CallWithRetry(*directory, get, "get", argument, kCallTimeout);
    if (result.attempts > 1) ++retried_;
    if (result.answer.ok()) {
      ++served_;
    } else {
      ++failed_;
      const std::lock_guard lock(mutex_);
      if (failures_.size() < kMostFailures) {
        failures_.push_back("attempts " + std::to_string(result.attempts) + ": " + result.answer.status().ToString());
      }
    }
    std::this_thread::sleep_for(kPause);
  }
}

Callers::Counts Callers::counts() const { return {served_, retried_, failed_}; }

std::vector<std::string> Callers::TakeFailures() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failures_, {});
}

}  // namespace fairlead::chaos
