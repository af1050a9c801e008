#ifndef FAIRLEAD_REGISTRY_LIST_CACHE_H_
#define FAIRLEAD_REGISTRY_LIST_CACHE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "fairlead/base/backoff.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/cache_file.h"
#include "fairlead/registry/cached_lists.h"
#include "fairlead/registry/registry_environment.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// What one registry's subscribers were last told, kept in a CacheFile across restarts, so that a process that
// starts while the registry is down has something to go by. Whatever is wrong with the file is a warning,
// never an error.
//
// The file is read once, at Start, and written `file.interval` after something changed that it does not have
// yet, so that a burst makes one write; a failed write is tried again with back-off. The disk is only touched
// on RegistryContext::file_executor. Services that nobody subscribes any more keep their lists for 30 days. REQUIRES:
// executor.
class ListCache {
 public:
  ListCache(RegistryEnvironment& env, std::string path);

  // `on_loaded` is called once the file was read, found unreadable, or not found.
  void Start(absl::AnyInvocable<void()> on_loaded);
  bool loaded() const { return loaded_; }

  // What is known for `consumer`. Parses: linear in the service's urls.
  CachedLists Find(const Url& consumer);

  // `known.consumer` was told these lists. Repetition costs nothing. Who has `keeps_providers` goes on with its last
  // providers when the registry says "none", and so does the file: a restart during a protection loses nothing.
  void Learn(KnownLists known);
  // The subscription ended. Its lists stay when they are the only ones of their service; its providers also when
  // those who stay have none and keep theirs.
  void Forget(const Url& consumer);

  // Writes what is not written yet, then calls `done`, whether that went well or not. The registry lives
  // until then. The last call.
  void Flush(absl::AnyInvocable<void()> done);

  // The file that was read and when it was written; when none was, what it would be called.
  const std::string& origin() const { return origin_; }
  // The file that is written; empty before the first write and after a failed one.
  const std::string& path() const { return path_; }

 private:
  struct Written {
    absl::Status status;
    std::string path;
  };

  template <class Work, class Then>
  void OnDisk(Work work, Then then);
  void OnLoaded(std::optional<CacheFile::Loaded> loaded, const std::vector<std::string>& remarks);
  void Changed();
  std::int64_t Today() const;
  void DropIdle();
  void Schedule();
  void Write();
  absl::AnyInvocable<Written(CacheFile&)> WriteJob();
  void OnWritten(const Written& written);

  RegistryEnvironment& env_;
  const std::string name_;
  const std::shared_ptr<CacheFile> file_;  // shared with the tasks that use it, one at a time
  absl::AnyInvocable<void()> on_loaded_;
  CacheContent content_;
  Clock::SteadyTime started_at_;
  std::string origin_, path_;
  bool loaded_ = false;
  bool dirty_ = false;  // not written and not being written
  bool writing_ = false;
  Timer timer_;
  Backoff backoff_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_LIST_CACHE_H_
