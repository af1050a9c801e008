#include "fairlead/loadbalance/smooth_schedule.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

constexpr std::size_t kMostWork = std::size_t{1} << 22;

struct Sums {
  std::int64_t sum = 0, divisor = 0;
  std::uint64_t period() const { return sum == 0 ? 1 : static_cast<std::uint64_t>(sum / divisor); }
};
Sums SumsOf(std::span<const std::int32_t> weights) {
  Sums sums;
  for (const std::int32_t weight : weights) {
    sums.sum += weight;
    sums.divisor = std::gcd(sums.divisor, static_cast<std::int64_t>(weight));
  }
  return sums;
}

// Members of equal weight and credit are picked in turn: those picked once less than the others have the most credit
// among them, and of these the first by rank is next. So one number stands for the credit of all.
struct PeerClass {
  std::int64_t weight;
  std::int64_t credit;                 // of the members from `next` on
  std::vector<std::uint32_t> members;  // by rank
  std::size_t next = 0;
};

std::vector<PeerClass> ClassesOf(const SmoothAutomaton& automaton) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::uint32_t>> members;
  for (std::uint32_t i = 0; i < automaton.weights().size(); ++i) {
    members[{automaton.weights()[i], automaton.CreditOf(i)}].push_back(i);
  }
  std::vector<PeerClass> classes;
  for (auto& [key, of_class] : members) classes.push_back({key.first, key.second, std::move(of_class)});
  return classes;
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

std::int64_t SmoothAutomaton::CreditOf(std::size_t member) const {
  const Account& account = accounts_[account_of_[member]];
  return account.weight == weights_[member] ? account.credit : 0;
}

bool SmoothAutomaton::HasStaleWeights() const {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (accounts_[account_of_[i]].weight != weights_[i]) return true;
  }
  return false;
}

bool SmoothAutomaton::IsFresh() const {
  if (HasStaleWeights()) return false;
  for (const std::uint32_t account : account_of_) {
    if (accounts_[account].credit != 0) return false;
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
  if (automaton.SharesAccounts()) return Replay(std::move(automaton), cap);
  const std::span<const std::int32_t> weights = automaton.weights();
  const bool equal = std::all_of(weights.begin(), weights.end(),
                                 [&](std::int32_t weight) { return weight == weights.front() && weight != 0; });
  if (equal && automaton.IsFresh()) {
    SmoothSchedule schedule;
    schedule.steps_.resize(weights.size());
    std::iota(schedule.steps_.begin(), schedule.steps_.end(), 0u);
    return schedule;
  }
  return ByClasses(automaton, cap);
}

std::optional<SmoothSchedule> SmoothSchedule::ByClasses(const SmoothAutomaton& automaton, std::size_t cap) {
  const std::span<const std::int32_t> weights = automaton.weights();
  const Sums sums = SumsOf(weights);
  const std::uint64_t period = sums.period();
  if (period > cap) return std::nullopt;
  std::vector<PeerClass> classes = ClassesOf(automaton);
  cap = std::min(cap, kMostWork / classes.size());
  if (period > cap) return std::nullopt;

  // The state after a step is the one a period before exactly when, in between, everybody was picked as often as its
  // weight says; `off` counts the members for which that is not so.
  std::vector<std::int64_t> due(weights.size());
  std::size_t off = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    due[i] = weights[i] / std::max<std::int64_t>(sums.divisor, 1);
    off += due[i] != 0;
  }
  const auto count = [&](std::uint32_t member, std::int64_t change) {
    off -= due[member] != 0;
    due[member] += change;
    off += due[member] != 0;
  };

  SmoothSchedule schedule;
  std::vector<std::uint32_t>& steps = schedule.steps_;
  do {
    if (steps.size() >= 3 * cap) return std::nullopt;
    PeerClass* best = nullptr;
    for (PeerClass& at : classes) {
      at.credit += at.weight;
      if (best == nullptr || at.credit > best->credit ||
          (at.credit == best->credit && at.members[at.next] < best->members[best->next])) {
        best = &at;
      }
    }
    const std::uint32_t member = best->members[best->next];
    steps.push_back(member);
    if (sums.sum == 0) break;  // nobody gains or pays: every step is this one
    if (++best->next == best->members.size()) {
      best->next = 0;
      best->credit -= sums.sum;
    }
    count(member, -1);
    if (steps.size() > period) count(steps[steps.size() - period - 1], +1);
  } while (off != 0);
  schedule.loop_ = steps.size() - period;
  if (schedule.loop_ == 0 && automaton.HasStaleWeights()) {
    // The first step changes accounts, so nothing may lead back to before it.
    steps.push_back(steps.front());
    schedule.loop_ = 1;
  }
  return schedule;
}

std::optional<SmoothSchedule> SmoothSchedule::Replay(SmoothAutomaton automaton, std::size_t cap) {
  cap = std::min(cap, kMostWork / automaton.weights().size());
  SmoothSchedule schedule;
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
