#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_STREAM_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_STREAM_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "fairlead/registry/redis/redis_layout.h"
#include "fairlead/registry/redis/redis_options.h"
#include "fairlead/registry/redis/redis_reply.h"

namespace fairlead::internal {

// One connection to a server, without any notion of time: commands in, answers and messages out. REQUIRES: executor.
class RedisStream {
 public:
  // Called on the executor, never inside a method of the stream. May destroy it.
  class Events {
   public:
    virtual ~Events() = default;
    virtual void OnOpen() = 0;
    // In the order in which they came. None: a part of the next one has come, which is a sign of life: a long list takes its
    // time on a slow link.
    virtual void OnReplies(std::vector<RedisReply> replies) = 0;
    // The last event.
    virtual void OnClosed(absl::Status why) = 0;
  };

  // Closes. No event follows.
  virtual ~RedisStream() = default;
  // Also before OnOpen: sent then. Ignored after OnClosed.
  virtual void Send(const RedisWords& command) = 0;
};

// Begins to connect. `events` outlives the stream. A test brings its own.
using RedisDialer =
    std::function<std::unique_ptr<RedisStream>(const RedisServer& server, RedisStream::Events& events)>;

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_STREAM_H_
