#ifndef FAIRLEAD_REGISTRY_FILE_FILE_CONTENTS_H_
#define FAIRLEAD_REGISTRY_FILE_FILE_CONTENTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "fairlead/base/log.h"
#include "fairlead/registry/file/file_lines.h"
#include "fairlead/registry/file/file_scan.h"
#include "fairlead/registry/registry_backend.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {

// What the files of a registry say, as last read. Knows nothing of time. Not thread-safe.
//
// A single file that is missing, or of no bytes, is a missing path for every service; one that cannot be read
// is unknown. In a directory each file stands for itself: one that is deleted takes its urls with it, one
// that cannot be read, or has no bytes where it had urls, keeps them until it is readable or gone. A file with lines of
// which none is a url is one that cannot be read. An empty directory where a file stood is a missing path.
class FileContents {
 public:
  static constexpr std::size_t kMostFileBytes = 16 << 20;
  static constexpr std::size_t kMostBytes = 64 << 20;  // all files together

  enum class Outcome : std::uint8_t { kUnchanged, kChanged, kUnfinished };

  FileContents(std::string path, UrlPool& pool, Logger& log)
      : path_(std::move(path)), pool_(pool), log_(log) {}

  // Reads those files of the scan whose stamp is a new one; with `again` all. Unless `final`, a file whose
  // last line does not end is kUnfinished, and nothing changes. Linear in what is read.
  Outcome Update(const FileScan& scan, bool again, bool final);

  // False until the first Update.
  bool known() const { return state_ != State::kUnknown; }
  bool missing() const { return state_ == State::kMissing; }
  const absl::Status& status() const { return status_; }
  // Something could not be read, and may be the next time although its stamp stays the same.
  bool troubled() const;

  // The urls of one path of the registry, in the order of names and lines; rules for `*` are in every
  // service's list.
  ChildrenAnswer Children(const RegistryKey& key) const;
  // Sorted.
  std::vector<std::string> Services() const;
  // The file that holds this very url, or nothing.
  std::string FileOf(const RegistryKey& key, std::string_view url_text) const;
  // "12 urls in 2 files, 1 line skipped (a.txt:3: ...)".
  std::string Describe() const;
  // The first hundred bad lines, "a.txt:3: ...".
  std::vector<std::string> BadLines() const;

 private:
  enum class State : std::uint8_t { kUnknown, kMissing, kUnreadable, kRead };
  struct File {
    FileStamp stamp;
    std::uint64_t hash = 0;  // of the content
    FileLines lines;
    std::string trouble;  // why the lines are older than the file
  };

  bool SetState(State state, absl::Status status);
  bool SetMissing(std::string_view why);
  void Take(const std::string& path, File& file, const FileStamp& stamp, absl::StatusOr<std::string> content);
  void Keep(const std::string& path, File& file, std::string_view why);

  const std::string path_;
  UrlPool& pool_;
  Logger& log_;
  State state_ = State::kUnknown;
  absl::Status status_;
  std::map<std::string, File> files_;
  bool single_ = false;   // the path led to a file, and to no other files since
  bool changed_ = false;  // by the Update that runs
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_FILE_FILE_CONTENTS_H_
