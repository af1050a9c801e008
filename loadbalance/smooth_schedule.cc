#include "fairlead/loadbalance/smooth_schedule.h"

#include <algorithm>
#include <numeric>

namespace fairlead {

std::optional<SmoothSchedule> SmoothSchedule::Make(std::span<const std::int32_t> weights,
                                                   std::span<const std::int64_t> credits, std::size_t cap) {
  const std::size_t n = weights.size();
  const bool fresh = std::all_of(credits.begin(), credits.end(), [](std::int64_t credit) { return credit == 0; });
  SmoothSchedule schedule;
  std::int64_t sum = 0, divisor = 0;
  for (const std::int32_t weight : weights) {
    sum += weight;
    divisor = std::gcd(divisor, static_cast<std::int64_t>(weight));
  }
  if (sum == 0) {
    // Nobody gains or pays: the one with the most credit is picked for ever.
    const auto most = std::max_element(credits.begin(), credits.end());
    schedule.steps_ = {fresh ? 0 : static_cast<std::uint32_t>(most - credits.begin())};
    return schedule;
  }
  const auto period = static_cast<std::uint64_t>(sum / divisor);
  if (fresh && period == n && weights.front() == divisor && weights.back() == divisor &&
      std::all_of(weights.begin(), weights.end(), [&](std::int32_t weight) { return weight == divisor; })) {
    schedule.steps_.resize(n);
    std::iota(schedule.steps_.begin(), schedule.steps_.end(), 0u);
    return schedule;
  }
  if (period > cap) return std::nullopt;

  std::vector<std::int64_t> credit(n);
  std::copy(credits.begin(), credits.end(), credit.begin());
  // The state after a step equals the one a period before exactly when, in between, everybody was picked as often as
  // its weight says; `off` counts the members for which that is not so.
  std::vector<std::int64_t> due(n);
  std::size_t off = 0;
  for (std::size_t i = 0; i < n; ++i) {
    due[i] = weights[i] / divisor;
    off += due[i] != 0;
  }
  const auto picked = [&](std::uint32_t member, std::int64_t change) {
    off -= due[member] != 0;
    due[member] += change;
    off += due[member] != 0;
  };
  const std::size_t most_steps = (fresh ? 1 : 4) * cap;
  schedule.steps_.reserve(period);
  while (off != 0) {
    if (schedule.steps_.size() == most_steps) return std::nullopt;
    std::uint32_t best = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
      credit[i] += weights[i];
      if (credit[i] > credit[best]) best = i;
    }
    credit[best] -= sum;
    schedule.steps_.push_back(best);
    picked(best, -1);
    if (schedule.steps_.size() > period) picked(schedule.steps_[schedule.steps_.size() - period - 1], +1);
  }
  schedule.loop_ = schedule.steps_.size() - period;
  return schedule;
}

}  // namespace fairlead
