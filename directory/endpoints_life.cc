// What becomes of endpoints between lists: reports and probes, draining and the end.
#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/host_call.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/endpoints.h"
#include "fairlead/directory/endpoints_index.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSweepPeriod{20};
// The first probe comes about 0.1 s after a provider went down: a reset connection is often back by then.
constexpr milliseconds kProbeFloor{50}, kProbeBase{150}, kProbeCap{30000};
// Up for so long, a provider that goes down again is a new case.
constexpr milliseconds kSteady{30000};

}  // namespace

void Endpoints::Hear(AvailabilityFeed::Batch states) {
  bool changed = false;
  for (const StateRef& state : states) {
    state->Heard();
    if (closed_ || state->slot() == kNoSlot) continue;  // it will be looked at when it is listed again
    changed |= Follow(state->slot());
  }
  if (changed) config_.on_change();
}

// Brings what the tables have up to what the state says; true when that was a change.
bool Endpoints::Follow(Slot slot) {
  const bool down = StateIn(slot).down();
  if (down != valid_.Contains(slot)) return false;
  if (down) {
    valid_.Remove(slot);
    config_.log->Info("FL-3-10", config_.service,
                      absl::StrCat(ProviderIn(slot).address(), " is down; it is probed until it is back"));
    AskLater(slot);
    return true;
  }
  valid_.Add(slot);
  const auto probe = probes_.find(slot);
  if (probe != probes_.end()) {
    probe->second.timer = config_.executor->After(kSteady, [alive = weak_from_this(), slot] {
      if (const auto self = alive.lock()) self->probes_.erase(slot);
    });
  }
  return true;
}

// Asks the host whether a provider that is down is back. True when it came up.
bool Endpoints::Ask(Slot slot) {
  InvokerState& state = StateIn(slot);
  const std::uint32_t seen = state.health();
  if (state.down() && (!state.invoker().IsAvailable() || !state.ComeUp(seen))) {
    AskLater(slot);
    return false;
  }
  return Follow(slot);
}

// For a provider that registered anew: whatever is known of its past failures is over.
void Endpoints::AskNow(Slot slot) {
  Follow(slot);
  if (valid_.Contains(slot)) return;
  probes_.erase(slot);
  Ask(slot);
}

void Endpoints::AskLater(Slot slot) {
  Probe& probe =
      probes_.try_emplace(slot, Probe{Backoff(kProbeFloor, kProbeBase, kProbeCap), Timer()}).first->second;
  probe.timer = config_.executor->After(probe.backoff.Next(random_), [alive = weak_from_this(), slot] {
    const auto self = alive.lock();
    // Without an entry the provider left, and this timer was cancelled too late.
    if (self == nullptr || self->closed_ || !self->probes_.contains(slot)) return;
    if (self->Ask(slot)) self->config_.on_change();
  });
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

bool Endpoints::idle() const { return by_connection_->empty() && leaving_.empty(); }

void Endpoints::Close(std::chrono::nanoseconds deadline) {
  closed_ = true;
  retries_.clear();
  for (Slot slot = 0; slot < table_->states.size(); ++slot) {
    if (table_->states[slot] != nullptr) Unlist(slot);
  }
  Edit().by_rank = SlotList();
  unused_.clear();
  shapes_.ForgetUnused();
  drain_timeout_ = std::min(drain_timeout_, deadline);
  const auto latest = config_.clock->SteadyNow() + drain_timeout_;
  for (Leaving& one : leaving_) one.close_at = std::min(one.close_at, latest);
}

}  // namespace fairlead::internal
