#include "fairlead/loadbalance/least_active.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/loadbalance/alias_table.h"
#include "fairlead/loadbalance/weighted_draw.h"

namespace fairlead {
namespace {

constexpr std::int64_t kDefaultExact = 16;
constexpr std::string_view kExact = "leastactive.exact";

struct Candidate {
  const InvokerState* state;
  Slot slot;
  std::int32_t weight;
};

// The least active of the candidates, equals by weight. One pass, so that counts which move meanwhile cannot leave it
// without an answer: each equal replaces the one held with probability weight / (weights so far).
template <class Candidates, class ToCandidate>
Slot LeastOf(const Candidates& candidates, ToCandidate to_candidate, Random& random) {
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t total = 0, equals = 0;
  Slot held = kNoSlot;
  for (const auto& element : candidates) {
    const Candidate candidate = to_candidate(element);
    const std::uint32_t active = candidate.state->active();
    if (active > least) continue;
    const auto weight = static_cast<std::uint64_t>(candidate.weight);
    if (active < least || held == kNoSlot) {
      least = active;
      total = weight;
      equals = 1;
      held = candidate.slot;
      continue;
    }
    total += weight;
    ++equals;
    const bool replaces = total == 0 ? random.Below(equals) == 0 : weight != 0 && random.Below(total) < weight;
    if (replaces) held = candidate.slot;
  }
  return held;
}

class ExactSelector final : public Selector {
 public:
  explicit ExactSelector(std::vector<Candidate> candidates) : candidates_(std::move(candidates)) {}
  Slot Select(const Invocation&, PickContext& context) const override {
    return LeastOf(candidates_, [](const Candidate& candidate) { return candidate; }, context.random);
  }
  std::string Describe() const override {
    return absl::StrCat("leastactive, least of all ", candidates_.size(), " providers");
  }

 private:
  const std::vector<Candidate> candidates_;
};

class SampledSelector final : public Selector {
 public:
  SampledSelector(std::vector<Candidate> candidates, AliasTable table)
      : candidates_(std::move(candidates)), table_(std::move(table)) {}
  Slot Select(const Invocation&, PickContext& context) const override {
    const Candidate& a = candidates_[table_.Pick(context.random.Next())];
    const Candidate& b = candidates_[table_.Pick(context.random.Next())];
    return b.state->active() < a.state->active() ? b.slot : a.slot;
  }
  std::string Describe() const override {
    return absl::StrCat("leastactive, less of two drawn from ", candidates_.size(), " providers");
  }

 private:
  const std::vector<Candidate> candidates_;
  const AliasTable table_;  // of indices into candidates_
};

Candidate ToCandidate(const Member& member) { return {member.state, member.slot, member.weight}; }

std::int64_t ExactUpTo(const SelectorInput& input) { return input.consumer.IntParam(kExact, kDefaultExact); }

class LeastActiveLoadBalance final : public LoadBalance {
 public:
  std::string_view name() const override { return "leastactive"; }

  absl::StatusOr<std::shared_ptr<const Selector>> Build(const SelectorInput& input, const Selector*) const override {
    std::vector<Candidate> candidates;
    candidates.reserve(input.by_rank.size());
    for (const Member& member : input.by_rank) candidates.push_back(ToCandidate(member));
    if (static_cast<std::int64_t>(candidates.size()) <= ExactUpTo(input)) {
      return std::make_shared<ExactSelector>(std::move(candidates));
    }
    std::vector<std::uint32_t> indices(candidates.size());
    std::iota(indices.begin(), indices.end(), 0u);
    std::vector<std::int32_t> weights;
    weights.reserve(candidates.size());
    for (const Candidate& candidate : candidates) weights.push_back(candidate.weight);
    AliasTable table(indices, weights);
    return std::make_shared<SampledSelector>(std::move(candidates), std::move(table));
  }

  absl::StatusOr<Slot> SelectUnplanned(const SelectorInput& input, const Invocation&,
                                       PickContext& context) const override {
    if (static_cast<std::int64_t>(input.by_rank.size()) <= ExactUpTo(input)) {
      return LeastOf(input.by_rank, ToCandidate, context.random);
    }
    const Member a = DrawAny(input.by_rank, context.random);
    const Member b = DrawAny(input.by_rank, context.random);
    return (b.state->active() < a.state->active() ? b : a).slot;
  }
};

}  // namespace

std::shared_ptr<const LoadBalance> MakeLeastActiveLoadBalance() {
  return std::make_shared<LeastActiveLoadBalance>();
}

}  // namespace fairlead
