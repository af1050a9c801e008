#include "fairlead/registry/failback_registry.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/cache_file.h"
#include "fairlead/registry/cached_lists.h"
#include "fairlead/registry/list_cache.h"
#include "fairlead/registry/lookup_table.h"
#include "fairlead/registry/registration_table.h"
#include "fairlead/registry/registry_environment.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/registry/subscription_table.h"

namespace fairlead {
namespace {

// A registry that restarts is met by all its clients at once; each begins somewhere within this time.
constexpr std::chrono::milliseconds kRejoinSpread{1000};
// For so long the Logger holds back what it has just said.
constexpr std::chrono::minutes kRepeatsHeldBack{1};

// The end of a trouble is not one more like it, or it would be held back.
constexpr std::string_view kLinkLost = "FL-1-5", kLinkBack = "FL-1-11";

RegistryState StateAfter(RegistryBackend::Session session) {
  using Session = RegistryBackend::Session;
  if (session == Session::kSuspended) return RegistryState::kSuspended;
  return session == Session::kExpired ? RegistryState::kExpired : RegistryState::kConnected;
}

}  // namespace

std::string_view RegistryStateName(RegistryState state) {
  switch (state) {
    case RegistryState::kConnecting:
      return "connecting";
    case RegistryState::kConnected:
      return "connected";
    case RegistryState::kSuspended:
      return "suspended";
    case RegistryState::kExpired:
      return "expired";
    case RegistryState::kDestroyed:
      return "destroyed";
  }
  return "unknown";
}

// The registry's state. Every queued task and callback holds it (or watches it), so that the handle can be
// dropped anywhere, also inside a callback.
class FailbackRegistry::Core final : public std::enable_shared_from_this<Core> {
 public:
  Core(const Url& registry_url, std::unique_ptr<RegistryBackend> backend, RegistryContext context)
      : registrations_(env_), subscriptions_(env_), lookups_(env_) {
    env_.context = std::move(context);
    env_.backend = std::move(backend);
    env_.random = Random(Mix64(env_.context.seed));
    absl::StatusOr<RegistryOptions> options = RegistryOptions::Parse(registry_url);
    if (!options.ok()) {
      env_.options.address = registry_url.Address();
      env_.context.log->Error(
          "FL-1-6", env_.options.address,
          absl::StrCat(options.status().message(), "; all parameters have their defaults"));
    } else {
      env_.options = *std::move(options);
    }
  }

  void Start(std::string cache_file) {
    env_.self = weak_from_this();
    env_.link_lost_at = env_.Now();
    if (!cache_file.empty()) {
      cache_ = std::make_unique<internal::ListCache>(env_, std::move(cache_file));
      env_.cache = cache_.get();
      cache_->Start([this] {
        if (env_.destroyed) return;
        subscriptions_.OnCacheLoaded();
        TellRefusal();
      });
    }
    env_.backend->OnDescriptionChange(env_.Guarded([this] {
      if (env_.destroyed) return;
      subscriptions_.TellOfRegistry();
      TellRefusal();
    }));
    env_.backend->Start(env_.Guarded([this](RegistryBackend::Session session) { OnSession(session); }));
  }

  void Register(const Url& url, const RegistryCallOptions& call, Done done) {
    if (Refuses(done)) return;
    registrations_.Register(url, call, std::move(done));
    TellRefusal();
  }
  void Unregister(const Url& url, Done done) {
    if (Refuses(done)) return;
    registrations_.Unregister(url, env_.options, std::move(done));
  }
  void Subscribe(const Url& consumer, const RegistryCallOptions& call, std::shared_ptr<NotifyListener> listener,
                 Done first_notified) {
    if (Refuses(first_notified)) return;
    subscriptions_.Subscribe(consumer, call, std::move(listener), std::move(first_notified));
    TellRefusal();
  }
  void Unsubscribe(const Url& consumer, const std::shared_ptr<NotifyListener>& listener) {
    subscriptions_.Unsubscribe(consumer, listener);
  }
  void Lookup(const Url& query, internal::LookupTable::Found done) {
    lookups_.Lookup(query, std::move(done));
  }
  void Destroy(Done done);

  RegistryState state() const { return env_.destroyed ? RegistryState::kDestroyed : env_.state; }
  std::string Describe() const;
  RegistryStatus status() const;
  std::vector<std::string> Unreadable(const std::string& service) const {
    return WithSkipped(subscriptions_.watches().UnreadableOf(service));
  }
  RegistryBackend& backend() { return *env_.backend; }
  internal::RegistryEnvironment& env() { return env_; }

 private:
  bool Refuses(Done& done);
  // To those who wait, as waiting is of no use.
  void TellRefusal();
  std::vector<std::string> WithSkipped(std::vector<std::string> unreadable) const;
  std::chrono::nanoseconds StaleFor() const;
  std::size_t RetriesPending() const { return registrations_.retries_pending() + subscriptions_.retries_pending(); }
  void OnSession(RegistryBackend::Session session);
  // Logs what became of the session, so that the log's last line about it is true, however often it changes.
  void SayLink(Severity severity, std::string_view code, std::string_view text);
  void Rejoin();
  void StopBackend();
  void OnStopped(const absl::Status& status);
  void EndIfOver();

  internal::RegistryEnvironment env_;
  std::unique_ptr<internal::ListCache> cache_;
  internal::RegistrationTable registrations_;
  internal::SubscriptionTable subscriptions_;
  internal::LookupTable lookups_;
  Timer rejoin_;
  std::map<std::string_view, Clock::SteadyTime> link_said_;  // by code
  Timer say_link_;
  Timer farewell_;
  bool stopping_ = false;
  bool backend_stopped_ = false;
  bool flushing_ = false;
  bool stopped_ = false;
  std::shared_ptr<const std::size_t> left_;  // urls that the end may leave behind
  absl::Status destroy_status_;
  std::vector<Done> destroy_done_;
};

bool FailbackRegistry::Core::Refuses(Done& done) {
  if (!env_.destroyed) return false;
  env_.PostAnswer(std::move(done),
                  absl::CancelledError(absl::StrCat("registry ", env_.options.address, " was destroyed")));
  return true;
}

void FailbackRegistry::Core::TellRefusal() {
  if (const absl::Status why = env_.Refusal(); !why.ok()) {
    registrations_.OnRefused(why);
    subscriptions_.OnRefused(why);
  }
}

void FailbackRegistry::Core::OnSession(RegistryBackend::Session session) {
  using Session = RegistryBackend::Session;
  if (env_.destroyed) return;
  const bool was_connected = env_.connected();
  env_.state = StateAfter(session);
  if (was_connected && !env_.connected()) env_.link_lost_at = env_.Now();
  // The watches went with the old session: until each has its answer, nobody knows what they missed.
  if (session == Session::kNew) subscriptions_.Outdate(was_connected ? env_.Now() : env_.link_lost_at);
  subscriptions_.TellOfRegistry();
  switch (session) {
    case Session::kConnected:
      registrations_.Retry();
      break;
    case Session::kSuspended:
      SayLink(Severity::kWarning, kLinkLost, "connection lost; the last lists stay in use");
      return;
    case Session::kReconnected:
      SayLink(Severity::kInfo, kLinkBack, "connected again, in the same session");
      registrations_.OnReconnected();
      Rejoin();
      break;
    case Session::kExpired:
      SayLink(Severity::kWarning, kLinkLost, "session expired; what was registered is gone until the next session");
      registrations_.OnExpired();
      return;
    case Session::kNew:
      SayLink(Severity::kInfo, kLinkBack, "new session; everything is registered again");
      registrations_.OnNewSession();
      Rejoin();
      break;
  }
  lookups_.OnConnected();
}

void FailbackRegistry::Core::SayLink(Severity severity, std::string_view code, std::string_view text) {
  say_link_.Cancel();
  env_.context.log->Log(severity, code, env_.options.address, text);
  const Clock::SteadyTime now = env_.Now();
  const auto [said, first] = link_said_.try_emplace(code, now);
  if (first || now - said->second >= kRepeatsHeldBack) {
    said->second = now;
    return;
  }
  say_link_ = env_.After(said->second + kRepeatsHeldBack - now, [this, severity, code, text] {
    if (!env_.destroyed) SayLink(severity, code, text);
  });
}

void FailbackRegistry::Core::Rejoin() {
  const auto wait = env_.random.Below(static_cast<std::uint64_t>(kRejoinSpread.count()) + 1);
  rejoin_ = env_.After(std::chrono::milliseconds(wait), [this] {
    if (env_.connected()) registrations_.Retry();
  });
}

void FailbackRegistry::Core::Destroy(Done done) {
  if (stopped_) return env_.PostAnswer(std::move(done), absl::OkStatus());
  destroy_done_.push_back(std::move(done));
  if (std::exchange(env_.destroyed, true)) return;
  rejoin_.Cancel();
  say_link_.Cancel();
  if (cache_ != nullptr) {
    flushing_ = true;
    cache_->Flush([this] {
      flushing_ = false;
      EndIfOver();
    });
  }
  lookups_.Destroy();
  subscriptions_.Destroy();
  // Stopping ends the session, and dynamic urls with it, so a registry that does not answer is not waited for
  // long. The task holds the state until then: the handle may be gone.
  farewell_ = env_.context.executor->After(env_.options.timeout,
                                           [self = shared_from_this()] { self->StopBackend(); });
  left_ = registrations_.Destroy(env_.Guarded([this] { StopBackend(); }));
}

void FailbackRegistry::Core::StopBackend() {
  if (std::exchange(stopping_, true)) return;
  // Held on until the backend is done: it must not be destroyed before.
  env_.backend->Stop([self = shared_from_this()](const absl::Status& status) { self->OnStopped(status); });
  farewell_.Cancel();
}

void FailbackRegistry::Core::OnStopped(const absl::Status& status) {
  destroy_status_ = status;
  if (left_ != nullptr && *left_ > 0) {
    destroy_status_ = absl::UnavailableError(absl::StrCat(
        "registry ", env_.options.address, " did not confirm that ", *left_, *left_ == 1 ? " url was" : " urls were",
        " removed; dynamic ones stay there until it finds the session over, others until they are unregistered"));
  }
  backend_stopped_ = true;
  env_.state = RegistryState::kExpired;
  EndIfOver();
}

void FailbackRegistry::Core::EndIfOver() {
  if (!backend_stopped_ || flushing_) return;
  stopped_ = true;
  // A task of its own, so that the last reference never ends, and the backend with it, inside the backend.
  env_.Post([this] {
    for (Done& done : std::exchange(destroy_done_, {})) env_.Answer(std::move(done), destroy_status_);
  });
}

std::vector<std::string> FailbackRegistry::Core::WithSkipped(std::vector<std::string> unreadable) const {
  for (std::string& text : env_.backend->Skipped()) unreadable.push_back(std::move(text));
  return unreadable;
}

std::chrono::nanoseconds FailbackRegistry::Core::StaleFor() const {
  std::optional<Clock::SteadyTime> since = subscriptions_.watches().stale_since();
  if (!env_.connected()) since = std::min(since.value_or(env_.link_lost_at), env_.link_lost_at);
  return since && !env_.destroyed ? env_.Now() - *since : std::chrono::nanoseconds(0);
}

RegistryStatus FailbackRegistry::Core::status() const {
  const internal::WatchTable& watches = subscriptions_.watches();
  return {.address = env_.options.address,
          .state = state(),
          .stale_for = StaleFor(),
          .retries_pending = RetriesPending(),
          .last_error = env_.failures.latest(),
          .registered = registrations_.registered(),
          .unacknowledged = registrations_.unacknowledged(),
          .subscriptions = subscriptions_.size(),
          .watches = watches.size(),
          .cached = subscriptions_.cached(),
          .cache_file = cache_ == nullptr ? std::string() : cache_->path(),
          .unreadable = WithSkipped(watches.Unreadable()),
          .counters = env_.counters};
}

std::string FailbackRegistry::Core::Describe() const {
  const internal::WatchTable& watches = subscriptions_.watches();
  std::string text = absl::StrCat(env_.options.address, " ", ToAbsl(RegistryStateName(state())));
  if (!env_.connected() && !env_.destroyed) {
    // Explain shows this text until the session changes: a time stays true meanwhile, a duration would not.
    const auto lost_at = env_.context.clock->SystemNow() - (env_.Now() - env_.link_lost_at);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(lost_at.time_since_epoch());
    absl::StrAppend(&text, " since ", internal::JavaDate(seconds.count()));
  }
  absl::StrAppend(&text, " (", env_.backend->Describe(), "), ");
  absl::StrAppend(&text, registrations_.registered(), " registered, ", registrations_.unacknowledged(),
                  " not confirmed, ", subscriptions_.size(), " subscriptions to ", watches.size(), " lists, ",
                  env_.counters.retries, " retries, ", RetriesPending(), " pending");
  if (watches.unreadable_count() > 0) {
    absl::StrAppend(&text, ", ", watches.unreadable_count(), " children unreadable");
  }
  if (const std::size_t cached = subscriptions_.cached(); cached > 0) {
    absl::StrAppend(&text, ", ", cached, " served from ", cache_->origin());
  }
  if (const absl::Status last = env_.failures.latest(); !last.ok()) {
    absl::StrAppend(&text, ", last error: ", last.ToString());
  }
  return text;
}

std::shared_ptr<FailbackRegistry> FailbackRegistry::Create(Url registry_url,
                                                           std::unique_ptr<RegistryBackend> backend,
                                                           RegistryContext context) {
  std::string cache_file = internal::CacheFilePath(registry_url, context.cache_file);
  auto core = std::make_shared<Core>(registry_url, std::move(backend), std::move(context));
  core->Start(std::move(cache_file));
  return std::shared_ptr<FailbackRegistry>(new FailbackRegistry(std::move(core)));
}

FailbackRegistry::FailbackRegistry(std::shared_ptr<Core> core) : core_(std::move(core)) {}

FailbackRegistry::~FailbackRegistry() {
  internal::RegistryEnvironment& env = core_->env();
  if (env.context.executor->RunsHere()) {
    core_->Destroy(nullptr);
  } else {
    env.Post([core = core_.get()] { core->Destroy(nullptr); });
  }
}

void FailbackRegistry::Register(const Url& url, Done done) {
  core_->Register(url, core_->env().options, std::move(done));
}

void FailbackRegistry::Register(const Url& url, const RegistryCallOptions& call, Done done) {
  core_->Register(url, call, std::move(done));
}

void FailbackRegistry::Unregister(const Url& url, Done done) { core_->Unregister(url, std::move(done)); }

void FailbackRegistry::Subscribe(const Url& consumer, std::shared_ptr<NotifyListener> listener,
                                 Done first_notified) {
  core_->Subscribe(consumer, core_->env().options, std::move(listener), std::move(first_notified));
}

void FailbackRegistry::Subscribe(const Url& consumer, const RegistryCallOptions& call,
                                 std::shared_ptr<NotifyListener> listener, Done first_notified) {
  core_->Subscribe(consumer, call, std::move(listener), std::move(first_notified));
}

void FailbackRegistry::Unsubscribe(const Url& consumer, const std::shared_ptr<NotifyListener>& listener) {
  core_->Unsubscribe(consumer, listener);
}

void FailbackRegistry::Lookup(const Url& query,
                              absl::AnyInvocable<void(absl::StatusOr<std::vector<Url>>)> done) {
  core_->Lookup(query, std::move(done));
}

bool FailbackRegistry::IsAvailable() const { return core_->state() == RegistryState::kConnected; }

std::string FailbackRegistry::Describe() const { return core_->Describe(); }

void FailbackRegistry::Destroy(Done done) { core_->Destroy(std::move(done)); }

RegistryStatus FailbackRegistry::status() const { return core_->status(); }

std::vector<std::string> FailbackRegistry::Unreadable(const std::string& service) const {
  return core_->Unreadable(service);
}

RegistryBackend& FailbackRegistry::backend() { return core_->backend(); }

}  // namespace fairlead
