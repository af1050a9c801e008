#include "fairlead/directory/registry_choice.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/read_domain.h"
#include "fairlead/base/strings.h"
#include "fairlead/base/thread_slot.h"
#include "fairlead/directory/inspection.h"
#include "fairlead/directory/pick.h"

namespace fairlead::internal {
namespace {

// As Dubbo names them, in attachments and in the consumer's url.
constexpr std::string_view kZone = "registry_zone", kForce = "registry_zone_force";

constexpr std::uint64_t Bit(std::size_t place) { return std::uint64_t{1} << place; }

bool Tried(std::span<const ProviderId> tried, const InvokerState& state) {
  return std::find(tried.begin(), tried.end(), state.id()) != tried.end();
}

// What Picker makes of a provider that it found, for both kinds of picks.
bool Take(Leasing, InvokerState* state) { return state->TryAcquire(); }
bool Take(Looking, InvokerState* state) { return !state->draining(); }
InvokerState* Result(Leasing, InvokerState* state) { return state; }
Invoker* Result(Looking, InvokerState* state) { return &state->invoker(); }
void GiveBack(Leasing, InvokerState* state) { state->Release(); }
void GiveBack(Looking, InvokerState*) {}

}  // namespace

RegistryChoice::RegistryChoice(RegistryMode mode, std::vector<RegistryPlace> places, std::string zone, bool force,
                               std::shared_ptr<DirectoryCore> front)
    : mode_(mode), places_(std::move(places)), zone_(std::move(zone)), force_(force), front_(std::move(front)) {
  for (const RegistryPlace& place : places_) by_zone_ |= !place.zone.empty();
}

RegistryChoice::Wish RegistryChoice::WishOf(const Invocation& invocation) const {
  if (mode_ != RegistryMode::kZoneAware) return {};
  const std::string_view* const zone = invocation.FindAttachment(kZone);
  if (zone == nullptr || zone->empty()) return {zone_, force_};
  const std::string_view* const force = invocation.FindAttachment(kForce);
  return {*zone, force != nullptr && absl::EqualsIgnoreCase(ToAbsl(*force), "true")};
}

std::uint64_t RegistryChoice::Live() const {
  std::uint64_t live = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].core->Current().status.ok()) live |= Bit(i);
  }
  return live;
}

// Those of `among` that a call may go to; where several may, they are drawn by weight.
std::uint64_t RegistryChoice::Possible(std::uint64_t among, const Wish& wish) const {
  if (among == 0 || mode_ != RegistryMode::kZoneAware) return among & (~among + 1);
  std::uint64_t weighty = 0;
  for (std::uint64_t rest = among; rest != 0; rest &= rest - 1) {
    const std::uint64_t one = rest & (~rest + 1);
    const RegistryPlace& place = places_[static_cast<std::size_t>(std::countr_zero(one))];
    if (place.preferred) return one;
    if (place.weight > 0) weighty |= one;
  }
  if (!wish.zone.empty()) {
    for (std::uint64_t rest = among; rest != 0; rest &= rest - 1) {
      const auto at = static_cast<std::size_t>(std::countr_zero(rest));
      if (places_[at].zone == wish.zone) return Bit(at);
    }
    if (wish.force) return 0;
  }
  return weighty != 0 ? weighty : among & (~among + 1);
}

RegistryChoice::Choice RegistryChoice::Choose(std::uint64_t among, const Wish& wish, Random& random) const {
  if (among == 0) return {Why::kNobody};
  const std::uint64_t possible = Possible(among, wish);
  if (possible == 0) return {Why::kNobodyInZone};
  const auto first = static_cast<std::size_t>(std::countr_zero(possible));
  if (mode_ != RegistryMode::kZoneAware) return {Why::kOrder, first};
  if (places_[first].preferred) return {Why::kPreferred, first};
  if (!wish.zone.empty() && std::popcount(possible) == 1 && places_[first].zone == wish.zone) return {Why::kZone, first};
  std::uint64_t total = 0;
  for (std::uint64_t rest = possible; rest != 0; rest &= rest - 1) {
    total += static_cast<std::uint64_t>(places_[static_cast<std::size_t>(std::countr_zero(rest))].weight);
  }
  if (total == 0) return {Why::kFirst, first};
  std::uint64_t draw = random.Below(total);
  for (std::uint64_t rest = possible;; rest &= rest - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(rest));
    const auto weight = static_cast<std::uint64_t>(places_[at].weight);
    if (draw < weight) return {Why::kWeight, at};
    draw -= weight;
  }
}

// A registry whose pick finds nobody that is up and untried gives way to the next; the first such find is kept in case
// that there is no better one. What rules leave nobody for stays so: they were meant.
template <class For>
absl::StatusOr<typename For::Result*> RegistryChoice::Pick(const Invocation& invocation,
                                                           std::span<const ProviderId> tried) const {
  const ThreadCell cell(ThreadSlotInSection());
  Random random(front_->LoadRandom(cell));
  const Wish wish = WishOf(invocation);
  std::uint64_t among = Live();
  InvokerState* makeshift = nullptr;
  while (true) {
    const Choice choice = Choose(among, wish, random);
    front_->StoreRandom(cell, random.state());
    if (choice.why == Why::kNobody || choice.why == Why::kNobodyInZone) {
      if (makeshift != nullptr) return Result(For{}, makeshift);
      return Nobody(choice.why, wish);
    }
    among &= ~Bit(choice.place);
    const DirectoryCore& core = *places_[choice.place].core;
    if (tried.empty()) {
      if (typename For::Result* usual = PickDirectly<For>(core, invocation)) {
        if (makeshift != nullptr) GiveBack(For{}, makeshift);
        return usual;
      }
    }
    absl::StatusOr<InvokerState*> state =
        PickFromCurrent(core, invocation, tried, [](InvokerState* one) { return Take(For{}, one); });
    if (!state.ok()) {
      if (!core.Current().status.ok()) continue;
      if (makeshift != nullptr) return Result(For{}, makeshift);
      return std::move(state).status();
    }
    if (!(*state)->down() && !Tried(tried, **state)) {
      if (makeshift != nullptr) GiveBack(For{}, makeshift);
      return Result(For{}, *state);
    }
    if (makeshift == nullptr) {
      makeshift = *state;
    } else {
      GiveBack(For{}, *state);
    }
  }
}

absl::StatusOr<InvokerState*> RegistryChoice::Lease(const Invocation& invocation, std::span<const ProviderId> tried) const {
  return Pick<Leasing>(invocation, tried);
}

absl::StatusOr<const Invoker*> RegistryChoice::Look(const Invocation& invocation) const {
  absl::StatusOr<Invoker*> picked = Pick<Looking>(invocation, {});
  if (!picked.ok()) return std::move(picked).status();
  return *picked;
}

absl::Status RegistryChoice::Nobody(Why why, const Wish& wish) const {
  const DirectorySnapshot& front = front_->Current();
  if (absl::IsCancelled(front.status)) return front.status;
  std::string all;
  bool none_has_answered = true;
  for (const RegistryPlace& place : places_) {
    const absl::Status& status = place.core->Current().status;
    none_has_answered &= absl::IsFailedPrecondition(status);
    absl::StrAppend(&all, all.empty() ? "" : "; ", place.name, place.zone.empty() ? "" : " (zone ", place.zone,
                    place.zone.empty() ? "" : ")", ": ", status.ok() ? "has providers" : status.message());
  }
  if (why == Why::kNobodyInZone) {
    return absl::UnavailableError(absl::StrCat("no registry of zone '", Shortened(wish.zone, 100),
                                               "' has a live provider of ", front.service, ", and ", ToAbsl(kForce),
                                               "=true: ", all));
  }
  if (none_has_answered) {
    return absl::FailedPreconditionError(absl::StrCat("no list of ", front.service, " has arrived from any registry yet: ", all));
  }
  return absl::UnavailableError(absl::StrCat("no registry has a live provider of ", front.service, ": ", all));
}

std::vector<Url> RegistryChoice::List(const Invocation& invocation) const {
  const ReadSection section;
  std::vector<Url> urls;
  for (std::uint64_t rest = Possible(Live(), WishOf(invocation)); rest != 0; rest &= rest - 1) {
    const std::vector<Url> list = ListOf(*places_[static_cast<std::size_t>(std::countr_zero(rest))].core, invocation);
    urls.insert(urls.end(), list.begin(), list.end());
  }
  return urls;
}

DirectoryListing RegistryChoice::Listing() const {
  DirectoryListing all = ListingOf(*places_.front().core);
  for (std::size_t i = 1; i < places_.size(); ++i) {
    const DirectoryListing one = ListingOf(*places_[i].core);
    all.providers.insert(all.providers.end(), one.providers.begin(), one.providers.end());
  }
  return all;
}

std::string RegistryChoice::Describe(const Choice& choice, const Wish& wish) const {
  const std::string& name = places_[choice.place].name;
  switch (choice.why) {
    case Why::kPreferred: return absl::StrCat(name, ": the first live one that is preferred");
    case Why::kZone: return absl::StrCat(name, ": the first live one of zone ", Shortened(wish.zone, 100));
    case Why::kWeight: return absl::StrCat(name, ": drawn by weight");
    case Why::kFirst: return absl::StrCat(name, ": the first live one, as none has a weight");
    case Why::kOrder: return absl::StrCat(name, ": the first live one in the order of the list");
    case Why::kNobody: return "none: no registry has a live provider";
    case Why::kNobodyInZone: return absl::StrCat("none: no live one of zone ", Shortened(wish.zone, 100), ", which is forced");
  }
  return {};
}

PickTrace RegistryChoice::Explain(const Invocation& invocation, PickTrace::Detail detail) const {
  const ReadSection section;
  Random random(front_->LoadRandom(ThreadCell(ThreadSlotInSection())));
  const Wish wish = WishOf(invocation);
  const Choice choice = Choose(Live(), wish, random);
  const bool nobody = choice.why == Why::kNobody || choice.why == Why::kNobodyInZone;
  // Of none the first is shown, without anybody chosen.
  PickTrace trace = ExplainOf(*places_[choice.place].core, invocation, detail);
  if (nobody) {
    trace.status = Nobody(choice.why, wish);
    trace.chosen.clear();
    trace.protocol.clear();
    trace.provider = ProviderId::kNone;
  }
  trace.choice = Describe(choice, wish);
  for (const RegistryPlace& place : places_) {
    const DirectorySnapshot& snapshot = place.core->Current();
    std::string line = absl::StrCat(place.name, "  ", snapshot.table->by_rank.size(), " providers, ",
                                    snapshot.valid.count(), " live");
    if (mode_ == RegistryMode::kZoneAware) {
      absl::StrAppend(&line, place.preferred ? "  preferred" : "", place.zone.empty() ? "" : "  zone ", place.zone,
                      "  weight ", place.weight);
    }
    if (!snapshot.status.ok()) absl::StrAppend(&line, "  ", Shortened(FromAbsl(snapshot.status.message())));
    trace.registries.push_back(std::move(line));
  }
  trace.stats = Stats();
  return trace;
}

DirectoryStats RegistryChoice::Stats() const {
  DirectoryStats all = places_.front().core->Stats();
  for (std::size_t i = 1; i < places_.size(); ++i) {
    const DirectoryStats one = places_[i].core->Stats();
    all.providers += one.providers;
    all.valid += one.valid;
    all.version += one.version;
    all.age = std::min(all.age, one.age);
    all.walked += one.walked;
    all.wishes_dropped += one.wishes_dropped;
    all.plans_built += one.plans_built;
    all.plans_refused += one.plans_refused;
    all.redrawn += one.redrawn;
    all.protected_for = std::max(all.protected_for, one.protected_for);
  }
  return all;
}

MethodId RegistryChoice::Method(std::string_view name) {
  const std::lock_guard lock(naming_);
  for (const RegistryPlace& place : places_) place.core->Method(name);
  return front_->Method(name);
}

CallNeeds RegistryChoice::Needs(MethodId method) const {
  const ReadSection section;
  CallNeeds needs;
  needs.attachments = mode_ == RegistryMode::kZoneAware && by_zone_;
  for (const RegistryPlace& place : places_) {
    const CallNeeds one = NeedsOf(place.core->Current(), place.core->methods().Name(method));
    needs.arguments |= one.arguments;
    needs.attachments |= one.attachments;
  }
  return needs;
}

void RegistryChoice::ClearProtection() {
  for (const RegistryPlace& place : places_) place.core->ClearProtection();
}

Url RegistryChoice::consumer() const {
  const ReadSection section;
  Random random(0);
  return places_[Choose(Live(), WishOf({}), random).place].core->Current().consumer;
}

void RegistryChoice::Open() { Publish(absl::OkStatus()); }

void RegistryChoice::Close() {
  Publish(absl::CancelledError(absl::StrCat("the directory of ", front_->Mutable().service, " was closed")));
}

void RegistryChoice::Publish(absl::Status status) {
  const DirectorySnapshot& now = front_->Mutable();
  auto snapshot = std::make_unique<DirectorySnapshot>();
  snapshot->version = now.version + 1;
  snapshot->service = now.service;
  snapshot->consumer = now.consumer;
  snapshot->consumer_as_given = now.consumer_as_given;
  snapshot->built_at = front_->clock().SteadyNow();
  snapshot->status = std::move(status);
  front_->Publish(std::move(snapshot), [] { return nullptr; });
}

}  // namespace fairlead::internal
