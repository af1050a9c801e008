#ifndef FAIRLEAD_LOADBALANCE_SMOOTH_SCHEDULE_H_
#define FAIRLEAD_LOADBALANCE_SMOOTH_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fairlead {

// The picks of smooth weighted round robin, worked out ahead. The automaton: at each step every member gains its
// weight in credit, the first member with the most credit is picked, and pays the sum of all weights. From any
// credits its picks become periodic, with the sum of the weights over their common divisor as period: a few steps
// first (none when all credits are 0), then a loop.
//
// Building: members x steps. Reading: constant. Immutable; thread-safe.
class SmoothSchedule {
 public:
  // The schedule of members 0 .. weights.size() - 1 (at least one; no weight is negative) that starts with `credits`
  // (empty = all 0). Absent when the loop would have more than `cap` steps or is not reached within four times
  // as many. Members of equal weight and without credits are a loop of any length.
  static std::optional<SmoothSchedule> Make(std::span<const std::int32_t> weights, std::span<const std::int64_t> credits,
                                            std::size_t cap);

  std::span<const std::uint32_t> steps() const { return steps_; }
  std::size_t loop() const { return loop_; }  // where the last step leads back to
  std::size_t period() const { return steps_.size() - loop_; }

 private:
  std::vector<std::uint32_t> steps_;
  std::size_t loop_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_SMOOTH_SCHEDULE_H_
