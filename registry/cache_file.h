#ifndef FAIRLEAD_REGISTRY_CACHE_FILE_H_
#define FAIRLEAD_REGISTRY_CACHE_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fairlead/registry/cached_lists.h"
#include "fairlead/registry/java_properties.h"

namespace fairlead::internal {

// What one key of the file stands for.
struct CacheEntry {
  std::shared_ptr<const std::string>
      text;                       // that was read, of the categories that `lists` does not have; may be null
  std::vector<KnownLists> lists;  // that subscriptions were told
  std::int64_t idle_since = 0;    // day since 1970 on which it was last in use, when that was before this process
};
using CacheContent = std::map<std::string, CacheEntry>;

// The list cache of a registry on disk: a file in Dubbo's format, which Dubbo reads too.
//
// Processes that use the same name do not disturb each other: each holds the lock of the file that it writes,
// `<name>.lock`, for as long as it lives; who finds it held takes `<name>.1`, `<name>.2` ... A file that
// another registry's lists are in (its third line says whose they are; Dubbo's files do not) is left alone
// like a held one.
//
// Our own files end with a checksum of all before it, so that a file that was cut or changed is known; one
// without our mark must at least be free of zero bytes and end with a line end.
//
// Of entries that are not in use the file says since when, as properties `_:idle:<key>` that Dubbo does not look up.
//
// All methods block on the disk: not for the executor of the control plane. Not thread-safe.
class CacheFile {
 public:
  // `registry` says whose lists these are: one line, without credentials.
  CacheFile(std::string name, std::string registry);
  ~CacheFile();  // gives the lock up; the lock file stays, as another may wait for it
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;

  struct Loaded {
    std::string path;
    std::int64_t written_at = 0;  // seconds since 1970
    Properties entries;
    std::map<std::string, std::int64_t, std::less<>> idle_since;  // of those entries that were not in use then
  };
  // The newest readable file among the name and its numbered ones. `remarks` on those that are not readable.
  std::optional<Loaded> Load(std::vector<std::string>& remarks);

  // Takes a lock when none is held, making directories as needed (mode 0700). kUnavailable names path and
  // error.
  absl::Status Acquire();

  // Replaces the file at once: who reads or crashes meanwhile sees the old one or the new one. Mode 0600.
  // `header` is the time, in Java's form. True when it was written, false when the file says the same
  // already.
  absl::StatusOr<bool> Write(const CacheContent& content, std::string_view header);

  // Where Write writes; empty before Acquire.
  const std::string& path() const { return path_; }

 private:
  class Lock;

  std::string Candidate(int number) const;
  bool IsOthers(const std::string& path) const;

  const std::string name_, registry_;
  std::string path_;
  std::unique_ptr<Lock> lock_;
  std::optional<std::uint64_t> written_;  // hash of the entries in path_
};

// "Mon Jan 01 00:00:00 UTC 2024", as Java prints a date.
std::string JavaDate(std::int64_t seconds);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_CACHE_FILE_H_
