#ifndef FAIRLEAD_REGISTRY_FILE_FILE_SCAN_H_
#define FAIRLEAD_REGISTRY_FILE_FILE_SCAN_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fairlead/url/url.h"

// What a file registry asks the file system. Every call returns after a few system calls on names it is
// given; on a network file system those may block.
namespace fairlead::internal {

// The absolute path that a `file:///path` url names, `%XX` escapes decoded, without a slash at its end.
// kInvalidArgument names the url and what was expected.
absl::StatusOr<std::string> FilePathOf(const Url& registry);

// Tells one state of a file from another without reading it: a write in place changes the times, a
// replacement the inode as well.
struct FileStamp {
  int error = 0;  // errno of the look; ENOENT: there is no such file
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;

  bool exists() const { return error == 0; }
  bool operator==(const FileStamp&) const = default;
};
FileStamp StampOf(const std::string& path);

// What stands at a path, and how each file there looks.
struct FileScan {
  enum class Kind : std::uint8_t { kMissing, kFile, kDirectory, kUnreadable };
  Kind kind = Kind::kMissing;
  std::string trouble;                         // kUnreadable: why
  std::map<std::string, FileStamp> files;      // kFile: the path itself; kDirectory: by path, in name order
  std::set<std::string> links;                 // kDirectory: which of `files` are links
  std::map<std::string, FileStamp> documents;  // those asked for, missing ones too

  bool operator==(const FileScan&) const = default;
};

// In a directory the regular files count, also through links, but for what editors and tools leave behind:
// names that begin with `.` or `#`, or end in `~`, .swp, .swo, .swx, .tmp or .bak.
FileScan Scan(const std::string& path, const std::set<std::string>& documents);

// The directories in which an event can change what `path` leads to: the one that holds it, those that hold
// the links on the way, the path itself when it is a directory, and when a part of the way is missing the
// last directory there is. Not those further up: renaming them is noticed by the next slow look.
void AddDirectoriesOf(const std::string& path, std::set<std::string>& directories);

// The whole content of a regular file of at most `most` bytes. kNotFound; kResourceExhausted when larger;
// else the system's words. Never waits for a pipe's writer.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path, std::size_t most);

// `what`, the path and the system's words for `error`, as a status of a fitting code.
absl::Status FileError(std::string_view what, const std::string& path, int error);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_FILE_FILE_SCAN_H_
