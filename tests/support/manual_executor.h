#ifndef FAIRLEAD_TESTS_SUPPORT_MANUAL_EXECUTOR_H_
#define FAIRLEAD_TESTS_SUPPORT_MANUAL_EXECUTOR_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "fairlead/base/clock.h"
#include "fairlead/base/executor.h"
#include "fairlead/tests/support/fake_clock.h"

namespace fairlead {

// An executor that runs nothing until a test tells it to, with timers on a FakeClock, so that a whole
// scenario runs on one thread and without sleeping. Post, After and Cancel may come from any thread; RunReady
// and Advance belong to one thread at a time and must not be called by a task. What a task throws reaches the
// test.
//
// `clock` must outlive the executor. Timers may outlive it.
class ManualExecutor final : public Executor {
 public:
  explicit ManualExecutor(FakeClock& clock);
  ~ManualExecutor() override;

  void Post(absl::AnyInvocable<void()> task) override;
  [[nodiscard]] Timer After(std::chrono::nanoseconds delay, absl::AnyInvocable<void()> task) override;
  bool RunsHere() const override;

  // Runs posted tasks in order, with timers that are due taking their place behind those posted before, until
  // nothing is left to run at the present time. Returns how many ran. Aborts after a million: a task that
  // posts itself again would never end.
  std::size_t RunReady();

  // Moves the clock forward by `by`, stopping at each timer on the way to run it and everything it posts, in
  // order of time and, for equal times, in order of After. Returns how many tasks ran.
  std::size_t Advance(std::chrono::nanoseconds by);

  // Posted tasks that have not run, due timers that RunReady has seen included.
  std::size_t pending_posts() const;
  // Timers that have neither fired nor been cancelled.
  std::size_t pending_timers() const;

 private:
  struct Shared;

  FakeClock& clock_;
  const std::shared_ptr<Shared> shared_;
  std::atomic<std::thread::id> runner_{};
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_MANUAL_EXECUTOR_H_
