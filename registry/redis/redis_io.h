#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_IO_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_IO_H_

#include <sys/types.h>

#include <memory>
#include <thread>

#include "absl/status/statusor.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/redis/redis_stream.h"

namespace fairlead::internal {

// The connections of one registry to its servers. An Executor cannot be asked to wait for descriptors, so that there is
// a thread, named fl-redis, with all signals blocked, that waits for the sockets, moves bytes, cuts them into replies
// and posts these to the executor; it does nothing else, and calls nobody. Writing to a connection that is gone raises
// no SIGPIPE (MSG_NOSIGNAL), on no thread.
//
// Names are looked up on threads of their own, for moments, as that may take as long as the name service likes.
//
// What has come and the executor has not yet taken is bounded: a connection is not read while kMostWaiting replies of it
// wait.
class RedisIo {
 public:
  static constexpr std::size_t kMostWaiting = 20000;
  static constexpr int kMostLookups = 8;

  // kResourceExhausted: no thread or descriptor is left. `executor` must outlive the object.
  static absl::StatusOr<std::unique_ptr<RedisIo>> Start(Executor& executor);
  // Ends the thread, for which there is nothing to wait. REQUIRES: executor; streams that are left are never used again.
  // In a forked child nothing is ended: the descriptors are the parent's too.
  ~RedisIo();
  RedisIo(const RedisIo&) = delete;
  RedisIo& operator=(const RedisIo&) = delete;

  // REQUIRES: executor. The stream must be destroyed before this object.
  std::unique_ptr<RedisStream> Dial(const RedisServer& server, RedisStream::Events& events);

 private:
  struct Loop;
  class Channel;
  class Stream;
  RedisIo(Executor& executor, std::shared_ptr<Loop> loop);

  Executor& executor_;
  const std::shared_ptr<Loop> loop_;
  const pid_t owner_;
  std::thread thread_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_IO_H_
