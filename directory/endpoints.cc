#include "fairlead/directory/endpoints.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/host_call.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/connection_key.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/loadbalance/warmup.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

constexpr auto kSweepPeriod = std::chrono::milliseconds(20);
constexpr std::size_t kMostSkippedTexts = 100;
using std::chrono::milliseconds;
// The first probe comes about 0.1 s after a provider went down: a reset connection is often back by then.
constexpr milliseconds kProbeFloor{50}, kProbeBase{150}, kProbeCap{30000};
// Up for so long, a provider that goes down again is a new case.
constexpr milliseconds kSteady{30000};

}  // namespace

Endpoints::Endpoints(Config config)
    : config_(std::move(config)), drain_timeout_(config_.drain_timeout), random_(Mix64(config_.seed)) {}

std::shared_ptr<Endpoints> Endpoints::Create(Config config) {
  auto endpoints = std::shared_ptr<Endpoints>(new Endpoints(std::move(config)));
  const auto downs = std::make_shared<DownCount>();
  endpoints->downs_ = downs;
  endpoints->feed_ = std::make_shared<AvailabilityFeed>(
      endpoints->config_.executor, endpoints->config_.down_after, downs,
      [alive = std::weak_ptr<Endpoints>(endpoints)](AvailabilityFeed::Batch states) {
        if (const auto self = alive.lock()) self->Hear(std::move(states));
      });
  return endpoints;
}

Endpoints::~Endpoints() {
  // Its batch holds states that hold the feed.
  feed_->Close();
  // Only states that nobody could close any more, because the executor is gone.
  for (auto& [key, endpoint] : endpoints_) {
    Destroy(*endpoint.state);
    endpoint.state->Abandon();
  }
  for (Leaving& one : leaving_) {
    Destroy(*one.state);
    one.state->Abandon();
  }
}

Endpoints::Wanted::Wanted(Url original_url, Url effective_url, std::unique_ptr<const std::string> what_was_left_out)
    : original(std::move(original_url)),
      effective(std::move(effective_url)),
      left_out(std::move(what_was_left_out)),
      key(ConnectionKey(effective.parts())),
      disabled(IsDisabled(effective.parts())) {}

void Endpoints::CountUses(Uses& uses, const std::vector<std::string>& names, bool more) {
  for (const std::string& name : names) {
    if (more) {
      ++uses[name];
    } else if (const auto at = uses.find(name); --at->second == 0) {
      uses.erase(at);
    }
  }
}

void Endpoints::Hold(Endpoint& endpoint, const std::shared_ptr<const Wanted>& wanted, ProviderId id, Slot slot) {
  auto provider = std::make_shared<Provider>();
  provider->slot = slot;
  provider->id = id;
  provider->original = wanted->original;
  provider->effective = wanted->effective;
  provider->address = wanted->effective.Address();
  endpoint.provider = std::move(provider);
  endpoint.state->SetSlot(slot);
  if (by_slot_.size() <= slot) {
    by_slot_.resize(slot + 1, nullptr);
    held_.resize(slot + 1);
    table_.states.resize(slot + 1, nullptr);
    table_.invokers.resize(slot + 1, nullptr);
    table_.weights.resize(slot + 1, 0);
  }
  by_slot_[slot] = &endpoint;
  held_[slot] = {wanted, applied_, 0};
  wanted->slot = slot;
  table_.providers.Set(slot, endpoint.provider);
  table_.states[slot] = endpoint.state;
  table_.invokers[slot] = &endpoint.state->invoker();
  if (!endpoint.down) valid_.Add(slot);
  warming_.Add(slot);  // until the next Table has weighed it
  CountUses(own_methods_, endpoint.own_methods, false);
  CountUses(policies_, endpoint.policies, false);
  endpoint.own_methods.clear();
  endpoint.policies.clear();
  std::string unreadable;
  for (const auto& [name, value] : wanted->effective.parts().params) {
    if (const std::string_view method = OwnMethod(name); !method.empty()) endpoint.own_methods.emplace_back(method);
    if (PolicyKey(name) == names::kLoadBalance && !value.empty()) endpoint.policies.emplace_back(value);
    if (!NumberExpected(name, value).empty()) {
      absl::StrAppend(&unreadable, unreadable.empty() ? "no number, the default holds: " : ", ", Shortened(name, 60), "=",
                      Shortened(value, 60));
    }
  }
  if (wanted->left_out != nullptr) absl::StrAppend(&unreadable, unreadable.empty() ? "" : "; ", *wanted->left_out);
  CountUses(own_methods_, endpoint.own_methods, true);
  CountUses(policies_, endpoint.policies, true);
  if (unreadable.empty()) {
    unreadable_.erase(slot);
  } else {
    unreadable_[slot] = absl::StrCat(Shortened(unreadable), " of ", Shortened(endpoint.provider->address));
    WarnOf("FL-3-9", unreadable_.size(), unreadable_[slot], unreadable_[slot]);
  }
  changed_.Add(slot);
}

void Endpoints::Unlist(Endpoint& endpoint) {
  const Slot slot = endpoint.provider->slot;
  by_slot_[slot] = nullptr;
  held_[slot] = {};
  table_.providers.Set(slot, nullptr);
  table_.states[slot] = nullptr;
  table_.invokers[slot] = nullptr;
  table_.weights[slot] = 0;
  valid_.Remove(slot);
  warming_.Remove(slot);
  CountUses(own_methods_, endpoint.own_methods, false);
  CountUses(policies_, endpoint.policies, false);
  changed_.Add(slot);
  free_slots_.push_back(slot);
  endpoint.state->SetSlot(kNoSlot);
  probes_.erase(slot);
  unreadable_.erase(slot);
  leaving_.push_back({endpoint.key, endpoint.state, 0, false, {}});
}

// The usual list holds mostly what the last one did, as the very same objects: those are seen to by their slots alone.
void Endpoints::Apply(const WantedList& list) {
  if (closed_) return;
  ++applied_;
  skipped_.clear();
  disabled_ = 0;
  const auto skip = [&](std::string text) {
    if (skipped_.size() < kMostSkippedTexts) skipped_.push_back(std::move(text));
  };

  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Wanted& wanted = *list[i];
    if (wanted.disabled) {
      ++disabled_;
      skip("disabled: " + wanted.original.Address());
      continue;
    }
    Held* held = wanted.slot < held_.size() ? &held_[wanted.slot] : nullptr;
    if (held != nullptr && held->wanted.get() == &wanted && held->seen != applied_) {
      held->seen = applied_;
      held->place = i;
    } else {
      others.push_back(i);
    }
  }

  // Two urls of one connection are one endpoint; the newest timestamp speaks for it, at the place of the first.
  struct Newest {
    std::size_t first, index;
  };
  std::unordered_map<std::string_view, std::size_t> known;
  std::vector<Newest> distinct;
  const auto shadowed = [&](std::size_t i) {
    skip("listed twice, the newest is used: " + list[i]->original.Address());
  };
  for (const std::size_t i : others) {
    const auto [at, fresh] = known.try_emplace(list[i]->key, distinct.size());
    if (fresh) {
      distinct.push_back({i, i});
      continue;
    }
    std::size_t& kept = distinct[at->second].index;
    if (list[i]->original.timestamp_ms() > list[kept]->original.timestamp_ms()) kept = i;
    shadowed(i);
  }

  std::vector<Endpoint*> restarted;
  for (const auto& [first, index] : distinct) {
    const std::shared_ptr<const Wanted>& wanted = list[index];
    const auto found = endpoints_.find(wanted->key);
    Endpoint* endpoint = found == endpoints_.end() ? HoldNew(wanted) : &found->second;
    if (endpoint == nullptr) {
      skip(absl::StrCat("not referred yet: ", Shortened(wanted->original.Address()), ": ",
                        retries_.at(wanted->key).why));
      continue;
    }
    const Slot slot = endpoint->provider->slot;
    std::size_t place = first;
    if (found != endpoints_.end()) {
      const std::int64_t before = endpoint->provider->original.timestamp_ms();
      const bool listed = held_[slot].seen == applied_;
      if (listed) {
        place = std::min(place, held_[slot].place);
        shadowed(index);
      }
      if (!listed || wanted->original.timestamp_ms() > before) {
        HoldAnew(*endpoint, wanted);
        if (wanted->original.timestamp_ms() > before) restarted.push_back(endpoint);
      }
    }
    held_[slot].seen = applied_;
    held_[slot].place = place;
  }

  std::vector<Slot> by_place(list.size(), kNoSlot);
  for (Slot slot = 0; slot < held_.size(); ++slot) {
    const Held& held = held_[slot];
    if (held.wanted == nullptr) continue;
    if (held.seen == applied_) {
      by_place[held.place] = slot;
      continue;
    }
    Endpoint& gone = *by_slot_[slot];
    Unlist(gone);
    endpoints_.erase(endpoints_.find(gone.key));
  }
  std::erase(by_place, kNoSlot);
  table_.by_rank = std::move(by_place);
  for (auto at = retries_.begin(); at != retries_.end();) {
    at = known.contains(at->first) ? std::next(at) : retries_.erase(at);
  }
  if (!retries_.empty()) last_list_ = list;
  for (Endpoint* endpoint : restarted) AskNow(*endpoint);
}

// Of a connection that is not held: nullptr when it cannot be made, now or before the next attempt is due.
Endpoints::Endpoint* Endpoints::HoldNew(const std::shared_ptr<const Wanted>& wanted) {
  const auto retry = retries_.find(wanted->key);
  const bool again = retry != retries_.end() && wanted->original.timestamp_ms() > retry->second.timestamp_ms;
  if (again) retry->second.backoff.Reset();
  const bool waiting = retry != retries_.end() && retry->second.timer.armed() && !again;
  if (waiting || !(Revive(wanted) || Refer(wanted))) return nullptr;
  return &endpoints_.find(wanted->key)->second;
}

// The same connection, maybe with other parameters.
void Endpoints::HoldAnew(Endpoint& endpoint, const std::shared_ptr<const Wanted>& wanted) {
  const Provider& now = *endpoint.provider;
  if (now.effective == wanted->effective && now.original == wanted->original &&
      now.original.timestamp_ms() == wanted->original.timestamp_ms()) {
    held_[now.slot].wanted = wanted;
    wanted->slot = now.slot;
    return;
  }
  Hold(endpoint, wanted, now.id, now.slot);
  TellUpdated(endpoint);
}

void Endpoints::TellUpdated(const Endpoint& endpoint) {
  CallHost([&] { endpoint.state->invoker().Updated(endpoint.provider->effective); },
           [this](std::string_view text) {
             config_.log->Error("FL-3-2", config_.service, absl::StrCat("Invoker::Updated threw: ", ToAbsl(text)));
           });
}

bool Endpoints::Revive(const std::shared_ptr<const Wanted>& wanted) {
  for (auto at = leaving_.begin(); at != leaving_.end(); ++at) {
    if (at->key != wanted->key) continue;
    InvokerState* state = at->state;
    leaving_.erase(at);
    state->SetDraining(false);
    Endpoint& endpoint = endpoints_[wanted->key];
    endpoint.key = wanted->key;
    endpoint.state = state;
    Hold(endpoint, wanted, state->id(), TakeSlot());
    TellUpdated(endpoint);  // its parameters may have changed while it was away
    Follow(endpoint);
    AskNow(endpoint);
    return true;
  }
  return false;
}

bool Endpoints::Refer(const std::shared_ptr<const Wanted>& wanted) {
  const auto id = static_cast<ProviderId>(next_id_++);
  auto* state = new InvokerState(id, nullptr, feed_);
  Availability report([state = StateRef(*state)](bool up) { state->Report(up); });
  absl::StatusOr<std::unique_ptr<Invoker>> invoker = nullptr;
  CallHost([&] { invoker = config_.protocol->Refer(wanted->effective, std::move(report)); },
           [&](std::string_view text) {
             invoker = absl::InternalError(absl::StrCat("Protocol::Refer threw: ", ToAbsl(text)));
           });
  if (invoker.ok() && *invoker == nullptr) invoker = absl::InternalError("Protocol::Refer returned no invoker");
  if (!invoker.ok()) {
    state->Abandon();
    ReferLater(*wanted, Shortened(FromAbsl(invoker.status().ToString())));
    WarnOf("FL-3-1", retries_.size(), wanted->key,
           absl::StrCat("no invoker for ", Shortened(wanted->original.ToString()), ", tried again later: ",
                        invoker.status().ToString()));
    return false;
  }
  retries_.erase(wanted->key);
  Endpoint& endpoint = endpoints_[wanted->key];
  endpoint.key = wanted->key;
  state->SetInvoker(*std::move(invoker));
  endpoint.state = state;
  Hold(endpoint, wanted, id, TakeSlot());
  Follow(endpoint);
  return true;
}

// Each bad provider gets lines of its own, unless too many are bad at a time: the rest share one subject.
void Endpoints::WarnOf(std::string_view code, std::size_t bad, std::string_view input, std::string_view text) const {
  if (bad <= Logger::kMostOfEach) return config_.log->WarnOf(code, config_.service, input, text);
  config_.log->Warn(code, config_.service, text);
}

void Endpoints::ReferLater(const Wanted& wanted, std::string why) {
  const std::string& key = wanted.key;
  Retry& retry =
      retries_
          .try_emplace(key, Retry{Backoff(milliseconds(100), milliseconds(500), milliseconds(30000)), Timer(), {}, 0})
          .first->second;
  retry.why = std::move(why);
  retry.timestamp_ms = wanted.original.timestamp_ms();
  retry.timer = config_.executor->After(retry.backoff.Next(random_), [alive = weak_from_this(), key] {
    const auto self = alive.lock();
    if (self == nullptr || self->closed_) return;
    const auto at = self->retries_.find(key);
    if (at == self->retries_.end()) return;
    at->second.timer = Timer();
    // Apply finds the key without a pending timer and refers it again.
    const WantedList list = self->last_list_;
    self->Apply(list);
    self->config_.on_change();
  });
}

Slot Endpoints::TakeSlot() {
  if (free_slots_.empty()) return next_slot_++;
  const Slot slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void Endpoints::Hear(AvailabilityFeed::Batch states) {
  bool changed = false;
  for (const StateRef& state : states) {
    state->Heard();
    if (closed_ || state->slot() == kNoSlot) continue;  // it will be looked at when it is listed again
    changed |= Follow(*by_slot_[state->slot()]);
  }
  if (changed) config_.on_change();
}

// Brings what the tables have up to what the state says; true when that was a change.
bool Endpoints::Follow(Endpoint& endpoint) {
  const bool down = endpoint.state->down();
  if (down == std::exchange(endpoint.down, down)) return false;
  if (down) {
    valid_.Remove(endpoint.provider->slot);
    config_.log->Info("FL-3-10", config_.service,
                      absl::StrCat(endpoint.provider->address, " is down; it is probed until it is back"));
    AskLater(endpoint);
    return true;
  }
  valid_.Add(endpoint.provider->slot);
  const auto probe = probes_.find(endpoint.provider->slot);
  if (probe != probes_.end()) {
    probe->second.timer = config_.executor->After(kSteady, [alive = weak_from_this(), slot = probe->first] {
      if (const auto self = alive.lock()) self->probes_.erase(slot);
    });
  }
  return true;
}

// Asks the host whether a provider that is down is back. True when it came up.
bool Endpoints::Ask(Endpoint& endpoint) {
  InvokerState& state = *endpoint.state;
  const std::uint32_t seen = state.health();
  if (state.down() && (!state.invoker().IsAvailable() || !state.ComeUp(seen))) {
    AskLater(endpoint);
    return false;
  }
  return Follow(endpoint);
}

// For a provider that registered anew: whatever is known of its past failures is over.
void Endpoints::AskNow(Endpoint& endpoint) {
  Follow(endpoint);
  if (!endpoint.down) return;
  probes_.erase(endpoint.provider->slot);
  Ask(endpoint);
}

void Endpoints::AskLater(const Endpoint& endpoint) {
  const Slot slot = endpoint.provider->slot;
  Probe& probe =
      probes_.try_emplace(slot, Probe{Backoff(kProbeFloor, kProbeBase, kProbeCap), Timer()}).first->second;
  probe.timer = config_.executor->After(probe.backoff.Next(random_), [alive = weak_from_this(), slot] {
    const auto self = alive.lock();
    // Without an entry the provider left, and this timer was cancelled too late.
    if (self == nullptr || self->closed_ || !self->probes_.contains(slot)) return;
    if (self->Ask(*self->by_slot_[slot])) self->config_.on_change();
  });
}

std::shared_ptr<const InvokerTable> Endpoints::Table() {
  const std::int64_t now = config_.clock->SystemMillis();
  if (now < weighed_ms_) {
    // The wall clock was set back: those that were warm may be young again.
    for (const Slot slot : table_.by_rank) warming_.Add(slot);
  }
  weighed_ms_ = now;
  next_weight_change_ = 0;
  InvokerSet warm;
  warming_.ForEach([&](Slot slot) {
    const Url& effective = table_.providers[slot]->effective;
    table_.weights[slot] = EffectiveWeight(effective, {}, now);
    const std::int64_t change = NextWeightChange(effective, now);
    if (change <= now) return warm.Add(slot);
    if (next_weight_change_ == 0 || change < next_weight_change_) next_weight_change_ = change;
  });
  warming_ -= warm;
  auto table = std::make_shared<InvokerTable>();
  table->providers = table_.providers.Share();
  table->states = table_.states;
  table->invokers = table_.invokers;
  table->weights = table_.weights;
  table->by_rank = table_.by_rank;
  return table;
}

InvokerSet Endpoints::Valid() {
  // A report may be ahead of its message, and has been counted.
  for (const StateRef& state : feed_->Take()) {
    state->Heard();
    if (!closed_ && state->slot() != kNoSlot) Follow(*by_slot_[state->slot()]);
  }
  return valid_;
}

std::vector<std::string> Endpoints::Unreadable() const {
  std::vector<std::string> texts;
  for (const auto& [slot, text] : unreadable_) {
    if (texts.size() == kMostSkippedTexts) break;
    texts.push_back(text);
  }
  return texts;
}

InvokerSet Endpoints::TakeChanged() { return std::exchange(changed_, InvokerSet()); }

std::vector<std::string> Endpoints::OwnMethods() const {
  std::vector<std::string> names;
  for (const auto& [name, uses] : own_methods_) names.push_back(name);
  return names;
}

std::vector<std::string> Endpoints::Policies() const {
  std::vector<std::string> names;
  for (const auto& [name, uses] : policies_) names.push_back(name);
  return names;
}

absl::AnyInvocable<void()> Endpoints::DrainRemoved() {
  ++round_;
  bool any = false;
  for (Leaving& one : leaving_) {
    if (one.round != 0) continue;
    one.round = round_;
    one.close_at = config_.clock->SteadyNow() + drain_timeout_;
    one.state->SetDraining(true);
    any = true;
  }
  if (!any) return nullptr;
  return [self = shared_from_this(), round = round_] {
    for (Leaving& one : self->leaving_) {
      if (one.round == round) one.unseen = true;
    }
    self->Sweep();
  };
}

void Endpoints::Destroy(InvokerState& state) {
  CallHost([&] { state.invoker().Destroy(); },
           [this](std::string_view text) {
             config_.log->Error("FL-3-3", config_.service, absl::StrCat("Invoker::Destroy threw: ", ToAbsl(text)));
           });
}

void Endpoints::Sweep() {
  const auto now = config_.clock->SteadyNow();
  // Destroy is host code that may come back here, so the list is taken apart first.
  std::vector<InvokerState*> closing;
  for (auto at = leaving_.begin(); at != leaving_.end();) {
    const bool over = at->unseen && (at->state->active() == 0 || now >= at->close_at);
    if (!over) {
      ++at;
      continue;
    }
    closing.push_back(at->state);
    at = leaving_.erase(at);
  }
  for (InvokerState* state : closing) {
    Destroy(*state);
    state->Abandon();
  }
  const bool waiting = std::any_of(leaving_.begin(), leaving_.end(), [](const Leaving& one) { return one.unseen; });
  if (!waiting) return;
  sweep_ = config_.executor->After(kSweepPeriod, [self = shared_from_this()] { self->Sweep(); });
}

void Endpoints::Close(std::chrono::nanoseconds deadline) {
  closed_ = true;
  retries_.clear();
  for (auto& [key, endpoint] : endpoints_) Unlist(endpoint);
  endpoints_.clear();
  table_.by_rank.clear();
  drain_timeout_ = std::min(drain_timeout_, deadline);
  const auto latest = config_.clock->SteadyNow() + drain_timeout_;
  for (Leaving& one : leaving_) one.close_at = std::min(one.close_at, latest);
}

}  // namespace fairlead::internal
