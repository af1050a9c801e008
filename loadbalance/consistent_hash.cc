#include "fairlead/loadbalance/consistent_hash.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/loadbalance/hash_ring.h"
#include "fairlead/loadbalance/weighted_draw.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

constexpr std::int32_t kDefaultNodes = 160;
// How many points of members that are down a pick steps over before it leaves the rest to the caller.
constexpr std::size_t kMostSteps = 256;

// What looking at one more point of a ring costs, against the MD5 sum that makes four of them.
constexpr std::size_t kPointsPerSum = 32;
// A list that is this much smaller than another makes its own points sooner than it finds them among the other's.
constexpr std::size_t kMuchSmaller = 16;

struct HashParameters {
  std::uint32_t nodes = 0;     // a multiple of 4, within the bounds
  std::uint32_t asked = 0;     // the same without them
  std::string_view arguments;  // a comma list of numbers
};

absl::StatusOr<HashParameters> ReadParameters(const SelectorInput& input) {
  const Url& first = input.by_rank.front().provider->effective;
  FAIRLEAD_ASSIGN_OR_RETURN(const std::int32_t nodes,
                            MethodIntParam(first.common(), input.method, names::kHashNodes, kDefaultNodes));
  if (nodes < 4) {
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
  parameters.arguments = first.MethodParam(input.method, names::kHashArguments, "0");
  FAIRLEAD_RETURN_IF_ERROR(CheckHashArguments(parameters.arguments));
  return parameters;
}

// REQUIRES: checked by ReadParameters
template <class Visit>
void ForEachIndex(std::string_view arguments, Visit&& visit) {
  CommaList list(arguments);
  while (const auto text = list.Next()) visit(*ParseJavaInt(*text));
}

std::vector<std::int32_t> IndicesIn(std::string_view arguments) {
  std::vector<std::int32_t> indices;
  ForEachIndex(arguments, [&](std::int32_t index) { indices.push_back(index); });
  return indices;
}

// What an argument adds to the key; nullopt when it adds nothing.
std::optional<std::string_view> TextOf(const Invocation& invocation, std::int32_t index) {
  if (index < 0 || static_cast<std::size_t>(index) >= invocation.arguments.size()) return std::nullopt;
  const Argument& argument = invocation.arguments[static_cast<std::size_t>(index)];
  if (!argument.given) return std::nullopt;
  return argument.null ? std::string_view("null") : argument.text;
}

// `for_each` calls what it is given with the index of each argument that makes the key.
template <class ForEach>
std::uint32_t PositionOf(const Invocation& invocation, ForEach&& for_each) {
  if (invocation.hash_key) return *invocation.hash_key;
  RingKey key;
  for_each([&](std::int32_t index) {
    if (const auto text = TextOf(invocation, index)) key.Add(*text);
  });
  return key.Position();
}

bool IsUp(const InvokerState* state) { return state == nullptr || !state->down(); }

class RingSelector final : public Selector {
 public:
  RingSelector(const SelectorInput& input, const HashParameters& parameters, const RingSelector* replaced,
               PointsOf points_of)
      : nodes_(parameters.nodes), asked_(parameters.asked), arguments_(IndicesIn(parameters.arguments)), slots_(SlotsOf(input)) {
    addresses_.reserve(input.by_rank.size());
    owners_.reserve(input.by_rank.size());
    for (const Member& member : input.by_rank) {
      owners_.push_back(member.state);
      addresses_.push_back(member.provider->address());
    }
    const std::vector<std::string_view> addresses(addresses_.begin(), addresses_.end());
    const auto* whole = dynamic_cast<const RingSelector*>(input.whole);
    if (whole != nullptr && whole->nodes_ == nodes_ && whole->slots_.size() / kMuchSmaller <= slots_.size()) {
      ring_ = HashRing(addresses, nodes_, &whole->ring_, PlacesIn(*whole), points_of);
    } else if (replaced != nullptr && replaced->nodes_ == nodes_) {
      ring_ = HashRing(addresses, nodes_, &replaced->ring_, PlacesIn(replaced->addresses_), points_of);
    } else {
      ring_ = HashRing(addresses, nodes_, nullptr, {}, points_of);
    }
  }

  Slot Select(const Invocation& invocation, PickContext&) const override {
    const std::uint32_t position = PositionOf(invocation, [this](auto&& add) {
      for (const std::int32_t index : arguments_) add(index);
    });
    const std::uint32_t up =
        ring_.Owner(position, kMostSteps, [this](std::uint32_t member) { return IsUp(owners_[member]); });
    return slots_[up != HashRing::kUnknown ? up : ring_.Owner(position)];
  }

  std::uint32_t nodes() const { return nodes_; }
  // The owner on the ring of `some` alone, of those that are up; kNoSlot when `look_at_most` points show none.
  // REQUIRES: `some` are among those that this was made of, in the same order.
  Slot OwnerAmong(const Members& some, std::uint32_t position, std::size_t look_at_most) const {
    const std::uint32_t owner = ring_.Owner(position, look_at_most, [&](std::uint32_t member) {
      return some.Contains(slots_[member]) && IsUp(owners_[member]);
    });
    return owner == HashRing::kUnknown ? kNoSlot : slots_[owner];
  }

  DrawTable table() const override { return DrawTable::Ring(ring_, slots_); }

  std::string Describe() const override {
    return absl::StrCat("consistenthash, ", owners_.size(), " providers with ", nodes_, " points each",
                        nodes_ == asked_ ? "" : absl::StrCat(", not the ", asked_, " asked for"));
  }

 private:
  // By member of this: which member of `whole`, that has them all in the same order, it is.
  std::vector<std::uint32_t> PlacesIn(const RingSelector& whole) const {
    std::vector<std::uint32_t> places;
    places.reserve(slots_.size());
    std::uint32_t at = 0;
    for (const Slot slot : slots_) {
      while (at < whole.slots_.size() && whole.slots_[at] != slot) ++at;
      places.push_back(at < whole.slots_.size() ? at : HashRing::kUnknown);
    }
    return places;
  }
  // The same for the members of an earlier list, most of whom are where they were.
  std::vector<std::uint32_t> PlacesIn(const std::vector<std::string>& there) const {
    std::unordered_map<std::string_view, std::uint32_t> before;
    std::vector<std::uint32_t> places;
    places.reserve(addresses_.size());
    for (std::uint32_t i = 0; i < addresses_.size(); ++i) {
      if (i < there.size() && there[i] == addresses_[i]) {
        places.push_back(i);
        continue;
      }
      if (before.empty()) {
        before.reserve(there.size());
        for (std::uint32_t j = 0; j < there.size(); ++j) before.emplace(there[j], j);
      }
      const auto found = before.find(addresses_[i]);
      places.push_back(found == before.end() ? HashRing::kUnknown : found->second);
    }
    return places;
  }

  const std::uint32_t nodes_, asked_;
  const std::vector<std::int32_t> arguments_;
  std::vector<const InvokerState*> owners_;  // by member of the ring
  const SlotList slots_;
  std::vector<std::string> addresses_;  // of the owners; for a successor
  HashRing ring_;
};

// The owner without a ring: the next point is the one with the least way to go; a later member takes over an equal
// one. The first choice is among the members that are up.
Slot OwnerByAllPoints(const Members& members, std::uint32_t nodes, std::uint32_t position, PointsOf points_of) {
  std::optional<std::uint32_t> shortest, shortest_up;
  Slot owner = kNoSlot, owner_up = kNoSlot;
  for (const Member& member : members) {
    const bool up = IsUp(member.state);
    const AddressText address(member.provider->effective);
    for (std::uint32_t node = 0; node < nodes / 4; ++node) {
      for (const std::uint32_t value : points_of(address.text(), node)) {
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

class ConsistentHashLoadBalance final : public LoadBalance {
 public:
  explicit ConsistentHashLoadBalance(PointsOf points_of) : points_of_(points_of) {}

  std::string_view name() const override { return "consistenthash"; }
  bool reads_arguments() const override { return true; }
  bool wants_whole() const override { return true; }

  absl::StatusOr<std::shared_ptr<const Selector>> Build(const SelectorInput& input,
                                                        const Selector* replaced) const override {
    FAIRLEAD_ASSIGN_OR_RETURN(const HashParameters parameters, ReadParameters(input));
    return std::make_shared<RingSelector>(input, parameters, dynamic_cast<const RingSelector*>(replaced), points_of_);
  }

  absl::StatusOr<Slot> SelectUnplanned(const SelectorInput& input, const Invocation& invocation,
                                       PickContext&) const override {
    FAIRLEAD_ASSIGN_OR_RETURN(const HashParameters parameters, ReadParameters(input));
    const std::uint32_t position = PositionOf(invocation, [&](auto&& add) { ForEachIndex(parameters.arguments, add); });
    const auto* whole = dynamic_cast<const RingSelector*>(input.whole);
    if (whole != nullptr && whole->nodes() == parameters.nodes) {
      const std::size_t sums = input.by_rank.size() * (parameters.nodes / 4);
      const Slot owner = whole->OwnerAmong(input.by_rank, position, sums * kPointsPerSum);
      if (owner != kNoSlot) return owner;
    }
    return OwnerByAllPoints(input.by_rank, parameters.nodes, position, points_of_);
  }

 private:
  const PointsOf points_of_;
};

}  // namespace

absl::Status CheckHashArguments(std::string_view value) {
  CommaList list(value);
  while (const auto text = list.Next()) {
    if (ParseJavaInt(*text)) continue;
    return absl::InvalidArgumentError(absl::StrCat(ToAbsl(names::kHashArguments), "=", Shortened(value), ": \"",
                                                   Shortened(*text), "\" is no argument index: list decimal numbers"));
  }
  return absl::OkStatus();
}

std::shared_ptr<const LoadBalance> MakeConsistentHashLoadBalance(PointsOf points_of) {
  return std::make_shared<ConsistentHashLoadBalance>(points_of);
}

}  // namespace fairlead
