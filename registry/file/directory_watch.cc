#include "fairlead/registry/file/directory_watch.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/signals_blocked.h"
#include "fairlead/registry/file/file_scan.h"

namespace fairlead::internal {
namespace {

// A directory may be busy with other things than ours.
constexpr int kPauseMillis = 100;

// Writes as such are left out: a long one would be heard of at each step.
constexpr std::uint32_t kEvents = IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                  IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

class InotifyWatch final : public DirectoryWatch {
 public:
  InotifyWatch(Executor& executor, absl::AnyInvocable<void()> on_event)
      : executor_(executor),
        on_event_(std::make_shared<absl::AnyInvocable<void()>>(std::move(on_event))),
        inotify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
        error_(errno) {}

  ~InotifyWatch() override {
    if (thread_.joinable()) {
      // In the child of a fork there is no thread to end.
      if (getpid() == owner_) {
        const std::uint64_t one = 1;
        while (write(stop_, &one, sizeof one) < 0 && errno == EINTR) {
        }
        thread_.join();
      } else {
        thread_.detach();
      }
    }
    if (inotify_ >= 0) close(inotify_);
    if (stop_ >= 0) close(stop_);
  }

  absl::Status Start() {
    if (inotify_ < 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no inotify instance (", std::generic_category().message(error_),
                       "); raise fs.inotify.max_user_instances or the limit of open files"));
    }
    stop_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop_ < 0) return FileError("no descriptor for", "the file watch", errno);
    const SignalsBlocked blocked;
    try {
      thread_ = std::thread([this] { Wait(); });
    } catch (const std::system_error& error) {
      return absl::ResourceExhaustedError(absl::StrCat("no thread for the file watch: ", error.what()));
    }
    return absl::OkStatus();
  }

  absl::Status Set(const std::set<std::string>& directories) override {
    absl::Status status;
    std::set<int> watches;
    for (const std::string& directory : directories) {
      const int watch = inotify_add_watch(inotify_, directory.c_str(), kEvents);
      if (watch >= 0) {
        watches.insert(watch);
      } else if (errno == ENOSPC) {
        status.Update(absl::ResourceExhaustedError(
            absl::StrCat("no inotify watch left for ", directory, "; raise fs.inotify.max_user_watches")));
      } else if (errno != ENOENT && errno != ENOTDIR) {
        status.Update(FileError("cannot watch", directory, errno));
      }
    }
    for (const int old : watches_) {
      // The system has ended that of a deleted directory already.
      if (!watches.contains(old)) inotify_rm_watch(inotify_, old);
    }
    watches_ = std::move(watches);
    return status;
  }

 private:
  // The thread.
  void Wait() {
    pthread_setname_np(pthread_self(), "fl-file");
    alignas(inotify_event) std::array<char, 16384> events;
    std::array<pollfd, 2> both = {pollfd{stop_, POLLIN, 0}, pollfd{inotify_, POLLIN, 0}};
    while (true) {
      if (poll(both.data(), both.size(), -1) < 0 && errno != EINTR) return;
      if (both[0].revents != 0) return;
      if (both[1].revents == 0) continue;
      while (read(inotify_, events.data(), events.size()) > 0) {
      }
      executor_.Post([weak = std::weak_ptr(on_event_)] {
        if (const auto on_event = weak.lock()) (*on_event)();
      });
      poll(both.data(), 1, kPauseMillis);
      if (both[0].revents != 0) return;
    }
  }

  Executor& executor_;
  const std::shared_ptr<absl::AnyInvocable<void()>> on_event_;
  const int inotify_;
  const int error_;
  const pid_t owner_ = getpid();
  int stop_ = -1;
  std::set<int> watches_;
  std::thread thread_;
};

}  // namespace

DirectoryWatchMaker InotifyMaker(Executor& executor) {
  return [&executor](absl::AnyInvocable<void()> on_event) -> absl::StatusOr<std::unique_ptr<DirectoryWatch>> {
    auto watch = std::make_unique<InotifyWatch>(executor, std::move(on_event));
    if (const absl::Status started = watch->Start(); !started.ok()) return started;
    return watch;
  };
}

}  // namespace fairlead::internal
