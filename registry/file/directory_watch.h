#ifndef FAIRLEAD_REGISTRY_FILE_DIRECTORY_WATCH_H_
#define FAIRLEAD_REGISTRY_FILE_DIRECTORY_WATCH_H_

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fairlead/base/executor.h"

namespace fairlead::internal {

// Tells that something happened in one of a set of directories; what it was is for the hearer to look at.
// Many events may be one call. REQUIRES: executor.
class DirectoryWatch {
 public:
  virtual ~DirectoryWatch() = default;
  // Watches these directories and no others. Those that do not exist are left out; the first other failure is
  // told, with a remedy, and the rest are watched all the same. To be called again after each event: a
  // directory that was replaced under its name is another one.
  virtual absl::Status Set(const std::set<std::string>& directories) = 0;
};

// `on_event` is called on the executor, not after the watch is destroyed.
using DirectoryWatchMaker =
    std::function<absl::StatusOr<std::unique_ptr<DirectoryWatch>>(absl::AnyInvocable<void()> on_event)>;

// By inotify, which reports to a file descriptor. An Executor has no way to wait for one, so each watch has a
// thread, named fl-file, with all signals blocked; it sleeps until something happens, and wakes at most ten
// times a second. `executor` must outlive the watches. Not OK: the system has no inotify instance, descriptor
// or thread left.
DirectoryWatchMaker InotifyMaker(Executor& executor);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_FILE_DIRECTORY_WATCH_H_
