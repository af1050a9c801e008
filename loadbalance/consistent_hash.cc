#include "fairlead/loadbalance/consistent_hash.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/loadbalance/hash_ring.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

constexpr std::int32_t kDefaultNodes = 160;
// How many points of members that are down a pick steps over before it leaves the rest to the caller.
constexpr std::size_t kMostSteps = 256;

struct HashParameters {
  std::uint32_t nodes = 0;               // a multiple of 4, within the bounds
  std::uint32_t asked = 0;               // the same without them
  std::vector<std::uint32_t> arguments;  // those that can exist
};

absl::StatusOr<HashParameters> ReadParameters(const SelectorInput& input) {
  const Url& first = input.by_rank.front().provider->effective;
  FAIRLEAD_ASSIGN_OR_RETURN(const std::int32_t nodes,
                            MethodIntParam(first.parts(), input.method, names::kHashNodes, kDefaultNodes));
  if (nodes < kLeastHashNodes) {
    return absl::InvalidArgumentError(
        absl::StrCat(ToAbsl(names::kHashNodes), "=", nodes, " gives a ring without points: set 4 or more"));
  }
  HashParameters parameters;
  parameters.asked = static_cast<std::uint32_t>(nodes) / 4 * 4;
  parameters.nodes = std::min(parameters.asked, static_cast<std::uint32_t>(kMostHashNodes));
  const std::size_t members = input.by_rank.size();
  if (parameters.nodes > kMostRingPoints / members) {
    parameters.nodes = std::max(static_cast<std::uint32_t>(std::bit_floor(kMostRingPoints / members)),
                                static_cast<std::uint32_t>(kLeastHashNodes));
  }
  FAIRLEAD_ASSIGN_OR_RETURN(parameters.arguments,
                            ParseHashArguments(first.MethodParam(input.method, names::kHashArguments, "0")));
  return parameters;
}

std::uint32_t PositionOf(const Invocation& invocation, std::span<const std::uint32_t> indices) {
  if (invocation.hash_key) return *invocation.hash_key;
  // No allocation for as many parts as keys have in practice.
  std::array<std::string_view, 16> few;
  std::vector<std::string_view> many;
  std::size_t count = 0;
  if (indices.size() > few.size()) many.resize(indices.size());
  const std::span<std::string_view> key = many.empty() ? std::span<std::string_view>(few) : std::span(many);
  for (const std::uint32_t index : indices) {
    if (index >= invocation.arguments.size()) continue;
    const Argument& argument = invocation.arguments[index];
    if (argument.given) key[count++] = argument.null ? std::string_view("null") : argument.text;
  }
  return RingPosition(key.first(count));
}

class RingSelector final : public Selector {
 public:
  RingSelector(const SelectorInput& input, HashParameters parameters, const RingSelector* replaced)
      : parameters_(std::move(parameters)) {
    std::vector<std::string_view> addresses;
    addresses.reserve(input.by_rank.size());
    addresses_.reserve(input.by_rank.size());
    owners_.reserve(input.by_rank.size());
    slots_.reserve(input.by_rank.size());
    for (const Member& member : input.by_rank) {
      addresses.push_back(member.provider->address);
      owners_.push_back(member.state);
      slots_.push_back(member.slot);
      addresses_.push_back(member.provider->address);
    }
    if (replaced == nullptr || replaced->parameters_.nodes != parameters_.nodes) {
      ring_ = HashRing(addresses, parameters_.nodes);
      return;
    }
    // Most members are where they were.
    const std::vector<std::string>& there = replaced->addresses_;
    std::unordered_map<std::string_view, std::uint32_t> before;
    std::vector<std::uint32_t> known;
    known.reserve(addresses.size());
    for (std::uint32_t i = 0; i < addresses.size(); ++i) {
      if (i < there.size() && there[i] == addresses[i]) {
        known.push_back(i);
        continue;
      }
      if (before.empty()) {
        before.reserve(there.size());
        for (std::uint32_t j = 0; j < there.size(); ++j) before.emplace(there[j], j);
      }
      const auto found = before.find(addresses[i]);
      known.push_back(found == before.end() ? HashRing::kUnknown : found->second);
    }
    ring_ = HashRing(addresses, parameters_.nodes, &replaced->ring_, known);
  }

  Slot Select(const Invocation& invocation, PickContext&) const override {
    const std::uint32_t position = PositionOf(invocation, parameters_.arguments);
    const std::uint32_t up = ring_.Owner(position, kMostSteps, [this](std::uint32_t member) {
      const InvokerState* state = owners_[member];
      return state == nullptr || !state->down();
    });
    return slots_[up != HashRing::kUnknown ? up : ring_.Owner(position)];
  }
  DrawTable table() const override { return DrawTable::Ring(ring_, slots_); }

  std::string Describe() const override {
    return absl::StrCat("consistenthash, ", owners_.size(), " providers with ", parameters_.nodes, " points each",
                        parameters_.nodes == parameters_.asked ? "" : absl::StrCat(", not the ", parameters_.asked, " asked for"));
  }

 private:
  const HashParameters parameters_;
  std::vector<const InvokerState*> owners_;  // by member of the ring
  std::vector<Slot> slots_;
  std::vector<std::string> addresses_;  // of the owners; for a successor
  HashRing ring_;
};

class ConsistentHashLoadBalance final : public LoadBalance {
 public:
  std::string_view name() const override { return "consistenthash"; }
  bool reads_arguments() const override { return true; }

  absl::StatusOr<std::shared_ptr<const Selector>> Build(const SelectorInput& input,
                                                        const Selector* replaced) const override {
    FAIRLEAD_ASSIGN_OR_RETURN(HashParameters parameters, ReadParameters(input));
    return std::make_shared<RingSelector>(input, std::move(parameters), dynamic_cast<const RingSelector*>(replaced));
  }

  absl::StatusOr<Slot> SelectUnplanned(const SelectorInput& input, const Invocation& invocation,
                                       PickContext&) const override {
    FAIRLEAD_ASSIGN_OR_RETURN(const HashParameters parameters, ReadParameters(input));
    const std::uint32_t position = PositionOf(invocation, parameters.arguments);
    // The next point is the one with the least way to go; a later member takes over an equal one. The first choice
    // is among the members that are up.
    std::optional<std::uint32_t> shortest, shortest_up;
    Slot owner = kNoSlot, owner_up = kNoSlot;
    for (const Member& member : input.by_rank) {
      const bool up = member.state == nullptr || !member.state->down();
      for (std::uint32_t node = 0; node < parameters.nodes / 4; ++node) {
        for (const std::uint32_t value : RingPoints(member.provider->address, node)) {
          const std::uint32_t way = value - position;
          if (!shortest || way <= *shortest) {
            shortest = way;
            owner = member.slot;
          }
          if (up && (!shortest_up || way <= *shortest_up)) {
            shortest_up = way;
            owner_up = member.slot;
          }
        }
      }
    }
    return owner_up != kNoSlot ? owner_up : owner;
  }
};

}  // namespace

absl::StatusOr<std::vector<std::uint32_t>> ParseHashArguments(std::string_view value) {
  std::vector<std::uint32_t> indices;
  for (const std::string_view text : SplitCommaList(value)) {
    const std::optional<std::int32_t> index = ParseJavaInt(text);
    if (!index) {
      return absl::InvalidArgumentError(absl::StrCat(ToAbsl(names::kHashArguments), "=", Shortened(value), ": \"",
                                                     Shortened(text), "\" is no argument index: list decimal numbers"));
    }
    if (*index >= 0) indices.push_back(static_cast<std::uint32_t>(*index));
  }
  return indices;
}

std::shared_ptr<const LoadBalance> MakeConsistentHashLoadBalance() {
  return std::make_shared<ConsistentHashLoadBalance>();
}

}  // namespace fairlead
