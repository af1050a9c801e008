#include "fairlead/loadbalance/random.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/loadbalance/alias_table.h"
#include "fairlead/loadbalance/draw.h"
#include "fairlead/loadbalance/weighted_draw.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead {
namespace {

class UniformSelector final : public Selector {
 public:
  UniformSelector(SlotList slots, bool shortcut) : slots_(std::move(slots)), shortcut_(shortcut) {}
  Slot Select(const Invocation&, PickContext& context) const override {
    return slots_[Spread(context.random.Next(), slots_.size()).index];
  }
  DrawTable table() const override { return DrawTable::Uniform(slots_); }
  std::string Describe() const override {
    return absl::StrCat("random, ", slots_.size(), " providers alike",
                        shortcut_ ? " (strict: the first has neither weight nor timestamp, so no weight counts)" : "");
  }

 private:
  const SlotList slots_;
  const bool shortcut_;  // the weights differ and are not looked at
};

class WeightedSelector final : public Selector {
 public:
  WeightedSelector(std::span<const Slot> slots, std::span<const std::int32_t> weights, std::uint64_t total)
      : table_(slots, weights), total_(total) {}
  Slot Select(const Invocation&, PickContext& context) const override { return table_.Pick(context.random.Next()); }
  DrawTable table() const override { return DrawTable::Alias(table_); }
  std::string Describe() const override {
    return absl::StrCat("random, ", table_.columns().size(), " providers, total weight ", total_);
  }

 private:
  const AliasTable table_;
  const std::uint64_t total_;
};

// Java decides by the first member alone whether weights are looked at.
bool IgnoresWeights(const SelectorInput& input) {
  if (input.compat != Compat::kStrict) return false;
  const Url& first = input.by_rank.front().provider->effective;
  return first.MethodParam(input.method, names::kWeight).empty() && first.Param(names::kTimestamp).empty();
}

class RandomLoadBalance final : public LoadBalance {
 public:
  std::string_view name() const override { return "random"; }

  absl::StatusOr<std::shared_ptr<const Selector>> Build(const SelectorInput& input, const Selector*) const override {
    SlotList slots = SlotsOf(input);
    const std::vector<std::int32_t> weights = WeightsOf(input.by_rank);
    const std::uint64_t total = TotalWeight(input.by_rank);
    const bool alike = std::all_of(weights.begin(), weights.end(),
                                   [&](std::int32_t weight) { return weight == weights.front(); });
    if (alike || IgnoresWeights(input)) return std::make_shared<UniformSelector>(std::move(slots), !alike);
    return std::make_shared<WeightedSelector>(slots, weights, total);
  }

  absl::StatusOr<Slot> SelectUnplanned(const SelectorInput& input, const Invocation&,
                                       PickContext& context) const override {
    if (IgnoresWeights(input)) {
      return input.by_rank.InAnyOrder(context.random.Below(input.by_rank.size())).slot;
    }
    return DrawAny(input.by_rank, context.random).slot;
  }
};

}  // namespace

std::shared_ptr<const LoadBalance> MakeRandomLoadBalance() { return std::make_shared<RandomLoadBalance>(); }

}  // namespace fairlead
