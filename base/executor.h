#ifndef FAIRLEAD_BASE_EXECUTOR_H_
#define FAIRLEAD_BASE_EXECUTOR_H_

#include <chrono>
#include <utility>

#include "absl/functional/any_invocable.h"

namespace fairlead {

// A pending call of Executor::After. Cancels when destroyed. After Cancel() returned on the executor's own
// thread the task does not run any more; from another thread a task that already started may still finish.
class Timer {
 public:
  Timer() = default;
  explicit Timer(absl::AnyInvocable<void()> cancel) : cancel_(std::move(cancel)) {}
  Timer(Timer&& other) noexcept : cancel_(std::exchange(other.cancel_, nullptr)) {}
  Timer& operator=(Timer&& other) noexcept {
    if (this != &other) {
      Cancel();
      cancel_ = std::exchange(other.cancel_, nullptr);
    }
    return *this;
  }
  ~Timer() { Cancel(); }

  void Cancel() {
    if (auto cancel = std::exchange(cancel_, nullptr)) cancel();
  }
  // True from After() until Cancel(); stays true after the task ran.
  bool armed() const { return static_cast<bool>(cancel_); }

 private:
  absl::AnyInvocable<void()> cancel_;
};

// The control plane's thread of control: everything that changes runs here, one task at a time.
//
// Serial: no two tasks overlap, and what one task wrote the next one sees. Post keeps the order of calls made
// on one thread. Thread-safe. A task must not throw; users of Executor wrap host callbacks themselves.
// Tasks left over when the executor is destroyed are destroyed without running.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void Post(absl::AnyInvocable<void()> task) = 0;
  // Runs `task` once, `delay` from now (a negative delay counts as zero).
  [[nodiscard]] virtual Timer After(std::chrono::nanoseconds delay, absl::AnyInvocable<void()> task) = 0;
  // True on the thread that is running one of this executor's tasks right now.
  virtual bool RunsHere() const = 0;
  // Ends the thread of an executor that has one of its own: tasks that wait are destroyed, none runs any
  // more, and the thread has ended when this returns (called by one of its tasks: after that task). Others
  // ignore it.
  virtual void Stop() {}
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_EXECUTOR_H_
