#ifndef FAIRLEAD_TESTS_SUPPORT_EVENTUALLY_H_
#define FAIRLEAD_TESTS_SUPPORT_EVENTUALLY_H_

#include <chrono>
#include <thread>
#include <utility>

namespace fairlead {

// Looks every few milliseconds whether `wanted` has come true, and says so; false when it has not within `limit`.
template <class Wanted>
bool Eventually(Wanted&& wanted, std::chrono::milliseconds limit = std::chrono::seconds(30)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (std::chrono::steady_clock::now() < end) {
    if (wanted()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return wanted();
}

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_EVENTUALLY_H_
