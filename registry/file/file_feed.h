#ifndef FAIRLEAD_REGISTRY_FILE_FILE_FEED_H_
#define FAIRLEAD_REGISTRY_FILE_FILE_FEED_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/file/directory_watch.h"
#include "fairlead/registry/file/file_scan.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead::internal {

// Says when the files of a registry are to be read: at once at the start, then whenever they changed and have
// been still for kSettle, so that a file that is being written is not read by half. Hears of changes from a
// DirectoryWatch and, for what no event tells (a directory renamed further up, a network file system, times
// too coarse to tell two writes apart), looks by itself every kSlowLook; without a watch every kPoll.
// REQUIRES: executor.
class FileFeed {
 public:
  static constexpr std::chrono::milliseconds kSettle{100};
  static constexpr std::chrono::milliseconds kPatience{1000};  // for a file that seems unfinished
  static constexpr std::chrono::milliseconds kLongest{2000};   // for files that never are still
  static constexpr std::chrono::milliseconds kPoll{1000};
  static constexpr std::chrono::milliseconds kSlowLook{5000};

  struct Reading {
    bool again = false;  // read also what looks unchanged
    bool final = false;  // take files as they are, unfinished ones too
  };
  enum class Taken : std::uint8_t {
    kAll,
    kPartly,      // some could not be read: the slow looks try again
    kUnfinished,  // nothing, for a file seems to be written still: asked again after kSettle
  };
  using OnSettled = absl::AnyInvocable<Taken(const FileScan& scan, Reading how)>;

  FileFeed(std::string path, const RegistryContext& context, DirectoryWatchMaker maker, OnSettled on_settled);

  void Start();
  void Stop();
  // Looks soon: something is wanted or was changed by this process.
  void Nudge();
  // More files to look after, by path.
  void SetDocuments(std::set<std::string> documents);

  // "inotify", or why not.
  std::string_view mode() const { return watching_ ? "inotify" : "polled"; }

 private:
  void Look(bool again);
  void LookIn(std::chrono::nanoseconds delay);
  void SlowLookLater();
  void Watch();

  const std::string path_;
  const RegistryContext context_;
  const DirectoryWatchMaker maker_;
  OnSettled on_settled_;
  std::unique_ptr<DirectoryWatch> watch_;
  std::set<std::string> documents_;
  bool stopped_ = false;
  bool watching_ = false;
  bool told_polling_ = false;
  std::optional<FileScan> read_;  // as it was when last read
  FileScan seen_;                 // by the last look
  Clock::SteadyTime changed_;     // when a look last saw a change
  Clock::SteadyTime unread_;      // since when what is seen differs from what was read
  bool differs_ = false;
  bool read_again_ = false;
  Timer look_, slow_look_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_FILE_FILE_FEED_H_
