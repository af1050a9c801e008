#ifndef FAIRLEAD_TESTS_SUPPORT_LIBRARY_THREADS_H_
#define FAIRLEAD_TESTS_SUPPORT_LIBRARY_THREADS_H_

#include <signal.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead {

struct ThreadStatus {
  std::string name;
  std::uint64_t blocked = 0;  // bit n - 1: signal n

  // Does it leave every signal that a host may wait for to the host's threads?
  bool BlocksSignals() const {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD, SIGPIPE, SIGPROF}) {
      if ((blocked >> (signal - 1) & 1) == 0) return false;
    }
    return true;
  }
};

// Those of this process whose names begin so.
inline std::vector<ThreadStatus> ThreadsNamed(std::string_view prefix) {
  std::vector<ThreadStatus> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "status");
    ThreadStatus thread;
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("Name:\t")) thread.name = line.substr(6);
      if (line.starts_with("SigBlk:\t")) thread.blocked = std::stoull(line.substr(8), nullptr, 16);
    }
    if (thread.name.starts_with(prefix)) threads.push_back(thread);
  }
  return threads;
}

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_LIBRARY_THREADS_H_
