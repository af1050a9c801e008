#include "fairlead/registry/redis/redis_backend.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/random.h"
#include "fairlead/base/strings.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStopLimit{1000};

}  // namespace

RedisBackend::RedisBackend(RedisOptions options, const RegistryContext& context, RedisDialer dial)
    : options_(std::move(options)), context_(context), process_(getpid()), dial_(std::move(dial)) {
  keeper_ = std::make_unique<RedisKeeper>(options_, context_);
  watches_ = std::make_unique<RedisWatches>(options_, context_, Mix64(context_.seed), [this] {
    if (*alive_ && on_description_change_) on_description_change_();
  });
}

RedisBackend::~RedisBackend() {
  *alive_ = false;
  if (CheckProcess().ok()) {
    for (const auto& link : links_) link->Close();
    return;
  }
  // Their ends would reach the parent's descriptors, or a lock that a thread holds which is not here.
  for (auto& link : links_) static_cast<void>(link.release());
  static_cast<void>(keeper_.release());
  static_cast<void>(watches_.release());
}

absl::Status RedisBackend::CheckProcess() const {
  if (getpid() == process_) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("Redis registry ", options_.address, ": the process was forked; make a new registry here"));
}

void RedisBackend::Post(absl::AnyInvocable<void()> task) {
  context_.executor->Post([alive = std::weak_ptr<bool>(alive_), task = std::move(task)]() mutable {
    if (const auto now = alive.lock(); now != nullptr && *now) task();
  });
}

// Answers with what is wrong, later, instead of the work.
template <class Answer>
bool RedisBackend::Refuses(Answer& answer) {
  absl::Status status = CheckProcess();
  if (status.ok()) return false;
  Post([answer = std::move(answer), status = std::move(status)]() mutable {
    if constexpr (std::is_same_v<Answer, Done>) {
      if (answer) answer(std::move(status));
    } else {
      answer({.status = std::move(status)});
    }
  });
  return true;
}

void RedisBackend::Start(absl::AnyInvocable<void(Session)> on_session) {
  on_session_ = std::move(on_session);
  if (dial_ == nullptr) {
    absl::StatusOr<std::unique_ptr<RedisIo>> io = RedisIo::Start(*context_.executor);
    if (!io.ok()) {
      context_.log->Error("FL-6-1", options_.address, absl::StrCat(io.status().ToString(), "; trying again"));
      start_error_ = io.status();
      beat_ = context_.executor->After(options_.reconnect_period, [this, on_session = std::move(on_session_)]() mutable {
        Start(std::move(on_session));
      });
      return;
    }
    start_error_ = absl::OkStatus();
    io_ = *std::move(io);
    dial_ = [this](const RedisServer& server, RedisStream::Events& events) { return io_->Dial(server, events); };
  }
  RedisLink::Observer& self = *this;
  std::uint64_t seed = context_.seed;
  for (const RedisServer& server : options_.servers) {
    seed = Mix64(seed);
    links_.push_back(std::make_unique<RedisLink>(options_, server, context_, seed, dial_, self));
  }
  for (const auto& link : links_) link->Start();
  BeatLater();
}

RedisKeeper::Links RedisBackend::Writable() const {
  if (options_.cluster == RedisOptions::Cluster::kFailover) {
    return current_ == nullptr ? RedisKeeper::Links() : RedisKeeper::Links{current_};
  }
  RedisKeeper::Links links;
  for (const auto& link : links_) {
    if (link->up()) links.push_back(link.get());
  }
  return links;
}

// The first that works, as all clients with this list of servers do; where all servers have the same, the one in use. At
// the start those before it are waited for, or a session would begin at whichever is quicker.
RedisLink* RedisBackend::Best() const {
  if (options_.cluster == RedisOptions::Cluster::kReplicate && current_ != nullptr && current_->up()) return current_;
  RedisLink* replica = nullptr;
  for (const auto& link : links_) {
    if (absl::IsCancelled(link->trouble())) return nullptr;
    if (!link->up()) continue;
    if (!link->replica()) return link.get();
    if (replica == nullptr) replica = link.get();
  }
  return replica;
}

void RedisBackend::OnUp(RedisLink& link) {
  if (stopped_) return;
  keeper_->CatchUp(link);
  RedisLink* const best = Best();
  if (best == nullptr) return;
  if (best != current_ || state_ != State::kUp) return SwitchTo(*best);
  if (options_.cluster == RedisOptions::Cluster::kReplicate) {
    runs_[&link] = link.run_id();
    keeper_->Extend(link, true);
  }
}

void RedisBackend::OnDown(RedisLink& link) {
  if (stopped_ || &link != current_) return;
  RedisLink* const best = Best();
  if (best != nullptr) return SwitchTo(*best);
  Suspend();
}

void RedisBackend::OnNoConnection(RedisLink& link) {
  if (stopped_) return;
  if (state_ == State::kNone) TellTrouble(link);
  const bool refused = !Refusal().ok();
  if (std::exchange(refused_, refused) != refused && on_description_change_) on_description_change_();
}

// Those who wait for a first answer are told why there is none; later they know that the session is suspended or over.
void RedisBackend::TellTrouble(const RedisLink& link) {
  if (RedisLink* const best = Best()) return SwitchTo(*best);
  for (const auto& one : links_) {
    if (absl::IsCancelled(one->trouble())) return;
  }
  watches_->SetTrouble(link.trouble());
}

absl::Status RedisBackend::Refusal() const {
  const auto refused = [](const auto& link) { return link->refused(); };
  if (links_.empty() || !std::all_of(links_.begin(), links_.end(), refused)) return absl::OkStatus();
  return links_.front()->trouble();
}

bool RedisBackend::HasOurData(const RedisLink& link) const {
  if (link.run_id().empty()) return false;
  const auto at = runs_.find(&link);
  return at != runs_.end() && at->second == link.run_id();
}

void RedisBackend::SwitchTo(RedisLink& link) {
  session_end_.Cancel();
  const bool first = generation_ == 0;
  const bool same = !first && state_ != State::kOver && HasOurData(link);
  if (!same && !first && state_ != State::kOver) {
    EndSession();
    if (stopped_) return;
  } else if (state_ == State::kUp) {
    // What the former server owed will not come.
    Tell(Session::kSuspended);
    if (stopped_) return;
  }
  // Everybody's extensions were due meanwhile, if it was the server that was away: those who come back first are not all.
  const bool lapsed =
      state_ == State::kSuspended && context_.clock->SteadyNow() - unheard_since_ >= options_.session / 2;
  current_ = &link;
  state_ = State::kUp;
  refused_ = false;
  if (!same) {
    ++generation_;
    runs_.clear();
  }
  for (RedisLink* const one : Writable()) runs_[one] = one->run_id();
  watches_->Use(&link, (!same && !first) || lapsed);
  Tell(first ? Session::kConnected : same ? Session::kReconnected : Session::kNew);
  if (stopped_ || !same) return;
  // Some of it may have expired.
  for (RedisLink* const one : Writable()) keeper_->Extend(*one, false);
}

void RedisBackend::Suspend() {
  unheard_since_ = context_.clock->SteadyNow();
  // It was silent for so long before it was given up.
  if (absl::IsDeadlineExceeded(current_->trouble())) unheard_since_ -= options_.answer_timeout;
  current_ = nullptr;
  state_ = State::kSuspended;
  watches_->Use(nullptr, false);
  session_end_ = context_.executor->After(options_.session, [this] { EndSession(); });
  Tell(Session::kSuspended);
}

void RedisBackend::EndSession() {
  state_ = State::kOver;
  current_ = nullptr;
  keeper_->Forget();
  Tell(Session::kExpired);
}

void RedisBackend::Tell(Session session) {
  if (!stopped_) on_session_(session);
}

void RedisBackend::OnMessage(RedisLink& link, const std::string& channel, const std::string& payload) {
  if (&link == current_ && !stopped_) watches_->OnMessage(channel, payload);
}

void RedisBackend::BeatLater() {
  const milliseconds period = std::max(options_.session / 2, milliseconds(1));
  beat_ = context_.executor->After(period, [this] {
    BeatLater();
    for (RedisLink* const link : Writable()) {
      keeper_->Extend(*link, false);
      if (watches_->watches_services()) keeper_->Clean(*link);
    }
  });
}

std::string RedisBackend::ListKey(std::string_view service, Category category) const {
  return RedisCategoryKey(options_.root, service, CategoryName(category));
}

void RedisBackend::Put(std::string_view service, Category category, std::string_view url_text, bool dynamic,
                       Done done) {
  if (Refuses(done)) return;
  keeper_->Put(Writable(), ListKey(service, category), std::string(url_text), dynamic, std::move(done));
}

void RedisBackend::Remove(std::string_view service, Category category, std::string_view url_text, Done done) {
  if (Refuses(done)) return;
  keeper_->Remove(Writable(), ListKey(service, category), std::string(url_text), std::move(done));
}

RedisWatches::Told RedisBackend::TellChildren(fairlead::Children children) const {
  return [this, children = std::move(children)](RedisWatches::Found found) mutable {
    ChildrenAnswer answer;
    answer.generation = generation_;
    answer.status = std::move(found.status);
    answer.missing = found.missing;
    answer.children = std::move(found.names);
    children(std::move(answer));
  };
}

void RedisBackend::Read(std::string_view service, Category category, fairlead::Children once) {
  auto tell = TellChildren(std::move(once));
  if (Refuses(tell)) return;
  watches_->ReadOnce(ListKey(service, category), std::move(tell));
}

void RedisBackend::Watch(std::string_view service, Category category, fairlead::Children on_full_list) {
  auto tell = TellChildren(std::move(on_full_list));
  if (Refuses(tell)) return;
  std::optional<BurstWindow::Limits> burst;
  // Rules are few and decide where calls go: they do not wait.
  if (category == Category::kProviders || category == Category::kConsumers) burst = options_.burst;
  watches_->Add(RedisWatches::Kind::kList, ListKey(service, category), burst, std::move(tell));
}

void RedisBackend::Unwatch(std::string_view service, Category category) {
  if (CheckProcess().ok()) watches_->Remove(RedisWatches::Kind::kList, ListKey(service, category));
}

void RedisBackend::WatchServices(Names on_names) {
  RedisWatches::Told tell = [told = false, on_names = std::move(on_names)](RedisWatches::Found found) mutable {
    if (!found.status.ok()) return on_names(std::move(found.status));
    // All gone at once is a wipe, which takes no service away; each service's own list says what became of it.
    if (std::exchange(told, true) && found.names.empty()) return;
    on_names(std::move(found.names));
  };
  if (Refuses(tell)) return;
  watches_->Add(RedisWatches::Kind::kServices, options_.root, options_.burst, std::move(tell));
}

void RedisBackend::UnwatchServices() {
  if (CheckProcess().ok()) watches_->Remove(RedisWatches::Kind::kServices, options_.root);
}

void RedisBackend::WatchConfig(std::string_view group, std::string_view key, ConfigValue on_value) {
  RedisWatches::Told tell = [told = std::optional<std::optional<std::string>>(),
                             on_value = std::move(on_value)](RedisWatches::Found found) mutable {
    if (!found.status.ok()) return on_value(std::move(found.status));
    // The same text again (a message about nothing new, a new connection) is no news.
    if (told.has_value() && *told == found.data) return;
    told.emplace(found.data);
    on_value(std::move(found.data));
  };
  if (Refuses(tell)) return;
  watches_->Add(RedisWatches::Kind::kDocument, RedisConfigKey(options_.root, group, key), std::nullopt,
                std::move(tell));
}

void RedisBackend::UnwatchConfig(std::string_view group, std::string_view key) {
  if (CheckProcess().ok()) {
    watches_->Remove(RedisWatches::Kind::kDocument, RedisConfigKey(options_.root, group, key));
  }
}

std::string RedisBackend::Describe() const {
  std::string text = absl::StrCat(options_.address, ", ");
  if (!CheckProcess().ok()) return absl::StrCat(text, "forked, not usable");
  if (stopped_) return absl::StrCat(text, "stopped");
  if (!start_error_.ok()) return absl::StrCat(text, start_error_.ToString());
  absl::StrAppend(&text, state_ == State::kUp          ? absl::StrCat("session ", generation_, " at ",
                                                                      current_->server().address)
                         : state_ == State::kSuspended ? "suspended"
                         : state_ == State::kOver      ? "session over"
                                                       : "no session yet");
  for (const auto& link : links_) absl::StrAppend(&text, ", ", link->Describe());
  return text;
}

void RedisBackend::Stop(Done done) {
  if (absl::Status status = CheckProcess(); !status.ok()) {
    stopped_ = true;
    context_.executor->Post([done = std::move(done), status = std::move(status)]() mutable {
      if (done) done(std::move(status));
    });
    return;
  }
  stopping_.push_back(std::move(done));
  if (std::exchange(stopped_, true)) {
    // Already over, or it answers with the first.
    if (links_.empty() || !*alive_) {
      context_.executor->Post([alive = std::weak_ptr<bool>(alive_), this] {
        if (!alive.expired()) FinishStop(absl::OkStatus());
      });
    }
    return;
  }
  session_end_.Cancel();
  beat_.Cancel();
  watches_->Use(nullptr, false);
  // What waits for nobody's answer, so that readers need not wait for the expiry. The last answer ends the session.
  const auto all_done = std::shared_ptr<void>(nullptr, [alive = std::weak_ptr<bool>(alive_), this](void*) {
    context_.executor->Post([alive, this] {
      if (!alive.expired()) FinishStop(absl::OkStatus());
    });
  });
  for (RedisLink* const link : Writable()) {
    for (const auto& [key, field] : keeper_->Dynamic()) {
      link->Command(RedisDeleteCommand(key, field), nullptr);
      link->Command(RedisPublishCommand(key, kRedisUnregister), [all_done](const RedisReply&) {});
    }
    // Whatever was asked before is answered before.
    link->Command({"PING"}, [all_done](const RedisReply&) {});
  }
  stop_limit_ = context_.executor->After(kStopLimit, [this] {
    FinishStop(absl::DeadlineExceededError(absl::StrCat("Redis registry ", options_.address, " did not answer within ",
                                                        kStopLimit.count(),
                                                        " ms; what this process registered expires by itself")));
  });
}

void RedisBackend::FinishStop(const absl::Status& status) {
  if (stopping_.empty()) return;
  stop_limit_.Cancel();
  *alive_ = false;
  current_ = nullptr;
  for (const auto& link : links_) link->Close();
  links_.clear();
  io_.reset();
  // Each may destroy the backend.
  for (Done& done : std::exchange(stopping_, {})) {
    if (done) done(status);
  }
}

}  // namespace fairlead::internal
