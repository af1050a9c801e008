#include "fairlead/loadbalance/smooth_schedule.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

constexpr std::size_t kMostWork = std::size_t{1} << 22;

std::uint64_t PeriodOf(std::span<const std::int32_t> weights) {
  std::int64_t sum = 0, divisor = 0;
  for (const std::int32_t weight : weights) {
    sum += weight;
    divisor = std::gcd(divisor, static_cast<std::int64_t>(weight));
  }
  return sum == 0 ? 1 : static_cast<std::uint64_t>(sum / divisor);
}

}  // namespace

SmoothAutomaton::SmoothAutomaton(std::span<const std::int32_t> weights)
    : weights_(weights.begin(), weights.end()), account_of_(weights.size()) {
  std::iota(account_of_.begin(), account_of_.end(), 0u);
  accounts_.reserve(weights.size());
  for (const std::int32_t weight : weights) accounts_.push_back({weight, 0});
}

std::uint32_t SmoothAutomaton::Step() {
  std::int64_t most = std::numeric_limits<std::int64_t>::min(), sum = 0;
  std::uint32_t picked = 0;
  for (std::uint32_t i = 0; i < weights_.size(); ++i) {
    Account& account = accounts_[account_of_[i]];
    if (account.weight != weights_[i]) account = {weights_[i], 0};
    account.credit += weights_[i];
    sum += weights_[i];
    if (account.credit > most) {
      most = account.credit;
      picked = i;
    }
  }
  accounts_[account_of_[picked]].credit -= sum;
  return picked;
}

bool SmoothAutomaton::IsFresh() const {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const Account& account = accounts_[account_of_[i]];
    if (account.credit != 0 || account.weight != weights_[i]) return false;
  }
  return true;
}

bool SmoothAutomaton::SharesAccounts() const {
  std::vector<bool> taken(accounts_.size());
  for (const std::uint32_t account : account_of_) {
    if (taken[account]) return true;
    taken[account] = true;
  }
  return false;
}

std::uint64_t SmoothAutomaton::StateHash() const {
  std::uint64_t hash = 0;
  for (const Account& account : accounts_) {
    hash = (hash ^ static_cast<std::uint64_t>(account.credit)) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 29)) + static_cast<std::uint32_t>(account.weight);
  }
  return Mix64(hash);
}

std::optional<SmoothSchedule> SmoothSchedule::Make(SmoothAutomaton automaton, std::size_t cap) {
  const std::span<const std::int32_t> weights = automaton.weights();
  SmoothSchedule schedule;
  const bool shares = automaton.SharesAccounts();
  if (!shares) {
    const bool equal = std::all_of(weights.begin(), weights.end(),
                                   [&](std::int32_t weight) { return weight == weights.front() && weight != 0; });
    if (equal && automaton.IsFresh()) {
      schedule.steps_.resize(weights.size());
      std::iota(schedule.steps_.begin(), schedule.steps_.end(), 0u);
      return schedule;
    }
  }
  cap = std::min(cap, kMostWork / weights.size());
  if (!shares && PeriodOf(weights) > cap) return std::nullopt;

  std::unordered_map<std::uint64_t, std::size_t> step_of_state;
  while (schedule.steps_.size() <= 3 * cap) {
    const auto [known, fresh] = step_of_state.emplace(automaton.StateHash(), schedule.steps_.size());
    if (!fresh) {
      schedule.loop_ = known->second;
      if (schedule.period() > cap) return std::nullopt;
      return schedule;
    }
    schedule.steps_.push_back(automaton.Step());
  }
  return std::nullopt;
}

}  // namespace fairlead
