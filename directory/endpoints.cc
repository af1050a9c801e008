#include "fairlead/directory/endpoints.h"

#include <algorithm>
#include <array>
#include <exception>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/host_call.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/connection_key.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {
namespace {

constexpr auto kSweepPeriod = std::chrono::milliseconds(20);
constexpr std::size_t kMostSkippedTexts = 100;

constexpr std::array<std::string_view, 5> kPolicyKeys = {names::kWeight, names::kWarmup, names::kLoadBalance,
                                                         names::kHashNodes, names::kHashArguments};

// "find" of "find.weight"; empty for a key that is not a method's policy parameter.
std::string_view OwnMethod(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view name = key.substr(dot + 1);
  const bool policy = std::find(kPolicyKeys.begin(), kPolicyKeys.end(), name) != kPolicyKeys.end();
  return policy ? key.substr(0, dot) : std::string_view();
}

std::string_view PolicyNamedBy(std::string_view key, std::string_view value) {
  const bool names_policy = key == names::kLoadBalance || (key.size() > names::kLoadBalance.size() &&
                                                           key.ends_with(".loadbalance"));
  return names_policy ? value : std::string_view();
}

}  // namespace

Endpoints::Endpoints(Config config)
    : config_(std::move(config)), drain_timeout_(config_.drain_timeout), random_(Mix64(config_.seed)) {}

Endpoints::~Endpoints() {
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

Endpoints::Wanted::Wanted(Url original_url, Url effective_url)
    : original(std::move(original_url)),
      effective(std::move(effective_url)),
      key(ConnectionKey(effective.parts())),
      disabled(IsDisabled(effective.parts())) {}

void Endpoints::Hold(Endpoint& endpoint, const Wanted& wanted, ProviderId id, Slot slot) {
  auto provider = std::make_shared<Provider>();
  provider->slot = slot;
  provider->id = id;
  provider->original = wanted.original;
  provider->effective = wanted.effective;
  provider->address = wanted.effective.parts().Address();
  endpoint.provider = std::move(provider);
  endpoint.own_methods.clear();
  endpoint.policies.clear();
  for (const auto& [name, value] : wanted.effective.parts().params) {
    if (const std::string_view method = OwnMethod(name); !method.empty()) endpoint.own_methods.emplace_back(method);
    if (const std::string_view policy = PolicyNamedBy(name, value); !policy.empty()) {
      endpoint.policies.emplace_back(policy);
    }
  }
  changed_.Add(slot);
}

void Endpoints::Apply(const WantedList& list) {
  if (closed_) return;
  ++applied_;
  skipped_.clear();
  disabled_ = 0;
  by_rank_.clear();
  const auto skip = [&](std::string text) {
    if (skipped_.size() < kMostSkippedTexts) skipped_.push_back(std::move(text));
  };

  // Two urls of one connection are one endpoint; the newest timestamp speaks for it.
  std::unordered_map<std::string_view, std::size_t> newest;
  newest.reserve(list.size());
  std::vector<const Wanted*> distinct;
  distinct.reserve(list.size());
  for (const auto& wanted : list) {
    if (wanted->disabled) {
      ++disabled_;
      skip("disabled: " + wanted->original.parts().Address());
      continue;
    }
    const auto [at, fresh] = newest.try_emplace(wanted->key, distinct.size());
    if (fresh) {
      distinct.push_back(wanted.get());
      continue;
    }
    const Wanted*& kept = distinct[at->second];
    if (wanted->original.timestamp_ms() > kept->original.timestamp_ms()) kept = wanted.get();
    skip("listed twice, the newest is used: " + wanted->original.parts().Address());
  }

  for (const Wanted* wanted : distinct) {
    auto held = endpoints_.find(wanted->key);
    if (held == endpoints_.end()) {
      const auto retry = retries_.find(wanted->key);
      const bool waiting = retry != retries_.end() && retry->second.timer.armed();
      if (waiting || !(Revive(*wanted) || Refer(*wanted))) {
        skip(absl::StrCat("not referred yet: ", wanted->original.parts().Address(), ": ", retries_.at(wanted->key).why));
        continue;
      }
      held = endpoints_.find(wanted->key);
    } else {
      Endpoint& endpoint = held->second;
      const Provider& now = *endpoint.provider;
      if (!(now.effective == wanted->effective) || !(now.original == wanted->original) ||
          now.original.timestamp_ms() != wanted->original.timestamp_ms()) {
        Hold(endpoint, *wanted, now.id, now.slot);
        TellUpdated(endpoint);
      }
    }
    held->second.seen = applied_;
    by_rank_.push_back(held->second.provider->slot);
  }

  for (auto at = endpoints_.begin(); at != endpoints_.end();) {
    if (at->second.seen == applied_) {
      ++at;
      continue;
    }
    changed_.Add(at->second.provider->slot);
    free_slots_.push_back(at->second.provider->slot);
    leaving_.push_back({at->first, at->second.state, 0, false, {}});
    at = endpoints_.erase(at);
  }
  for (auto at = retries_.begin(); at != retries_.end();) {
    at = newest.contains(at->first) ? std::next(at) : retries_.erase(at);
  }
  if (!retries_.empty()) last_list_ = list;
}

void Endpoints::TellUpdated(const Endpoint& endpoint) {
  CallHost([&] { endpoint.state->invoker().Updated(endpoint.provider->effective); },
           [this](std::string_view text) {
             config_.log->Error("FL-3-2", config_.service, absl::StrCat("Invoker::Updated threw: ", ToAbsl(text)));
           });
}

bool Endpoints::Revive(const Wanted& wanted) {
  for (auto at = leaving_.begin(); at != leaving_.end(); ++at) {
    if (at->key != wanted.key) continue;
    InvokerState* state = at->state;
    leaving_.erase(at);
    state->SetDraining(false);
    Endpoint& endpoint = endpoints_[wanted.key];
    endpoint.key = wanted.key;
    endpoint.state = state;
    Hold(endpoint, wanted, state->id(), TakeSlot());
    TellUpdated(endpoint);  // its parameters may have changed while it was away
    return true;
  }
  return false;
}

bool Endpoints::Refer(const Wanted& wanted) {
  const auto id = static_cast<ProviderId>(next_id_++);
  Availability report([alive = weak_from_this(), executor = config_.executor, id](bool up) {
    executor->Post([alive, id, up] {
      if (const auto self = alive.lock()) self->Report(id, up);
    });
  });
  absl::StatusOr<std::unique_ptr<Invoker>> invoker = absl::InternalError("Protocol::Refer threw");
  try {
    invoker = config_.protocol->Refer(wanted.effective, std::move(report));
    if (invoker.ok() && *invoker == nullptr) invoker = absl::InternalError("Protocol::Refer returned no invoker");
  } catch (const std::exception& error) {
    invoker = absl::InternalError(absl::StrCat("Protocol::Refer threw: ", error.what()));
  } catch (...) {
  }
  if (!invoker.ok()) {
    config_.log->Warn("FL-3-1", config_.service,
                      absl::StrCat("no invoker for ", wanted.original.ToString(), ", tried again later: ",
                                   invoker.status().ToString()));
    ReferLater(wanted.key, invoker.status().ToString());
    return false;
  }
  retries_.erase(wanted.key);
  Endpoint& endpoint = endpoints_[wanted.key];
  endpoint.key = wanted.key;
  endpoint.state = new InvokerState(id, *std::move(invoker));
  Hold(endpoint, wanted, id, TakeSlot());
  return true;
}

void Endpoints::ReferLater(const std::string& key, std::string why) {
  using std::chrono::milliseconds;
  Retry& retry =
      retries_.try_emplace(key, Retry{Backoff(milliseconds(100), milliseconds(500), milliseconds(30000)), Timer(), {}})
          .first->second;
  retry.why = std::move(why);
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

InvokerState* Endpoints::FindState(ProviderId id) {
  for (auto& [key, endpoint] : endpoints_) {
    if (endpoint.state->id() == id) return endpoint.state;
  }
  for (const Leaving& one : leaving_) {
    if (one.state->id() == id) return one.state;
  }
  return nullptr;
}

void Endpoints::Report(ProviderId id, bool up) {
  InvokerState* state = FindState(id);
  if (state == nullptr || state->down() == !up) return;
  state->SetDown(!up);
  if (!up) config_.downs->fetch_add(1, std::memory_order_release);
  config_.on_change();
}

std::shared_ptr<const InvokerTable> Endpoints::Table() const {
  auto table = std::make_shared<InvokerTable>();
  table->providers.resize(next_slot_);
  table->states.resize(next_slot_, nullptr);
  table->invokers.resize(next_slot_, nullptr);
  for (const auto& [key, endpoint] : endpoints_) {
    table->providers[endpoint.provider->slot] = endpoint.provider;
    table->states[endpoint.provider->slot] = endpoint.state;
    table->invokers[endpoint.provider->slot] = &endpoint.state->invoker();
  }
  table->by_rank = by_rank_;
  return table;
}

InvokerSet Endpoints::Valid() const {
  InvokerSet valid(next_slot_);
  for (const auto& [key, endpoint] : endpoints_) {
    if (!endpoint.state->down()) valid.Add(endpoint.provider->slot);
  }
  return valid;
}

InvokerSet Endpoints::TakeChanged() { return std::exchange(changed_, InvokerSet()); }

std::vector<std::string> Endpoints::OwnMethods() const {
  std::set<std::string> methods;
  for (const auto& [key, endpoint] : endpoints_) methods.insert(endpoint.own_methods.begin(), endpoint.own_methods.end());
  return {methods.begin(), methods.end()};
}

std::vector<std::string> Endpoints::Policies() const {
  std::set<std::string> policies;
  for (const auto& [key, endpoint] : endpoints_) policies.insert(endpoint.policies.begin(), endpoint.policies.end());
  return {policies.begin(), policies.end()};
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
  try {
    state.invoker().Destroy();
  } catch (const std::exception& error) {
    config_.log->Error("FL-3-3", config_.service, absl::StrCat("Invoker::Destroy threw: ", error.what()));
  } catch (...) {
    config_.log->Error("FL-3-3", config_.service, "Invoker::Destroy threw");
  }
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
  for (auto& [key, endpoint] : endpoints_) leaving_.push_back({key, endpoint.state, 0, false, {}});
  endpoints_.clear();
  by_rank_.clear();
  drain_timeout_ = std::min(drain_timeout_, deadline);
  const auto latest = config_.clock->SteadyNow() + drain_timeout_;
  for (Leaving& one : leaving_) one.close_at = std::min(one.close_at, latest);
}

}  // namespace fairlead::internal
