#include "fairlead/loadbalance/round_robin.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/hash.h"
#include "fairlead/base/strings.h"
#include "fairlead/loadbalance/draw.h"
#include "fairlead/loadbalance/smooth_schedule.h"
#include "fairlead/loadbalance/spread_order.h"
#include "fairlead/loadbalance/weighted_draw.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead {
namespace {

constexpr std::string_view kScope = "roundrobin.scope";
constexpr std::string_view kCap = "roundrobin.cap";
constexpr std::int64_t kDefaultCap = 4096, kLargestCap = 65'536;
constexpr std::int64_t kKeepDepartedMs = 60'000;  // Dubbo's RECYCLE_PERIOD

struct Seat {
  std::uint64_t identity;  // of Dubbo's identity text: credentials, address, path
  Slot slot;
  std::int32_t weight;      // effective
  std::int32_t configured;  // without warm-up
  friend bool operator==(const Seat&, const Seat&) = default;
};

// What an identity has gained and not been picked for.
struct Credit {
  std::uint64_t identity;
  std::int32_t weight, configured;
  std::int64_t credit;
  std::int64_t left_ms;  // when it was first missing from the list; 0 = it is there
};

// The order of turns as a schedule of slots.
class ScheduleOrder {
 public:
  ScheduleOrder(const SmoothSchedule& schedule, std::span<const Slot> slots) {
    steps_.reserve(schedule.steps().size());
    for (const std::uint32_t member : schedule.steps()) steps_.push_back(slots[member]);
    turns_ = {steps_, schedule.loop()};
  }
  ScheduleOrder(ScheduleOrder&&) = default;
  std::uint64_t Next(std::uint64_t position) const { return turns_.Next(position); }
  Slot At(std::uint64_t position) const { return turns_.At(position); }
  std::uint64_t Nth(std::uint64_t n) const {
    return n < steps_.size() ? n : turns_.loop + (n - turns_.loop) % period();
  }
  std::uint64_t Anywhere(std::uint64_t bits) const { return turns_.loop + Spread(bits, period()).index; }
  std::string Describe() const { return absl::StrCat("a loop of ", period(), " turns"); }
  DrawTable Table(TurnCell* cells) const { return DrawTable::Turns(turns_, cells); }

 private:
  std::size_t period() const { return steps_.size() - turns_.loop; }

  std::vector<Slot> steps_;
  TurnLoop turns_;  // a view of steps_, whose elements stay where they are when this is moved
};

// The same as a low-discrepancy order.
class LongOrder {
 public:
  LongOrder(std::span<const Slot> slots, std::span<const std::int32_t> weights) : spread_(slots, weights) {}
  std::uint64_t Next(std::uint64_t position) const { return SpreadOrder::Next(position); }
  Slot At(std::uint64_t position) const { return spread_.At(position); }
  std::uint64_t Nth(std::uint64_t n) const { return SpreadOrder::Nth(0, n); }
  std::uint64_t Anywhere(std::uint64_t bits) const { return bits; }
  std::string Describe() const { return "a low-discrepancy order"; }
  DrawTable Table(TurnCell* cells) const { return DrawTable::Turns(spread_, cells); }

 private:
  SpreadOrder spread_;
};

// Where the threads stand in an order, whatever its kind.
struct Cursors {
  static void Copy(const TurnCell& from, TurnCell& to) {
    to.position.store(from.position.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

  TurnCells cells;
  std::atomic<std::int32_t> leader{-1};  // the cell of the thread that picked first, whose place a successor takes over
  TurnCell turns;                        // taken by all threads, for roundrobin.scope=global
};

// Everything but the order itself, so that a successor can take over from any kind.
class RoundRobinSelector : public Selector {
 public:
  RoundRobinSelector(std::vector<Seat> seats, std::vector<Credit> credits, bool global)
      : seats_(std::move(seats)), credits_(std::move(credits)), global_(global) {
    cursors_.turns.position.store(0, std::memory_order_relaxed);
  }

  // Goes on where `before` stands, thread by thread. What it does from now on is lost. Before the first pick.
  void CarryOn(const RoundRobinSelector& before) {
    for (std::size_t i = 0; i < kThreadCells; ++i) Cursors::Copy(before.cursors_.cells[i], cursors_.cells[i]);
    Cursors::Copy(before.cursors_.turns, cursors_.turns);
    TakeLead(before);
  }
  // The thread that led goes on from `position` of this order. Before the first pick.
  void Lead(const RoundRobinSelector& before, std::uint64_t position) {
    TakeLead(before);
    cursors_.turns.position.store(position, std::memory_order_relaxed);
    const std::int32_t leader = cursors_.leader.load(std::memory_order_relaxed);
    if (leader >= 0) {
      cursors_.cells[static_cast<std::size_t>(leader)].position.store(position, std::memory_order_relaxed);
    }
  }

  bool global() const { return global_; }
  const std::vector<Seat>& seats() const { return seats_; }
  const std::vector<Credit>& first_credits() const { return credits_; }
  virtual bool scheduled() const = 0;

  // Where everybody stands after the turns of the thread that leads (all threads' if global): empty when the order
  // is a long one, or without credits.
  std::vector<Credit> CreditsNow() const;
  // Differs from time to time.
  std::uint64_t Trace() const { return Mix64(LeadPosition() + 1); }

 protected:
  // The position that the next turn of the leading thread has, in steps where the order is a schedule.
  virtual std::uint64_t LeadPosition() const = 0;
  // Of the first `steps` of a schedule.
  virtual void CountTurns(std::uint64_t steps, std::unordered_map<Slot, std::int64_t>& turns) const = 0;
  std::string DescribeTurns(std::string_view order) const {
    return absl::StrCat("roundrobin, ", seats_.size(), " providers, ", ToAbsl(order), global_ ? ", one cursor" : "");
  }

  mutable Cursors cursors_;

 private:
  void TakeLead(const RoundRobinSelector& before) {
    cursors_.leader.store(before.cursors_.leader.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }

  const std::vector<Seat> seats_;
  const std::vector<Credit> credits_;  // at step 0; empty = none are kept
  const bool global_;
};

SmoothAutomaton MakeAutomaton(std::span<const Seat> seats, std::span<const Credit> credits) {
  std::unordered_map<std::uint64_t, std::uint32_t> account_of_identity;
  std::vector<SmoothAutomaton::Account> accounts;
  for (const Credit& credit : credits) {
    account_of_identity.emplace(credit.identity, static_cast<std::uint32_t>(accounts.size()));
    accounts.push_back({credit.weight, credit.credit});
  }
  std::vector<std::int32_t> weights;
  std::vector<std::uint32_t> account_of;
  for (const Seat& seat : seats) {
    weights.push_back(seat.weight);
    account_of.push_back(account_of_identity.at(seat.identity));
  }
  return SmoothAutomaton(std::move(weights), std::move(account_of), std::move(accounts));
}

std::vector<Credit> RoundRobinSelector::CreditsNow() const {
  if (credits_.empty() || !scheduled()) return {};
  const std::uint64_t position = LeadPosition();
  SmoothAutomaton automaton = MakeAutomaton(seats_, credits_);
  std::vector<Credit> now = credits_;
  if (position == 0) return now;
  if (automaton.SharesAccounts()) {
    for (std::uint64_t left = position; left > 0; --left) automaton.Step();
    for (std::size_t i = 0; i < now.size(); ++i) {
      now[i].weight = automaton.accounts()[i].weight;
      now[i].credit = automaton.accounts()[i].credit;
    }
    // The account has the weight of the last member that it met, so it is of that member's making.
    std::unordered_map<std::uint64_t, std::int32_t> configured;
    for (const Seat& seat : seats_) configured[seat.identity] = seat.configured;
    for (Credit& credit : now) {
      if (const auto last = configured.find(credit.identity); last != configured.end()) credit.configured = last->second;
    }
    return now;
  }
  // Everybody has gained its weight at each step, and paid the sum for each turn. Those in the list are the first
  // credits, in its order.
  std::unordered_map<Slot, std::int64_t> turns;
  CountTurns(position, turns);
  std::int64_t sum = 0;
  for (const Seat& seat : seats_) sum += seat.weight;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const auto taken = turns.find(seats_[i].slot);
    now[i].credit = automaton.CreditOf(i) + static_cast<std::int64_t>(position) * seats_[i].weight -
                    (taken == turns.end() ? 0 : taken->second * sum);
    now[i].weight = seats_[i].weight;
  }
  return now;
}

template <class Order>
class OrderSelector final : public RoundRobinSelector {
 public:
  OrderSelector(std::vector<Seat> seats, std::vector<Credit> credits, bool global, std::uint64_t seed, Order order)
      : RoundRobinSelector(std::move(seats), std::move(credits), global), order_(std::move(order)), seed_(seed) {}

  Slot Select(const Invocation&, PickContext& context) const override {
    if (global()) {
      std::atomic<std::uint64_t>& turns = cursors_.turns.position;
      return order_.At(order_.Nth(context.peek ? turns.load(std::memory_order_relaxed)
                                               : turns.fetch_add(1, std::memory_order_relaxed)));
    }
    const std::size_t cell = context.thread % kThreadCells;
    std::atomic<std::uint64_t>& cursor = cursors_.cells[cell].position;
    std::uint64_t position = cursor.load(std::memory_order_relaxed);
    if (position == TurnCell::kUnset) position = Start(static_cast<std::int32_t>(cell), context);
    if (!context.peek) cursor.store(order_.Next(position), std::memory_order_relaxed);
    return order_.At(position);
  }

  DrawTable table() const override { return global() ? DrawTable() : order_.Table(cursors_.cells.data()); }
  std::string Describe() const override { return DescribeTurns(order_.Describe()); }
  bool scheduled() const override { return std::is_same_v<Order, ScheduleOrder>; }
  std::uint64_t Anywhere(std::uint64_t bits) const { return order_.Anywhere(Mix64(bits ^ seed_)); }

 private:
  // A phase of its own for each thread keeps threads, and consumers that start together, from calling in step. It is
  // drawn anew for every table: a fixed one would show a slow thread the same stretch of every table.
  std::uint64_t Start(std::int32_t cell, PickContext& context) const {
    std::int32_t leader = cursors_.leader.load(std::memory_order_relaxed);
    if (leader < 0 && !context.peek) {
      cursors_.leader.compare_exchange_strong(leader, cell, std::memory_order_relaxed);
    }
    return order_.Anywhere(context.random.Next());
  }

  std::uint64_t LeadPosition() const override {
    if (global()) return order_.Nth(cursors_.turns.position.load(std::memory_order_relaxed));
    const std::int32_t leader = cursors_.leader.load(std::memory_order_relaxed);
    if (leader < 0) return 0;
    const std::uint64_t position =
        cursors_.cells[static_cast<std::size_t>(leader)].position.load(std::memory_order_relaxed);
    return position == TurnCell::kUnset ? 0 : position;
  }

  void CountTurns(std::uint64_t steps, std::unordered_map<Slot, std::int64_t>& turns) const override {
    for (std::uint64_t i = 0; i < steps; ++i) ++turns[order_.At(i)];
  }

  const Order order_;
  const std::uint64_t seed_;
};

std::vector<Seat> SeatsOf(const SelectorInput& input) {
  std::vector<Seat> seats;
  seats.reserve(input.by_rank.size());
  for (const Member& member : input.by_rank) {
    const Url& url = member.provider->effective;
    seats.push_back({HashBytes(url.ToIdentityString()), member.slot, member.weight,
                     static_cast<std::int32_t>(HashBytes(url.MethodParam(input.method, names::kWeight)))});
  }
  return seats;
}

// The credits at step 0 of a list: what `before` left, by Dubbo's rules. One entry an identity.
std::vector<Credit> Inherit(std::span<const Seat> seats, std::vector<Credit> before, const SelectorInput& input) {
  std::unordered_map<std::uint64_t, std::size_t> known;
  std::vector<Credit> credits;
  std::vector<bool> present(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) known.emplace(before[i].identity, i);
  std::unordered_set<std::uint64_t> done;
  for (const Seat& seat : seats) {
    if (!done.insert(seat.identity).second) continue;
    Credit credit{seat.identity, seat.weight, seat.configured, 0, 0};
    if (const auto found = known.find(seat.identity); found != known.end()) {
      present[found->second] = true;
      const Credit& old = before[found->second];
      const bool expired = old.left_ms != 0 && input.now_ms - old.left_ms > kKeepDepartedMs;
      if (!expired) credit = {seat.identity, old.weight, seat.configured, old.credit, 0};
      if (input.compat == Compat::kFixed && credit.weight != seat.weight) {
        // A step of the warm-up is no change of anybody's share of the past.
        const bool warming = old.configured == seat.configured && credit.weight > 0;
        credit.credit = warming ? credit.credit * seat.weight / credit.weight : 0;
        credit.weight = seat.weight;
      }
    }
    credits.push_back(credit);
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (present[i]) continue;
    Credit& gone = before[i];
    if (gone.left_ms == 0) gone.left_ms = std::max<std::int64_t>(input.now_ms, 1);
    if (input.now_ms - gone.left_ms <= kKeepDepartedMs) credits.push_back(gone);
  }
  return credits;
}

class RoundRobinLoadBalance final : public LoadBalance {
 public:
  std::string_view name() const override { return "roundrobin"; }
  bool per_method() const override { return true; }

  absl::StatusOr<std::shared_ptr<const Selector>> Build(const SelectorInput& input,
                                                        const Selector* replaced) const override {
    const auto* before = dynamic_cast<const RoundRobinSelector*>(replaced);
    const bool global = input.consumer.Param(kScope) == "global";
    const auto cap = static_cast<std::size_t>(
        std::clamp<std::int64_t>(input.consumer.IntParam(kCap, kDefaultCap), 1, kLargestCap));
    const std::uint64_t seed = HashBytes(input.method, input.seed);
    std::vector<Seat> seats = SeatsOf(input);
    const SlotList slots = SlotsOf(input);
    const std::vector<std::int32_t> weights = WeightsOf(input.by_rank);

    std::optional<SmoothSchedule> schedule;
    std::vector<Credit> credits;
    // The same members in the same order take turns as before: every thread keeps its place.
    const bool same = before != nullptr && before->global() == global && before->seats() == seats;
    // Beyond the cap there is no schedule with credits, so there is nothing to keep.
    if (seats.size() <= cap) {
      if (same && !before->first_credits().empty()) {
        credits = before->first_credits();
      } else {
        credits = Inherit(seats, before == nullptr ? std::vector<Credit>() : before->CreditsNow(), input);
      }
      schedule = SmoothSchedule::Make(MakeAutomaton(seats, credits), cap);
    }
    const bool exact = schedule.has_value();
    if (!exact) {
      credits.clear();
      schedule = SmoothSchedule::Make(SmoothAutomaton(weights), cap);
    }
    if (schedule) {
      return Finish(std::make_shared<OrderSelector<ScheduleOrder>>(std::move(seats), std::move(credits), global, seed,
                                                                   ScheduleOrder(*schedule, slots)),
                    before, same, exact);
    }
    return Finish(std::make_shared<OrderSelector<LongOrder>>(std::move(seats), std::move(credits), global, seed,
                                                             LongOrder(slots, weights)),
                  before, same, false);
  }

  // Without a table there is no position to go on from: a draw by weight is fair, if not in turn.
  absl::StatusOr<Slot> SelectUnplanned(const SelectorInput& input, const Invocation&,
                                       PickContext& context) const override {
    return DrawByWeight(input.by_rank, context.random).value_or(input.by_rank.front()).slot;
  }

 private:
  // `same`: the order is that of `before`; `exact`: it begins where that one ended.
  template <class Order>
  static std::shared_ptr<const Selector> Finish(std::shared_ptr<OrderSelector<Order>> made,
                                                const RoundRobinSelector* before, bool same, bool exact) {
    if (before == nullptr) return made;
    const bool both_long = !made->scheduled() && !before->scheduled();
    if (same || (both_long && before->global() == made->global())) {
      made->CarryOn(*before);
    } else if (exact) {
      made->Lead(*before, 0);
    } else {
      // Always beginning with the first would favour it when lists change often.
      made->Lead(*before, made->Anywhere(before->Trace()));
    }
    return made;
  }
};

}  // namespace

std::shared_ptr<const LoadBalance> MakeRoundRobinLoadBalance() { return std::make_shared<RoundRobinLoadBalance>(); }

}  // namespace fairlead
