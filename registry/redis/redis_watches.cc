#include "fairlead/registry/redis/redis_watches.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "fairlead/base/hash.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/redis/redis_reads.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;

// Paces the thousands of reads that follow a new connection.
constexpr std::size_t kMostReads = 128;
constexpr std::size_t kMostSkipped = 100;
constexpr std::string_view kHeldBack =
    "the server lost entries or could not be reached, and not all are back; the list before stays for now";

std::vector<std::uint64_t> HashesOf(const std::vector<std::string>& names) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(names.size());
  for (const std::string& name : names) hashes.push_back(HashBytes(name));
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

}  // namespace

RedisWatches::Entry::Entry(Kind its_kind, std::string its_key, std::optional<BurstWindow::Limits> limits,
                           Told its_told, milliseconds session)
    : kind(its_kind),
      key(std::move(its_key)),
      told(std::move(its_told)),
      fields(session),
      backoff(milliseconds(100), milliseconds(500), milliseconds(30000)) {
  if (limits) burst.emplace(*limits);
}

RedisWatches::RedisWatches(const RedisOptions& options, const RegistryContext& context, std::uint64_t seed,
                           absl::AnyInvocable<void()> on_skipped)
    : options_(options), context_(context), random_(seed), on_skipped_(std::move(on_skipped)) {}

RedisWatches::~RedisWatches() {
  for (const auto& [key, entry] : entries_) entry->removed = true;
}

template <class F>
RedisLink::Answer RedisWatches::Guarded(F f) {
  return [era = std::weak_ptr<int>(era_), f = std::move(f)](RedisReply reply) mutable {
    if (!era.expired()) f(std::move(reply));
  };
}

template <class F>
Timer RedisWatches::After(std::chrono::nanoseconds delay, F f) {
  return context_.executor->After(delay, std::move(f));
}

// By the clock that says later, a field expires at the earlier of two times: where clocks differ, the one that keeps it.
std::int64_t RedisWatches::Now() const {
  const milliseconds offset = link_ == nullptr ? milliseconds(0) : link_->clock_offset();
  return context_.clock->SystemMillis() + std::min<std::int64_t>(0, offset.count());
}

std::string RedisWatches::ChannelOf(const Entry& entry) const {
  return entry.kind == Kind::kServices ? RedisPrefixPattern(entry.key) : entry.key;
}

void RedisWatches::Add(Kind kind, const std::string& key, std::optional<BurstWindow::Limits> burst, Told told) {
  Remove(kind, key);
  auto entry = std::make_shared<Entry>(kind, key, burst, std::move(told), options_.session);
  entries_.emplace(std::pair(kind, key), entry);
  if (!trouble_.ok()) TellTrouble(entry);
  Subscribe(entry);
}

void RedisWatches::SetTrouble(absl::Status why) {
  if (trouble_ == why) return;
  trouble_ = std::move(why);
  for (const auto& [key, entry] : entries_) TellTrouble(entry);
}

void RedisWatches::TellTrouble(const EntryPtr& entry) {
  entry->look = After(std::chrono::nanoseconds(0), [this, entry] {
    if (!entry->removed && !trouble_.ok()) entry->told({.status = trouble_});
  });
}

void RedisWatches::Remove(Kind kind, const std::string& key) {
  const auto at = entries_.find({kind, key});
  if (at == entries_.end()) return;
  const EntryPtr entry = at->second;
  entries_.erase(at);
  entry->removed = true;
  entry->timer.Cancel();
  entry->look.Cancel();
  entry->settle.Cancel();
  SetBad(*entry, {});
  Unsubscribe(*entry);
}

bool RedisWatches::watches_services() const {
  const auto at = entries_.lower_bound({Kind::kServices, std::string()});
  return at != entries_.end();
}

void RedisWatches::Use(RedisLink* link, bool fresh) {
  if (link_ != nullptr && link_ != link && link_->up()) {
    for (const auto& [key, entry] : entries_) Unsubscribe(*entry);
  }
  link_ = link;
  trouble_ = absl::OkStatus();
  era_ = std::make_shared<int>(0);
  queue_.clear();
  reads_ = 0;
  if (fresh) settled_at_ = context_.clock->SteadyNow() + settle();
  for (const auto& [key, entry] : entries_) {
    entry->subscribed = entry->queued = entry->reading = entry->dirty = entry->read_here = false;
    entry->names_here.clear();
    entry->held_back = false;
    entry->timer.Cancel();
    entry->look.Cancel();
    entry->settle.Cancel();
  }
  if (link_ == nullptr) return;
  // A watcher may add and remove while it is told, which is always later.
  for (const auto& [key, entry] : entries_) Subscribe(entry);
}

void RedisWatches::Subscribe(const EntryPtr& entry) {
  if (link_ == nullptr) return;
  const auto answer = [this, entry](const RedisReply& reply) {
    if (entry->removed) return;
    if (reply.is_error()) return Fail(entry, RedisErrorStatus(reply, absl::StrCat("subscribing to ", entry->key)));
    entry->subscribed = true;
    Want(entry);
  };
  link_->Subscribe(ChannelOf(*entry), entry->kind == Kind::kServices, Guarded(answer));
}

void RedisWatches::Unsubscribe(Entry& entry) {
  // Two watches of different kinds may have one channel; what the other loses by that it would never hear of.
  const auto shares = [&](Kind kind) { return kind != entry.kind && entries_.contains({kind, entry.key}); };
  if (link_ == nullptr || (entry.kind != Kind::kServices && (shares(Kind::kList) || shares(Kind::kDocument)))) return;
  link_->Unsubscribe(ChannelOf(entry), entry.kind == Kind::kServices);
  entry.subscribed = false;
}

void RedisWatches::OnMessage(const std::string& channel, const std::string& payload) {
  OnEvent(Kind::kDocument, channel, payload);
  if (payload != kRedisRegister && payload != kRedisUnregister) return;
  OnEvent(Kind::kList, channel, payload);
  if (channel.starts_with(options_.root)) OnEvent(Kind::kServices, options_.root, payload);
}

void RedisWatches::OnEvent(Kind kind, const std::string& key, std::string_view payload) {
  const auto at = entries_.find({kind, key});
  if (at == entries_.end()) return;
  const EntryPtr& entry = at->second;
  if (payload == kRedisUnregister) entry->left = true;
  // A read that is under way may have been answered before the change.
  if (entry->reading) entry->dirty = true;
  if (!entry->subscribed || entry->queued || entry->reading) return;
  if (!entry->burst) return Want(entry);
  const auto wait = entry->burst->OnEvent(context_.clock->SteadyNow());
  if (!wait) return;
  if (wait->count() == 0) return Want(entry);
  entry->timer = After(*wait, [this, entry] { Want(entry); });
}

void RedisWatches::Want(const EntryPtr& entry) {
  entry->timer.Cancel();
  if (entry->removed || link_ == nullptr) return;
  if (!entry->subscribed) return Subscribe(entry);
  if (entry->queued || entry->reading) return;
  entry->queued = true;
  queue_.push_back(entry);
  Pump();
}

void RedisWatches::Pump() {
  while (reads_ < kMostReads && !queue_.empty() && link_ != nullptr && link_->up()) {
    const EntryPtr entry = std::move(queue_.front());
    queue_.pop_front();
    entry->queued = false;
    if (!entry->removed) Read(entry);
  }
}

void RedisWatches::Read(const EntryPtr& entry) {
  ++reads_;
  entry->reading = true;
  entry->dirty = false;
  entry->look.Cancel();
  if (entry->burst) entry->burst->OnRead(context_.clock->SteadyNow());
  switch (entry->kind) {
    case Kind::kDocument:
      return ReadDocument(entry);
    case Kind::kServices:
      return ReadServices(entry);
    case Kind::kList:
      return ReadRedisHash(*link_, entry->key,
                           [this, era = std::weak_ptr<int>(era_), entry](absl::StatusOr<std::vector<RedisReply>> hash) {
                             if (!era.expired()) OnHash(entry, std::move(hash));
                           });
  }
}

void RedisWatches::ReadServices(const EntryPtr& entry) {
  ScanRedisKeys(*link_, RedisPrefixPattern(entry->key),
                [this, era = std::weak_ptr<int>(era_), entry](absl::StatusOr<std::set<std::string>> keys) {
                  if (era.expired()) return;
                  EndRead(entry);
                  if (!keys.ok()) return Fail(entry, keys.status());
                  Found found;
                  for (const std::string& key : *keys) {
                    const auto service = RedisListedService(entry->key, key);
                    // Keys of one service stand together, as they are sorted, but for others between them.
                    if (service) found.names.emplace_back(*service);
                  }
                  std::sort(found.names.begin(), found.names.end());
                  found.names.erase(std::unique(found.names.begin(), found.names.end()), found.names.end());
                  if (!HoldsBack(entry, found.names)) Tell(entry, std::move(found));
                });
}

void RedisWatches::ReadDocument(const EntryPtr& entry) {
  const RedisWords command{"GETRANGE", entry->key, "0", std::to_string(kMostDocumentBytes)};
  link_->Command(command, Guarded([this, entry](RedisReply reply) {
    EndRead(entry);
    if (reply.is_error()) return Fail(entry, RedisErrorStatus(reply, absl::StrCat("reading ", entry->key)));
    if (reply.text.size() > kMostDocumentBytes) {
      return Fail(entry, absl::ResourceExhaustedError(absl::StrCat("Redis, reading ", entry->key, ": more than ",
                                                                   kMostDocumentBytes, " bytes")));
    }
    Found found;
    // An empty document is none.
    if (!reply.text.empty()) found.data = std::move(reply.text);
    Tell(entry, std::move(found));
  }));
}

void RedisWatches::OnHash(const EntryPtr& entry, absl::StatusOr<std::vector<RedisReply>> hash) {
  EndRead(entry);
  if (!hash.ok()) return Fail(entry, hash.status());
  if (entry->removed) return;
  NoticeLoss(*entry, hash->size() / 2);
  Found found;
  const bool nothing_there = hash->empty();
  if (nothing_there) {
    // The last field takes the key along, so that an empty hash and none at all look the same. Whoever unregisters says
    // so; a wipe does not.
    found.missing = !entry->left;
    SetBad(*entry, {});
  } else {
    RedisFields::Reading reading = entry->fields.Read(*std::move(hash), Now(), context_.clock->SteadyNow());
    if (reading.look_again) {
      const auto jitter = std::min<std::int64_t>(1000, options_.session.count() / 50);
      const milliseconds extra(static_cast<std::int64_t>(random_.Below(static_cast<std::uint64_t>(jitter) + 1)));
      entry->look = After(*reading.look_again + extra, [this, entry] { Want(entry); });
    }
    for (const std::string& late : reading.late) {
      context_.log->WarnOf("FL-6-4", entry->key, late,
                           absl::StrCat(late, " was extended after it had expired: its owner's clock is behind, or it "
                                              "was held up; it stays a period longer than it says from now on"));
    }
    SetBad(*entry, std::move(reading.bad));
    found.names = std::move(reading.live);
  }
  NoticeDepartures(*entry, found.names);
  if (!nothing_there) entry->left = false;
  if (HoldsBack(entry, found.names)) return;
  Tell(entry, std::move(found));
}

// Until their next extension; but where sessions are short, connecting again and beginning somewhere within the second that
// follows takes longer.
milliseconds RedisWatches::settle() const {
  return std::max(options_.session / 2 + options_.session / 8, 2 * options_.reconnect_period + milliseconds(1000));
}

// Whoever unregisters or cleans says so; fields that expired still stand there. What was not heard of because there was no
// connection is no loss.
void RedisWatches::NoticeLoss(Entry& entry, std::size_t fields) {
  const bool heard_all = std::exchange(entry.read_here, true);
  const std::size_t before = std::exchange(entry.fields_here, fields);
  // The word may come after the reading.
  if (entry.left && std::exchange(entry.lost, false)) entry.settled_at = {};
  if (!heard_all || entry.left || entry.lost || fields >= before) return;
  entry.lost = true;
  entry.settled_at = context_.clock->SteadyNow() + settle();
}

// Those that stood here and went with a word are not waited for.
void RedisWatches::NoticeDepartures(Entry& entry, const std::vector<std::string>& names) {
  std::vector<std::uint64_t> now = HashesOf(names);
  if (entry.left) {
    std::vector<std::uint64_t> gone, awaited;
    std::set_difference(entry.names_here.begin(), entry.names_here.end(), now.begin(), now.end(), std::back_inserter(gone));
    std::set_difference(entry.told_names.begin(), entry.told_names.end(), gone.begin(), gone.end(),
                        std::back_inserter(awaited));
    entry.told_names = std::move(awaited);
  }
  entry.names_here = std::move(now);
}

// On a server that took another's place, or lost its data, the providers come back one by one, within half a session;
// the first of them alone would get everybody's calls. None at all is the concern of those who are told.
bool RedisWatches::Lacks(const Entry& entry, const std::vector<std::string>& names) const {
  if (context_.clock->SteadyNow() >= std::max(settled_at_, entry.settled_at) || names.empty()) return false;
  const std::vector<std::uint64_t> hashes = HashesOf(names);
  return !std::includes(hashes.begin(), hashes.end(), entry.told_names.begin(), entry.told_names.end());
}

bool RedisWatches::HoldsBack(const EntryPtr& entry, const std::vector<std::string>& names) {
  const bool holds = Lacks(*entry, names);
  if (std::exchange(entry->held_back, holds) != holds) {
    if (holds) context_.log->Info("FL-6-9", entry->key, std::string(kHeldBack));
    on_skipped_();
  }
  if (holds) {
    const auto until_settled = std::max(settled_at_, entry->settled_at) - context_.clock->SteadyNow();
    entry->settle = After(until_settled, [this, entry] { Want(entry); });
    return true;
  }
  if (names.empty()) return false;
  entry->told_names = HashesOf(names);
  entry->lost = false;
  return false;
}

void RedisWatches::EndRead(const EntryPtr& entry) {
  entry->reading = false;
  --reads_;
  if (std::exchange(entry->dirty, false)) OnEvent(entry->kind, entry->key, {});
  Pump();
}

void RedisWatches::Tell(const EntryPtr& entry, Found found) {
  if (entry->removed) return;
  entry->backoff.Reset();
  entry->told(std::move(found));
}

void RedisWatches::Fail(const EntryPtr& entry, absl::Status status) {
  if (entry->removed) return;
  RetryLater(entry);
  entry->told({.status = std::move(status)});
}

void RedisWatches::RetryLater(const EntryPtr& entry) {
  entry->look = After(entry->backoff.Next(random_), [this, entry] { Want(entry); });
}

void RedisWatches::ReadOnce(const std::string& key, Told told) {
  if (link_ == nullptr) return;
  ReadRedisHash(*link_, key,
                [this, era = std::weak_ptr<int>(era_), key, told = std::move(told)](
                    absl::StatusOr<std::vector<RedisReply>> hash) mutable {
                  if (era.expired()) return;
                  if (!hash.ok()) return told({.status = hash.status()});
                  const bool missing = hash->empty();
                  // As a watch of it sees it, or the two would contradict each other.
                  const auto at = entries_.find({Kind::kList, key});
                  RedisFields fields = at == entries_.end() ? RedisFields(options_.session) : at->second->fields;
                  auto reading = fields.Read(*std::move(hash), Now(), context_.clock->SteadyNow());
                  if (at != entries_.end() && Lacks(*at->second, reading.live)) {
                    return told({.status = absl::UnavailableError(
                                     absl::StrCat(key, ": those who register are still coming back"))});
                  }
                  told({.missing = missing, .names = std::move(reading.live)});
                });
}

void RedisWatches::SetBad(Entry& entry, std::vector<std::string> bad) {
  if (entry.bad == bad) return;
  context_.log->WarnOfEach("FL-6-5", entry.key, bad);
  entry.bad = std::move(bad);
  on_skipped_();
}

std::vector<std::string> RedisWatches::Skipped() const {
  std::vector<std::string> all;
  for (const auto& [key, entry] : entries_) {
    if (all.size() < kMostSkipped && entry->held_back) all.push_back(absl::StrCat(entry->key, ": ", ToAbsl(kHeldBack)));
    for (const std::string& one : entry->bad) {
      if (all.size() == kMostSkipped) return all;
      all.push_back(absl::StrCat(entry->key, ": ", one));
    }
  }
  return all;
}

}  // namespace fairlead::internal
