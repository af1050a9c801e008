#ifndef FAIRLEAD_TESTS_CHAOS_CALLERS_H_
#define FAIRLEAD_TESTS_CHAOS_CALLERS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/directory/directory.h"

namespace fairlead::chaos {

// Threads that call real TCP providers all the time: pick, call, on failure one retry elsewhere.
class Callers {
 public:
  struct Counts {
    std::uint64_t served = 0, retried = 0, failed = 0;
  };

  // Thread i calls directory i modulo their number.
  Callers(std::vector<std::shared_ptr<Directory>> directories, int threads);
  // Returns when the last call has ended.
  ~Callers();
  Callers(const Callers&) = delete;
  Callers& operator=(const Callers&) = delete;

  Counts counts() const;
  // Why calls failed, the first few of those since the last question.
  std::vector<std::string> TakeFailures();

 private:
  void Call(const std::shared_ptr<Directory>& directory, int number);

  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> served_{0}, retried_{0}, failed_{0};
  std::mutex mutex_;
  std::vector<std::string> failures_;
  std::vector<std::thread> threads_;
};

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_CALLERS_H_
