#ifndef FAIRLEAD_LOADBALANCE_SMOOTH_SCHEDULE_H_
#define FAIRLEAD_LOADBALANCE_SMOOTH_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fairlead {

// Dubbo's smooth weighted round robin, step by step. Every member has an account; at each step each member's account
// gains its weight in credit, the first member that sees the most credit is picked, and its account pays the sum of
// all weights. An account that meets a member of another weight than its own takes that weight and starts from 0.
// Members usually have an account each; Dubbo lets members of one identity share it.
//
// Linear in members a step. Not thread-safe.
class SmoothAutomaton {
 public:
  struct Account {
    std::int32_t weight;
    std::int64_t credit;
  };
  // weights[i] and account_of[i] describe member i; at least one member, no weight is negative. Accounts that no
  // member has are left alone.
  SmoothAutomaton(std::vector<std::int32_t> weights, std::vector<std::uint32_t> account_of,
                  std::vector<Account> accounts)
      : weights_(std::move(weights)), account_of_(std::move(account_of)), accounts_(std::move(accounts)) {}
  // An account each, all credits 0.
  explicit SmoothAutomaton(std::span<const std::int32_t> weights);

  std::uint32_t Step();  // the member picked

  std::span<const std::int32_t> weights() const { return weights_; }
  std::span<const Account> accounts() const { return accounts_; }
  bool IsFresh() const;         // no account that a member has holds a credit or another weight than that member's
  bool SharesAccounts() const;
  std::uint64_t StateHash() const;

 private:
  std::vector<std::int32_t> weights_;
  std::vector<std::uint32_t> account_of_;
  std::vector<Account> accounts_;
};

// The picks of a SmoothAutomaton, worked out ahead. They become periodic: a few steps first (none when it is fresh),
// then a loop, of sum(weights) / common divisor steps when members share no account.
//
// Building: members x steps. Reading: constant. Immutable; thread-safe.
class SmoothSchedule {
 public:
  // Absent when the loop would have more than `cap` steps, is not reached within 3 x cap of them, or building
  // would take more than 2^22 x 3 member visits. A fresh automaton of equal weights is a loop of any length.
  static std::optional<SmoothSchedule> Make(SmoothAutomaton automaton, std::size_t cap);

  std::span<const std::uint32_t> steps() const { return steps_; }
  std::size_t loop() const { return loop_; }  // where the last step leads back to
  std::size_t period() const { return steps_.size() - loop_; }

 private:
  std::vector<std::uint32_t> steps_;
  std::size_t loop_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_LOADBALANCE_SMOOTH_SCHEDULE_H_
