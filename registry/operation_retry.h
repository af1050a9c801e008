#ifndef FAIRLEAD_REGISTRY_OPERATION_RETRY_H_
#define FAIRLEAD_REGISTRY_OPERATION_RETRY_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "fairlead/base/backoff.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/registry_environment.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// One operation's tries after the first, at the pace of RetryBackoff. What is not its own to say, whether the
// operation is still wanted, the owner asks in `again`. Stays where it was made. REQUIRES: executor.
class OperationRetry {
 public:
  // `url` is what the operation is about: its `retry.period` and `retry.times` count before the registry's, as
  // in Dubbo.
  OperationRetry(const Url& url, const RegistryOptions& options)
      : times_(url.IntParam("retry.times", options.retry_times)),
        backoff_(RetryBackoff(std::chrono::milliseconds(
            std::max<std::int64_t>(1, url.IntParam("retry.period", options.retry_period.count()))))) {}
  OperationRetry(const OperationRetry&) = delete;
  OperationRetry& operator=(const OperationRetry&) = delete;

  // A try failed. Calls `again` after a pause, or never, when `retry.times` are used up: the operation then
  // rests until Reset, but is never forgotten.
  template <class F>
  void Failed(RegistryEnvironment& env, F again) {
    holds_ = true;
    if (times_ > 0 && backoff_.attempts() >= times_) return;
    timer_ = env.After(backoff_.Next(env.random), [this, &env, again = std::move(again)]() mutable {
      timer_.Cancel();
      holds_ = false;
      ++env.counters.retries;
      again();
    });
  }
  // A try succeeded, or what is wanted changed.
  void Reset() {
    holds_ = false;
    timer_.Cancel();
    backoff_.Reset();
  }
  // The next try is not to be made now.
  bool holds() const { return holds_; }
  // It will be made.
  bool pending() const { return timer_.armed(); }

 private:
  const std::int64_t times_;
  Backoff backoff_;
  bool holds_ = false;
  Timer timer_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_OPERATION_RETRY_H_
