#include "fairlead/directory/endpoints.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/hash.h"
#include "fairlead/base/host_call.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/connection_key.h"
#include "fairlead/directory/endpoints_index.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/loadbalance/warmup.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/url_hash.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostSkippedTexts = 100;
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

}  // namespace

Endpoints::Endpoints(Config config)
    : config_(std::move(config)),
      drain_timeout_(config_.drain_timeout),
      random_(Mix64(config_.seed)),
      table_(std::make_shared<InvokerTable>()),
      by_connection_(std::make_unique<Index>(*this)),
      next_id_(config_.first_id) {}

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
  for (InvokerState* state : table_->states) {
    if (state == nullptr) continue;
    Destroy(*state);
    state->Abandon();
  }
  for (Leaving& one : leaving_) {
    Destroy(*one.state);
    one.state->Abandon();
  }
}

std::uint64_t Endpoints::Connection::Hash() const {
  return HashBytes(host, HashBytes(transport, static_cast<std::uint64_t>(port)));
}

std::string Endpoints::Wanted::key() const { return absl::StrCat(effective.Address(), " ", shape->transport); }

Endpoints::Connection Endpoints::ConnectionOf(Slot slot) const {
  const Url& effective = ProviderIn(slot).effective;
  return {effective.host(), effective.port_as_written(), shapes_.Of(effective).transport};
}

InvokerTable& Endpoints::Edit() {
  if (std::exchange(shown_, false)) {
    auto copy = std::make_shared<InvokerTable>();
    copy->providers = table_->providers.Share();
    copy->states = table_->states;
    copy->invokers = table_->invokers;
    copy->weights = table_->weights;
    copy->by_rank = table_->by_rank;
    table_ = std::move(copy);
  }
  return *table_;
}

// Brings the provider's row up to its urls.
void Endpoints::Assign(Slot slot, const Wanted& wanted) {
  shapes_.Use(*wanted.shape);
  if (slot < table_->providers.size() && ProviderIn(slot).listed()) shapes_.Unuse(ProviderIn(slot).effective);
  Edit().providers.Set(slot, {wanted.original, wanted.effective});
}

void Endpoints::Hold(Slot slot, const Wanted& wanted) {
  Assign(slot, wanted);
  warming_.Add(slot);  // until the next Table has weighed it
  std::string unreadable = wanted.shape->unreadable;
  const std::string_view timestamp = wanted.effective.Param(names::kTimestamp);
  if (!NumberExpected(names::kTimestamp, timestamp).empty()) {
    absl::StrAppend(&unreadable, unreadable.empty() ? "" : ", ", "timestamp=", Shortened(timestamp, 60));
  }
  if (!unreadable.empty()) unreadable.insert(0, "no number, the default holds: ");
  if (!wanted.left_out.empty()) absl::StrAppend(&unreadable, unreadable.empty() ? "" : "; ", wanted.left_out);
  if (unreadable.empty()) {
    unreadable_.erase(slot);
  } else {
    unreadable_[slot] = absl::StrCat(Shortened(unreadable), " of ", Shortened(wanted.effective.Address()));
    WarnOf("FL-3-9", unreadable_.size(), unreadable_[slot], unreadable_[slot]);
  }
  changed_.Add(slot);
}

void Endpoints::Unlist(Slot slot) {
  by_connection_->Remove(slot);
  InvokerTable& table = Edit();
  const Url effective = table.providers[slot].effective;
  InvokerState& state = *table.states[slot];
  leaving_.push_back({effective, ConnectionOf(slot).Hash(), &state, 0, false, {}});
  table.providers.Set(slot, {});
  table.states[slot] = nullptr;
  table.invokers[slot] = nullptr;
  shapes_.Unuse(effective);
  valid_.Remove(slot);
  warming_.Remove(slot);
  changed_.Add(slot);
  free_slots_.push_back(slot);
  state.SetSlot(kNoSlot);
  probes_.erase(slot);
  unreadable_.erase(slot);
}

// Lists mostly stay as they were, but for a few urls that come and go: the two are gone through side by side.
class Endpoints::Before {
 public:
  explicit Before(const Endpoints& endpoints) : of_(endpoints), ranks_(endpoints.table_->by_rank) {}

  struct Found {
    Slot slot = kNoSlot;  // where it is held
    Made made;            // of an entry that had no slot, as far as it is known
  };
  Found Find(const std::vector<Url>& list, std::size_t place) {
    const Url& original = list[place];
    if (const std::size_t at = Near(original); at < ranks_.size()) {
      next_ = at + 1;
      return {ranks_[at], {}};
    }
    for (std::size_t at = next_unused_; at < std::min(next_unused_ + 2, of_.unused_.size()); ++at) {
      if (!of_.unused_[at].original.Is(original)) continue;
      next_unused_ = at + 1;
      return {kNoSlot, of_.unused_[at].made};
    }
    // The next one is where it was, so this one is new; or it has moved.
    if (place + 1 == list.size() || Near(list[place + 1]) < ranks_.size()) return {};
    if (index_.empty()) {
      for (std::size_t i = 0; i < ranks_.size(); ++i) index_.emplace(of_.ProviderIn(ranks_[i]).original, i);
    }
    const auto known = index_.find(original);
    if (known == index_.end()) return {};
    const Slot slot = ranks_[known->second];
    // Equality ignores the timestamp, the base of warm-up, which the effective url must have.
    if (of_.ProviderIn(slot).original.timestamp_ms() != original.timestamp_ms()) return {};
    next_ = known->second + 1;
    return {slot, {}};
  }

 private:
  std::size_t Near(const Url& original) const {
    for (std::size_t at = next_; at < std::min(next_ + 2, ranks_.size()); ++at) {
      if (of_.ProviderIn(ranks_[at]).original.Is(original)) return at;
    }
    return ranks_.size();
  }

  const Endpoints& of_;
  const SlotList ranks_;
  std::size_t next_ = 0, next_unused_ = 0;
  absl::flat_hash_map<Url, std::size_t, UrlHash> index_;  // made when the two lists are too far apart
};

void Endpoints::Apply(const std::vector<Url>& list, bool anew) {
  if (closed_) return;
  ++applied_;
  skipped_.clear();
  disabled_ = 0;
  const auto skip = [&](std::string text) {
    if (skipped_.size() < kMostSkippedTexts) skipped_.push_back(std::move(text));
  };

  // Where a slot's provider stands in the list now, and which of its entries it was made from.
  struct Listed {
    std::size_t place = kNowhere, from = kNowhere;
  };
  std::vector<Listed> listed(table_->states.size());
  std::vector<Wanted> others;
  {
    Before before(*this);
    for (std::size_t i = 0; i < list.size(); ++i) {
      Before::Found found = anew ? Before::Found() : before.Find(list, i);
      if (found.slot != kNoSlot && listed[found.slot].place == kNowhere) {
        listed[found.slot] = {i, i};
        continue;
      }
      if (found.made.effective.empty()) found.made = config_.make(list[i]);
      others.push_back({i, list[i], std::move(found.made.effective), std::move(found.made.left_out), nullptr});
    }
  }
  if (closed_) return;  // the host was asked

  // Two urls of one connection are one endpoint; the newest timestamp speaks for it, at the place of the first.
  struct Newest {
    std::size_t place;
    const Wanted* wanted;
  };
  absl::flat_hash_map<Connection, std::size_t, ConnectionHash> known;
  std::vector<Newest> distinct;
  const auto shadowed = [&](const Wanted& one) {
    skip("listed twice, the newest is used: " + one.original.Address());
  };
  for (Wanted& one : others) {
    if (one.effective.empty()) continue;
    one.shape = &shapes_.Get(one.effective);
    if (one.shape->disabled) {
      ++disabled_;
      skip("disabled: " + one.original.Address());
      continue;
    }
    const auto [at, fresh] = known.try_emplace(one.connection(), distinct.size());
    if (fresh) {
      distinct.push_back({one.place, &one});
      continue;
    }
    const Wanted*& kept = distinct[at->second].wanted;
    if (one.original.timestamp_ms() > kept->original.timestamp_ms()) kept = &one;
    shadowed(one);
  }

  std::vector<Slot> restarted;
  std::vector<Newest> fresh;
  for (const Newest& one : distinct) {
    const Wanted& wanted = *one.wanted;
    const Slot slot = by_connection_->Find(wanted.connection());
    if (slot == kNoSlot) {
      fresh.push_back(one);
      continue;
    }
    const std::int64_t before = ProviderIn(slot).original.timestamp_ms();
    const bool newer = wanted.original.timestamp_ms() > before;
    if (listed[slot].place != kNowhere) {
      listed[slot].place = std::min(listed[slot].place, one.place);
      shadowed(wanted);
      if (!newer) continue;
    } else {
      listed[slot].place = one.place;
    }
    listed[slot].from = wanted.place;
    HoldAnew(slot, wanted);
    if (closed_) return;
    if (newer) restarted.push_back(slot);
  }

  // Before the new ones, which take the slots.
  const SlotList held = table_->by_rank;
  for (const Slot slot : held) {
    if (listed[slot].place == kNowhere) Unlist(slot);
  }
  LeavingByHash leaving;
  if (!fresh.empty()) {
    for (auto at = leaving_.begin(); at != leaving_.end(); ++at) leaving.emplace(at->hash, at);
  }
  for (const Newest& one : fresh) {
    const Wanted& wanted = *one.wanted;
    const Slot slot = HoldNew(wanted, leaving);
    if (closed_) return;
    if (slot == kNoSlot) {
      skip(absl::StrCat("not referred yet: ", Shortened(wanted.original.Address()), ": ", retries_.at(wanted.key()).why));
      continue;
    }
    if (listed.size() <= slot) listed.resize(slot + 1);
    listed[slot] = {one.place, wanted.place};
  }

  std::vector<Slot> by_rank(list.size(), kNoSlot);
  std::vector<bool> used(list.size());
  for (Slot slot = 0; slot < listed.size(); ++slot) {
    if (listed[slot].place == kNowhere) continue;
    by_rank[listed[slot].place] = slot;
    used[listed[slot].from] = true;
  }
  std::erase(by_rank, kNoSlot);
  if (!std::equal(by_rank.begin(), by_rank.end(), table_->by_rank.begin(), table_->by_rank.end())) {
    Edit().by_rank = SlotList(by_rank);
  }
  unused_.clear();
  auto other = others.begin();
  for (std::size_t i = 0; i < list.size(); ++i) {
    while (other != others.end() && other->place < i) ++other;
    if (used[i]) continue;
    unused_.push_back({i, list[i], {}});
    if (other != others.end() && other->place == i) unused_.back().made = {other->effective, other->left_out};
  }
  std::erase_if(retries_, [this](const auto& entry) { return entry.second.applied != applied_; });
  shapes_.ForgetUnused();
  if (free_slots_.capacity() > 2 * free_slots_.size() + 64) free_slots_.shrink_to_fit();
  for (const Slot slot : restarted) AskNow(slot);
}

std::vector<Url> Endpoints::Disabled() const {
  std::vector<Url> disabled;
  for (const Unused& one : unused_) {
    if (!one.made.effective.empty() && IsDisabled(one.made.effective.parts())) disabled.push_back(one.original);
  }
  return disabled;
}

std::vector<Url> Endpoints::List() const {
  std::vector<Url> list;
  list.reserve(listed());
  auto unused = unused_.begin();
  auto rank = table_->by_rank.begin();
  while (list.size() < listed()) {
    if (unused != unused_.end() && unused->place == list.size()) {
      list.push_back((unused++)->original);
    } else {
      list.push_back(ProviderIn(*rank++).original);
    }
  }
  return list;
}

std::vector<Url> Endpoints::UnusedList() const {
  std::vector<Url> list;
  list.reserve(unused_.size());
  for (const Unused& unused : unused_) list.push_back(unused.original);
  return list;
}

// Of a connection that is not held: kNoSlot when it cannot be made, now or before the next attempt is due.
Slot Endpoints::HoldNew(const Wanted& wanted, LeavingByHash& leaving) {
  if (!retries_.empty()) {
    if (const auto retry = retries_.find(wanted.key()); retry != retries_.end()) {
      retry->second.applied = applied_;
      const bool again = wanted.original.timestamp_ms() > retry->second.timestamp_ms;
      if (again) retry->second.backoff.Reset();
      if (retry->second.timer.armed() && !again) return kNoSlot;
    }
  }
  const Slot slot = Revive(wanted, leaving);
  return slot != kNoSlot ? slot : Refer(wanted);
}

Slot Endpoints::HoldState(InvokerState& state, const Wanted& wanted) {
  const Slot slot = TakeSlot();
  InvokerTable& table = Edit();
  if (table.states.size() <= slot) {
    table.states.resize(slot + 1, nullptr);
    table.invokers.resize(slot + 1, nullptr);
  }
  table.states[slot] = &state;
  table.invokers[slot] = &state.invoker();
  state.SetSlot(slot);
  Hold(slot, wanted);
  by_connection_->Add(slot);
  valid_.Add(slot);
  return slot;
}

// The same connection, maybe with other parameters.
void Endpoints::HoldAnew(Slot slot, const Wanted& wanted) {
  const Provider& now = ProviderIn(slot);
  if (now.effective == wanted.effective && now.original == wanted.original &&
      now.original.timestamp_ms() == wanted.original.timestamp_ms()) {
    if (!now.original.Is(wanted.original)) Assign(slot, wanted);  // so that it is found next time
    return;
  }
  Hold(slot, wanted);
  TellUpdated(slot);
}

void Endpoints::TellUpdated(Slot slot) {
  const Url effective = ProviderIn(slot).effective;
  CallHost([&, &state = StateIn(slot)] { state.invoker().Updated(effective); },
           [this](std::string_view text) {
             config_.log->Error("FL-3-2", config_.service, absl::StrCat("Invoker::Updated threw: ", ToAbsl(text)));
           });
}

Slot Endpoints::Revive(const Wanted& wanted, LeavingByHash& leaving) {
  const auto [begin, end] = leaving.equal_range(wanted.connection().Hash());
  for (auto at = begin; at != end; ++at) {
    const Url& effective = at->second->effective;
    if (Connection{effective.host(), effective.port_as_written(), TransportKey(effective.common())} != wanted.connection()) {
      continue;
    }
    InvokerState* state = at->second->state;
    leaving_.erase(at->second);
    leaving.erase(at);
    state->SetDraining(false);
    const Slot slot = HoldState(*state, wanted);
    TellUpdated(slot);  // its parameters may have changed while it was away
    if (closed_) return slot;
    Follow(slot);
    AskNow(slot);
    return slot;
  }
  return kNoSlot;
}

Slot Endpoints::Refer(const Wanted& wanted) {
  const auto id = static_cast<ProviderId>(next_id_++);
  auto* state = new InvokerState(id, nullptr, feed_);
  Availability report([state = StateRef(*state)](bool up) { state->Report(up); });
  absl::StatusOr<std::unique_ptr<Invoker>> invoker = nullptr;
  CallHost([&] { invoker = config_.protocol->Refer(wanted.effective, std::move(report)); },
           [&](std::string_view text) {
             invoker = absl::InternalError(absl::StrCat("Protocol::Refer threw: ", ToAbsl(text)));
           });
  if (invoker.ok() && *invoker == nullptr) invoker = absl::InternalError("Protocol::Refer returned no invoker");
  if (closed_) {
    if (invoker.ok()) {
      state->SetInvoker(*std::move(invoker));
      Destroy(*state);
    }
    state->Abandon();
    return kNoSlot;
  }
  if (!invoker.ok()) {
    state->Abandon();
    const std::string key = wanted.key();
    ReferLater(wanted, key, Shortened(FromAbsl(invoker.status().ToString())));
    WarnOf("FL-3-1", retries_.size(), key,
           absl::StrCat("no invoker for ", Shortened(wanted.original.ToString()), ", tried again later: ",
                        invoker.status().ToString()));
    return kNoSlot;
  }
  if (!retries_.empty()) retries_.erase(wanted.key());
  state->SetInvoker(*std::move(invoker));
  const Slot slot = HoldState(*state, wanted);
  Follow(slot);
  return slot;
}

// Each bad provider gets lines of its own, unless too many are bad at a time: the rest share one subject.
void Endpoints::WarnOf(std::string_view code, std::size_t bad, std::string_view input, std::string_view text) const {
  if (bad <= Logger::kMostOfEach) return config_.log->WarnOf(code, config_.service, input, text);
  config_.log->Warn(code, config_.service, text);
}

void Endpoints::ReferLater(const Wanted& wanted, const std::string& key, std::string why) {
  Retry& retry =
      retries_
          .try_emplace(key, Retry{Backoff(milliseconds(100), milliseconds(500), milliseconds(30000)), Timer(), {}, 0, 0})
          .first->second;
  retry.why = std::move(why);
  retry.timestamp_ms = wanted.original.timestamp_ms();
  retry.applied = applied_;
  retry.timer = config_.executor->After(retry.backoff.Next(random_), [alive = weak_from_this(), key] {
    const auto self = alive.lock();
    if (self == nullptr || self->closed_) return;
    const auto at = self->retries_.find(key);
    if (at == self->retries_.end()) return;
    at->second.timer = Timer();
    // Apply finds the key without a pending timer and refers it again.
    self->config_.on_retry();
  });
}

Slot Endpoints::TakeSlot() {
  if (free_slots_.empty()) return next_slot_++;
  const Slot slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

std::shared_ptr<const InvokerTable> Endpoints::Table() {
  const std::int64_t now = config_.clock->SystemMillis();
  if (now < weighed_ms_) {
    // The wall clock was set back: those that were warm may be young again.
    for (const Slot slot : table_->by_rank) warming_.Add(slot);
  }
  weighed_ms_ = now;
  next_weight_change_ = 0;
  InvokerSet warm;
  warming_.ForEach([&](Slot slot) {
    const Url& effective = ProviderIn(slot).effective;
    const std::int32_t weight = EffectiveWeight(effective, {}, now);
    const std::int64_t change = NextWeightChange(effective, now);
    if (change <= now) {
      warm.Add(slot);
    } else if (next_weight_change_ == 0 || change < next_weight_change_) {
      next_weight_change_ = change;
    }
    if (weight != table_->weights[slot]) Edit().weights.Set(slot, weight);
  });
  warming_ -= warm;
  if (!std::exchange(shown_, true)) {
    // It stays as it is for long, with the room that it grew by.
    table_->states.shrink_to_fit();
    table_->invokers.shrink_to_fit();
    table_->weights.Trim(table_->states.size());
  }
  return table_;
}

InvokerSet Endpoints::Valid() {
  // A report may be ahead of its message, and has been counted.
  for (const StateRef& state : feed_->Take()) {
    state->Heard();
    if (!closed_ && state->slot() != kNoSlot) Follow(state->slot());
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

}  // namespace fairlead::internal
