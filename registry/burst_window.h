#ifndef FAIRLEAD_REGISTRY_BURST_WINDOW_H_
#define FAIRLEAD_REGISTRY_BURST_WINDOW_H_

#include <chrono>
#include <optional>

#include "fairlead/base/clock.h"

namespace fairlead {

// Says when to read a list again while a burst of changes comes in: the first change is read at once, those
// that follow within a window are read together when the window ends, and the window doubles for as long as
// changes keep coming. A window without a change ends the burst.
//
// For lists of providers and consumers. Rules (configurators, routers, documents) are read without delay.
//
//   on event:  if (auto wait = window.OnEvent(now)) timer = executor.After(*wait, read);
//   in `read`, also for another reason (first watch, reconnect):  timer.Cancel(); window.OnRead(now); ...
//
// One object a list. Pure: no timer, no clock of its own. Not thread-safe. Constant time.
class BurstWindow {
 public:
  struct Limits {
    std::chrono::milliseconds first{100};     // the window after a read at once; 0 = never wait
    std::chrono::milliseconds longest{1000};  // doubling stops here; equal to `first`: the window is fixed

    static constexpr Limits Fixed(std::chrono::milliseconds window) { return {window, window}; }
  };

  BurstWindow() : BurstWindow(Limits()) {}
  explicit BurstWindow(Limits limits) : limits_(limits), window_(limits.first) {}

  // A change was seen. How long to wait before reading (0 = now); nullopt when a read that was promised
  // earlier is still to come, which covers this change too.
  std::optional<std::chrono::nanoseconds> OnEvent(Clock::SteadyTime now);

  // The list is read now: what changed until now is covered, a later change needs another read.
  void OnRead(Clock::SteadyTime now);

  // A read was promised by OnEvent and has not begun.
  bool read_due() const { return read_due_; }

 private:
  Limits limits_;
  std::chrono::milliseconds window_;
  std::optional<Clock::SteadyTime> last_read_;
  bool read_due_ = false;
  bool waited_ = false;
};

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_BURST_WINDOW_H_
