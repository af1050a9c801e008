#include "fairlead/cluster/runtime.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <map>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/asio_executor.h"
#include "fairlead/base/host_call.h"
#include "fairlead/base/strings.h"
#include "fairlead/cluster/input_checks.h"
#include "fairlead/cluster/local_address.h"
#include "fairlead/cluster/registry_rule_source.h"
#include "fairlead/cluster/runtime_metrics.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/directory/registry_directory.h"
#include "fairlead/registry/cached_lists.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/url_address.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kDrain{10000};
constexpr milliseconds kSweepPeriod{60000};
constexpr milliseconds kShortestMetricsPeriod{100};
// How much longer than its deadline a shutdown waits for registries to say good-bye.
constexpr milliseconds kGoodbye{2000};

// What a connection is made with, so that a later url of the same registry has no say in it.
constexpr std::string_view kConnectionParameters[] = {
    "session",   "retry.period", "retry.times",   "missing.grace", "resync.period", "delay-notification", "file",
    "file.wait", "file-cache",   "file.interval", "file.cache",    "save.file",     "reconnect.period",   "connection.timeout",
    "so.timeout"};

// The user's directory, as Java's user.home; empty when there is none.
std::string HomeDirectory() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
  struct passwd entry;
  struct passwd* found = nullptr;
  char buffer[4096];
  if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) != 0 || found == nullptr) return {};
  return found->pw_dir;
}

// What `text`, a consumer's or provider's url, says of its application.
std::string ApplicationIn(const std::string& text) {
  const absl::StatusOr<UrlParts> parts = UrlParts::Parse(text);
  return parts.ok() ? std::string(parts->Param("application")) : std::string();
}

// OK when `directory` has a provider that is up; else what its picks say, with the remedy.
absl::Status ProviderExpected(const Directory& directory) {
  if (directory.Stats().valid > 0) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(directory.Select({}).status().message(),
                                             "; leave check=true out of the consumer's url to start without a provider"));
}

using Referred = absl::AnyInvocable<void(absl::StatusOr<std::shared_ptr<Directory>>)>;

}  // namespace

// All state, on the executor. Lives as long as the Runtime, a directory or a queued task needs it.
class Runtime::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(Options options, bool own_thread)
      : options_(std::move(options)), own_thread_(own_thread), pool_(*options_.clock), log_(options_.log, *options_.clock) {}

  const std::shared_ptr<Executor>& executor() const { return options_.executor; }

  void SweepLater() {
    sweep_ = executor()->After(kSweepPeriod, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr || self->closed_) return;
      self->pool_.Sweep();
      self->SweepLater();
    });
  }

  void TellMetricsLater() {
    if (options_.metrics == nullptr) return;
    metrics_ = executor()->After(std::max(options_.metrics_period, kShortestMetricsPeriod), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr || self->closed_) return;
      self->TellMetrics();
      self->TellMetricsLater();
    });
  }

  void Refer(const std::string& registry_text, const std::string& consumer_text, std::shared_ptr<Protocol> protocol,
             Referred callback) {
    Referred done = [weak = weak_from_this(), callback = std::move(callback)](absl::StatusOr<std::shared_ptr<Directory>> made) mutable {
      CallHost([&] { callback(std::move(made)); },
               [&](std::string_view text) {
                 if (const auto self = weak.lock()) self->HostThrew("ReferAsync", text);
               });
    };
    if (protocol == nullptr) {
      return done(absl::InvalidArgumentError("Refer needs a Protocol; give the object that makes your connections"));
    }
    absl::StatusOr<Access> access = Acquire(registry_text, consumer_text);
    if (!access.ok()) return done(access.status());
    if (!access->call.subscribes) {
      return done(absl::FailedPreconditionError(
          absl::StrCat("registry ", access->registry->registry->status().address,
                       " has subscribe=false: services are only registered there; take the parameter out, or refer "
                       "through another registry")));
    }
    std::vector<std::string> unused;
    absl::StatusOr<Url> consumer = CompleteConsumer(consumer_text, access->url, unused);
    if (!consumer.ok()) return done(consumer.status());
    std::vector<std::string> remarks = std::move(access->remarks);
    WarnOfEach(consumer->ServiceKey(), "consumer", std::move(unused), &remarks);
    WarnOfEach(consumer->ServiceKey(), "consumer", internal::UnreadableInConsumer(*consumer), &remarks);

    const std::uint64_t id = next_id_++;
    Reference& reference = references_[id];
    reference.registry = access->registry;
    reference.consumer = *consumer;
    reference.directory = MakeRegistryDirectory(reference, *access, std::move(protocol), std::move(remarks));
    const auto directory = reference.directory;
    FailbackRegistry& failback = *reference.registry->registry;

    if (access->call.registers && consumer->BoolParam("register", true)) {
      UrlParts node = consumer->parts();
      node.params.insert_or_assign(names::kCategory, "consumers");
      node.params.insert_or_assign(names::kCheck, "false");
      reference.node = Url::Of(std::move(node), pool_);
      failback.Register(reference.node, access->call, [this, self = shared_from_this(), key = consumer->ServiceKey()](absl::Status status) {
        if (!status.ok()) log_.Warn("FL-4-1", key, absl::StrCat("consumer node not registered: ", status.ToString()));
      });
    }

    // The handle is made first, so that giving up on it, at any point, releases everything.
    auto handle = directory->MakeDirectory([weak = weak_from_this(), id] {
      if (const auto self = weak.lock()) {
        self->executor()->Post([self, id] { self->Release(id, kDrain, nullptr); });
      }
    });
    const RegistryCallOptions& call = access->call;
    if (!call.check || !consumer->BoolParam(names::kCheck, true)) {
      failback.Subscribe(*consumer, call, directory, [](absl::Status) {});
      directory->OnRegistryChange();
      return done(std::move(handle));
    }
    failback.Subscribe(*consumer, call, directory,
                       [handle = std::move(handle), timeout = call.timeout,
                        wants_provider = consumer->BoolParam(names::kCheck, false),
                        done = std::move(done)](absl::Status status) mutable {
                         if (!status.ok()) return done(std::move(status));
                         Directory& ready = *handle;
                         ready.AwaitReady(timeout, [handle = std::move(handle), wants_provider,
                                                    done = std::move(done)](absl::Status last) mutable {
                           if (last.ok() && wants_provider) last = ProviderExpected(*handle);
                           if (!last.ok()) return done(std::move(last));
                           done(std::move(handle));
                         });
                       });
    directory->OnRegistryChange();
  }

  void Register(const std::string& registry_text, const std::string& provider_text,
                absl::AnyInvocable<void(absl::StatusOr<Registration>)> done) {
    absl::StatusOr<Access> access = Acquire(registry_text, provider_text);
    if (!access.ok()) return done(access.status());
    absl::StatusOr<UrlParts> parts = UrlParts::Parse(provider_text);
    if (!parts.ok()) return done(parts.status());
    if (parts->ServiceInterface().empty()) {
      return done(absl::InvalidArgumentError(absl::StrCat(
          "provider ", Shortened(parts->ToString()), " names no service; write it as path, dubbo://host:port/com.acme.Orders")));
    }
    parts->params.emplace(names::kInterface, parts->ServiceInterface());
    parts->params.emplace(names::kTimestamp, std::to_string(options_.clock->SystemMillis()));
    const Url url = Url::Of(*std::move(parts), pool_);
    if (absl::Status status = internal::CheckRegistrable(url, provider_text, options_.extensions, options_.compat); !status.ok()) {
      return done(std::move(status));
    }
    WarnOfEach(url.ServiceKey(), "provider", internal::UnreadableInProvider(url));

    const std::uint64_t id = next_id_++;
    // Nothing is stored, and nothing taken away by the end of the Registration, whose number nobody knows.
    if (!access->call.registers) return done(HandleOf(id));
    registrations_[id] = {access->registry, url};
    access->registry->registry->Register(url, access->call, [self = shared_from_this(), id, done = std::move(done)](absl::Status status) mutable {
      if (!status.ok()) {
        self->registrations_.erase(id);
        return done(std::move(status));
      }
      done(self->HandleOf(id));
    });
  }

  void Shutdown(nanoseconds deadline, absl::AnyInvocable<void(absl::Status)> done) {
    if (std::exchange(closed_, true)) {
      if (!done) return;
      return CallHost([&] { done(absl::FailedPreconditionError("the runtime was shut down before")); },
                      [this](std::string_view text) { HostThrew("Shutdown", text); });
    }
    // Far enough for anybody, and far from what a clock cannot add.
    deadline = std::clamp<nanoseconds>(deadline, nanoseconds(0), std::chrono::hours(24 * 365));
    shutdown_done_ = std::move(done);
    shutdown_timer_ = GiveUpAfter(deadline + kGoodbye);
    // Each part holds the counter up until it is over; the registries end when the parts have.
    auto part = std::shared_ptr<void>(nullptr, [self = shared_from_this()](void*) {
      self->executor()->Post([self] { self->CloseRegistries(); });
    });
    for (auto& [id, registration] : std::exchange(registrations_, {})) {
      registration.registry->registry->Unregister(registration.url, [part](absl::Status) {});
    }
    while (!references_.empty()) Release(references_.begin()->first, deadline, [part] {});
  }

  // For the end of the Runtime: shuts down without waiting for leases, or cuts a shutdown that has begun short.
  void End(absl::AnyInvocable<void()> over) {
    if (closed_ && !over_) shutdown_timer_ = GiveUpAfter(kGoodbye);
    if (!closed_) Shutdown(nanoseconds(0), nullptr);
    if (over_) return over();
    shutdown_done_ = [this, over = std::move(over), done = std::move(shutdown_done_)](absl::Status status) mutable {
      if (done) {
        CallHost([&] { done(std::move(status)); }, [this](std::string_view text) { HostThrew("Shutdown", text); });
      }
      over();
    };
  }

  // For an executor that will never run again: breaks the circles that tasks would have.
  void Drop() {
    closed_ = true;
    Finish(absl::CancelledError("the runtime was destroyed before its shutdown was over"));
    registrations_.clear();
    references_.clear();
    registries_.clear();
    closing_.clear();
    if (file_thread_ != nullptr) file_thread_->Stop();
  }

 private:
  struct Entry {
    std::uint64_t number;
    Url url;  // the first that named it: what the connection is made with
    std::shared_ptr<FailbackRegistry> registry;
    std::shared_ptr<internal::RegistryRuleSource> documents;  // of `registry`
  };
  using Hold = std::shared_ptr<Entry>;  // the registry ends when the last hold does
  // A registry as one caller's url names it.
  struct Access {
    Hold registry;
    Url url;
    RegistryCallOptions call;
    std::vector<std::string> remarks;  // on parameters that cannot be read
  };
  struct Reference {
    Hold registry;
    Url consumer, node;
    std::shared_ptr<RegistryDirectory> directory;
  };
  struct Registered {
    Hold registry;
    Url url;
  };

  // One registry for each address, credentials and group, as in Dubbo, and list of backups and what its product says. A
  // path says nothing.
  // `caller` is the url of who asks, whose application may name the cache file.
  absl::StatusOr<Access> Acquire(const std::string& text, const std::string& caller) {
    if (closed_) return absl::CancelledError("the runtime was shut down");
    absl::StatusOr<UrlParts> parts = ParseLenient(text);
    if (!parts.ok()) return parts.status();
    if (!parts->protocol || parts->protocol->empty()) {
      return absl::InvalidArgumentError(absl::StrCat("registry ", Shortened(parts->ToString()),
                                                     " has no scheme; write for example zookeeper://host:2181"));
    }
    UrlParts place = *parts;
    // Behind a host a path says nothing; alone it is the place, file:///etc/providers.txt.
    if (!place.host.value_or("").empty()) place.path.reset();
    const Url url = Url::Of(*std::move(parts), pool_);
    auto factory = options_.extensions.Registry(url.protocol());
    if (!factory.ok()) return factory.status();
    absl::StatusOr<RegistryOptions> parsed = RegistryOptions::Parse(url);
    if (!parsed.ok()) return parsed.status();
    Access access{nullptr, url, *parsed, {}};
    WarnOfEach(parsed->address, "registry", internal::UnreadableInRegistryUrl(url), &access.remarks);

    const std::string key =
        absl::StrCat(place.ToIdentityString(), "|", ToAbsl(url.Param("backup")), "|", parsed->group, "|",
                     (*factory)->Place(url));
    access.registry = registries_[key].lock();
    if (access.registry != nullptr) {
      WarnOfOtherConnection(parsed->address, access.registry->url, url);
      return access;
    }
    RegistryContext context;
    context.executor = executor();
    context.clock = options_.clock;
    context.pool = &pool_;
    context.log = &log_;
    context.seed = Mix64(options_.seed + registries_.size());
    context.cache_file = options_.cache_file;
    if (const std::string home = HomeDirectory(); context.cache_file.empty() && (*factory)->CachesByDefault() && !home.empty()) {
      context.cache_file = internal::DefaultCacheFile(url, home, ApplicationIn(caller), (*factory)->Place(url));
    }
    if (!internal::CacheFilePath(url, context.cache_file).empty()) context.file_executor = FileExecutor();
    auto backend = (*factory)->Create(url, context);
    if (!backend.ok()) return backend.status();
    auto failback = FailbackRegistry::Create(url, *std::move(backend), context);
    auto documents = internal::RegistryRuleSource::Create(failback->backend(), executor());
    access.registry = Hold(new Entry{next_id_++, url, std::move(failback), std::move(documents)},
                           [weak = weak_from_this()](Entry* entry) {
                             entry->documents->Close();
                             if (const auto self = weak.lock()) self->EndRegistry(std::move(entry->registry));
                             delete entry;
                           });
    registries_[key] = access.registry;
    return access;
  }

  // Null: the control plane's own.
  std::shared_ptr<Executor> FileExecutor() {
    if (options_.file_executor != nullptr || !own_thread_) return options_.file_executor;
    if (file_thread_ == nullptr) file_thread_ = MakeThreadExecutor("fairlead-file");
    return file_thread_;
  }

  void WarnOfOtherConnection(const std::string& address, const Url& first, const Url& later) {
    std::string others;
    for (const std::string_view name : kConnectionParameters) {
      if (later.Param(name).empty() || later.Param(name) == first.Param(name)) continue;
      absl::StrAppend(&others, others.empty() ? "" : ", ", ToAbsl(name), "=", Shortened(later.Param(name), 60));
    }
    if (others.empty()) return;
    log_.Warn("FL-4-3", address,
              absl::StrCat("has its connection from an earlier url; that one's values hold instead of ", others));
  }

  // Logs each remark; adds them to `all`, for Explain.
  void WarnOfEach(const std::string& about, std::string_view whose, std::vector<std::string> remarks,
                  std::vector<std::string>* all = nullptr) {
    for (std::string& remark : remarks) remark = absl::StrCat(ToAbsl(whose), " parameter ", remark);
    log_.WarnOfEach("FL-4-2", about, remarks);
    if (all != nullptr) all->insert(all->end(), remarks.begin(), remarks.end());
  }

  void EndRegistry(std::shared_ptr<FailbackRegistry> registry) {
    FailbackRegistry* raw = registry.get();
    const std::uint64_t id = next_id_++;
    closing_[id] = std::move(registry);
    raw->Destroy([self = shared_from_this(), id](absl::Status status) {
      if (self->closed_) self->trouble_.Update(status);
      // Not inside the registry's own callback.
      self->executor()->Post([self, id] {
        self->closing_.erase(id);
        if (self->closed_) self->CloseRegistries();
      });
    });
  }

  // `unused`: what of its policy parameters is left out because it cannot be used, so that a provider's holds.
  absl::StatusOr<Url> CompleteConsumer(const std::string& text, const Url& registry, std::vector<std::string>& unused) {
    absl::StatusOr<UrlParts> parts = UrlParts::Parse(text);
    if (!parts.ok()) return parts.status();
    if (parts->ServiceInterface().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "consumer ", Shortened(parts->ToString()), " names no service; write it as path, consumer://host/com.acme.Orders"));
    }
    if (parts->ServiceInterface() == "*") {
      return absl::InvalidArgumentError(absl::StrCat(
          "consumer ", Shortened(parts->ToString()), " names all services; a Directory has the providers of one: name it"));
    }
    if (!parts->protocol || parts->protocol->empty()) parts->protocol = "consumer";
    if (!parts->host || parts->host->empty() || *parts->host == "0.0.0.0") parts->host = LocalAddress(registry);
    const std::pair<std::string_view, std::string> defaults[] = {
        {names::kInterface, parts->ServiceInterface()},
        {names::kSide, "consumer"},
        {names::kCategory, "providers,configurators,routers"},
        {names::kPid, std::to_string(getpid())},
        {names::kTimestamp, std::to_string(options_.clock->SystemMillis())}};
    for (const auto& [name, value] : defaults) parts->params.emplace(name, value);
    const std::vector<Category> categories = SubscribedCategories(*parts);
    if (std::find(categories.begin(), categories.end(), Category::kProviders) == categories.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "consumer category '", ToAbsl(parts->Param(names::kCategory)),
          "' has no providers; leave it out, or name providers,configurators,routers"));
    }
    for (const auto& [key, value] : parts->params) {
      const bool names_policy = internal::PolicyKey(key) == names::kLoadBalance;
      if (!names_policy || value.empty()) continue;
      if (const auto policy = options_.extensions.Policy(value); !policy.ok()) {
        return absl::Status(policy.status().code(), absl::StrCat("consumer parameter ", key, ": ", policy.status().message()));
      }
    }
    const auto policies = [this](std::string_view name) { return options_.extensions.Policy(name); };
    unused = internal::TakeOutUnusable(parts->params, [&](std::string_view key, std::string_view value) {
      return internal::PolicyKey(key).empty() ? std::string() : internal::OwnValueExpected(key, value, policies);
    });
    return Url::Of(*std::move(parts), pool_);
  }

  std::string LocalAddress(const Url& registry) const {
    if (!options_.local_address.empty()) return options_.local_address;
    return internal::LocalAddressTowards(registry.host(), registry.port());
  }

  std::shared_ptr<RegistryDirectory> MakeRegistryDirectory(const Reference& reference, const Access& access,
                                                           std::shared_ptr<Protocol> protocol,
                                                           std::vector<std::string> remarks) {
    DirectoryConfig config;
    config.executor = executor();
    config.clock = options_.clock;
    config.log = &log_;
    config.pool = &pool_;
    config.protocol = std::move(protocol);
    config.keep = shared_from_this();
    config.consumer = reference.consumer;
    config.local_address = LocalAddress(access.url);
    config.remarks = std::move(remarks);
    config.documents = access.registry->documents;
    config.empty_protection = access.call.empty_protection;
    config.protect_max_age = access.call.protect_max_age;
    config.compat = options_.compat;
    config.seed = Mix64(options_.seed ^ next_id_);
    config.policy = [extensions = options_.extensions](std::string_view name) { return extensions.Policy(name); };
    config.router = [extensions = options_.extensions](std::string_view name) { return extensions.Router(name); };
    config.registry_state = [weak = std::weak_ptr<FailbackRegistry>(reference.registry->registry)] {
      const auto registry = weak.lock();
      return registry == nullptr ? std::string() : registry->Describe();
    };
    config.unreadable = [weak = std::weak_ptr<FailbackRegistry>(reference.registry->registry),
                         service = reference.consumer.ServiceInterface()] {
      const auto registry = weak.lock();
      return registry == nullptr ? std::vector<std::string>() : registry->Unreadable(service);
    };
    config.why_empty = [weak = std::weak_ptr<FailbackRegistry>(reference.registry->registry),
                        service = reference.consumer.ServiceInterface()](absl::AnyInvocable<void(std::string)> tell) {
      const auto registry = weak.lock();
      if (registry == nullptr) return;
      registry->backend().ReadMapping(service, [tell = std::move(tell)](absl::StatusOr<std::string> applications) mutable {
        if (!applications.ok() || applications->empty()) return tell({});
        tell(absl::StrCat("registered application-level only, by application ", *applications,
                          "; let the provider register its interfaces too (register-mode=all or interface)"));
      });
    };
    return RegistryDirectory::Create(std::move(config));
  }

  void Release(std::uint64_t id, nanoseconds drain, absl::AnyInvocable<void()> done) {
    const auto at = references_.find(id);
    if (at == references_.end()) {
      if (done) done();
      return;
    }
    Reference reference = std::move(at->second);
    references_.erase(at);
    reference.registry->registry->Unsubscribe(reference.consumer, reference.directory);
    // Equal urls are one node in the registry: the last of them takes it away.
    const bool shared = std::any_of(references_.begin(), references_.end(), [&](const auto& other) {
      return other.second.registry == reference.registry && other.second.node == reference.node;
    });
    if (!reference.node.empty() && !shared) {
      reference.registry->registry->Unregister(reference.node, [](absl::Status) {});
    }
    RegistryDirectory& directory = *reference.directory;
    directory.Close(drain, [keep = std::move(reference), self = shared_from_this(), done = std::move(done)]() mutable {
      if (done) done();
    });
  }

  Registration HandleOf(std::uint64_t id) {
    return Registration([weak = weak_from_this(), id] {
      if (const auto core = weak.lock()) core->executor()->Post([core, id] { core->Unregister(id); });
    });
  }

  void Unregister(std::uint64_t id) {
    const auto at = registrations_.find(id);
    if (at == registrations_.end()) return;
    Registered registered = std::move(at->second);
    registrations_.erase(at);
    const bool shared = std::any_of(registrations_.begin(), registrations_.end(), [&](const auto& other) {
      return other.second.registry == registered.registry && other.second.url == registered.url;
    });
    if (shared) return;
    FailbackRegistry& registry = *registered.registry->registry;
    const Url url = registered.url;
    registry.Unregister(url, [keep = std::move(registered)](absl::Status) {});
  }

  void TellMetrics() {
    std::vector<internal::RegistryReading> registries;
    for (const auto& [key, weak] : registries_) {
      if (const Hold entry = weak.lock()) registries.push_back({entry->number, entry->registry->status()});
    }
    std::vector<internal::DirectoryReading> directories;
    for (const auto& [id, reference] : references_) {
      directories.push_back({reference.consumer.ServiceKey(), id, reference.directory->Stats()});
    }
    const std::vector<MetricSample> samples =
        internal::RuntimeSamples(registries, directories, pool_.sizes().entries);
    CallHost([&] { options_.metrics(samples); }, [this](std::string_view text) { HostThrew("Options::metrics", text); });
  }

  void HostThrew(std::string_view whose, std::string_view text) {
    log_.Error("FL-1-3", whose, absl::StrCat("the callback of ", ToAbsl(whose), " threw: ", ToAbsl(text)));
  }

  Timer GiveUpAfter(nanoseconds delay) {
    return executor()->After(delay, [self = shared_from_this()] {
      self->Finish(absl::DeadlineExceededError(
          "a registry or a lease did not end within the deadline; urls may stay registered until the registry finds the "
          "session over"));
    });
  }

  void CloseRegistries() {
    if (!closing_.empty()) return;
    for (const auto& [key, weak] : registries_) {
      if (!weak.expired()) return;  // its last part is just ending
    }
    Finish(trouble_);
  }

  void Finish(absl::Status status) {
    over_ = true;
    sweep_.Cancel();
    metrics_.Cancel();
    shutdown_timer_.Cancel();
    auto done = std::exchange(shutdown_done_, nullptr);
    if (!done) return;
    CallHost([&] { done(std::move(status)); }, [this](std::string_view text) { HostThrew("Shutdown", text); });
  }

  Options options_;
  const bool own_thread_;  // of the executor
  std::shared_ptr<Executor> file_thread_;  // while there is something to do for one
  UrlPool pool_;
  Logger log_;
  std::map<std::string, std::weak_ptr<Entry>> registries_;
  std::map<std::uint64_t, Reference> references_;
  std::map<std::uint64_t, Registered> registrations_;
  std::map<std::uint64_t, std::shared_ptr<FailbackRegistry>> closing_;
  std::uint64_t next_id_ = 1;
  bool closed_ = false;  // a shutdown has begun
  bool over_ = false;    // and is over
  absl::Status trouble_;  // of registries that ended since
  absl::AnyInvocable<void(absl::Status)> shutdown_done_;
  Timer sweep_, metrics_, shutdown_timer_;
};

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Create(Options options) {
  if (options.clock == nullptr) return absl::InvalidArgumentError("Options::clock is null; leave it out for the real one");
  const bool own_thread = options.executor == nullptr;
  if (own_thread) options.executor = MakeThreadExecutor("fairlead");
  if (options.executor == nullptr) {
    return absl::ResourceExhaustedError("no thread could be made for the control plane; raise the limit, or give Options::executor");
  }
  if (options.seed == 0) {
    std::random_device entropy;
    options.seed = (std::uint64_t{entropy()} << 32) | entropy();
  }
  auto core = std::make_shared<Core>(std::move(options), own_thread);
  core->executor()->Post([core] {
    core->SweepLater();
    core->TellMetricsLater();
  });
  return std::unique_ptr<Runtime>(new Runtime(std::move(core), own_thread));
}

Runtime::Runtime(std::shared_ptr<Core> core, bool own_thread)
    : core_(std::move(core)), own_thread_(own_thread), owner_(getpid()) {}

bool Runtime::Forked() const { return getpid() != owner_; }

namespace {

absl::Status DeadInChild() {
  return absl::FailedPreconditionError(
      "this runtime was made before a fork and is dead in the child; make one there after the fork");
}

}  // namespace

Runtime::~Runtime() {
  // Runs End, or, when the host's executor throws the task away, takes the state apart where it stands.
  struct Ending {
    std::shared_ptr<Core> core;
    bool ran = false;
    ~Ending() {
      if (!ran) core->Drop();
    }
  };
  if (Forked()) {
    // Its threads are not here, and may have held any lock: it is left as it lies.
    new std::shared_ptr<Core>(std::move(core_));
    return;
  }
  const auto core = std::move(core_);
  const std::shared_ptr<Executor> executor = core->executor();
  const auto end = [&](absl::AnyInvocable<void()> over) {
    auto ending = std::make_shared<Ending>();
    ending->core = core;
    executor->Post([ending = std::move(ending), over = std::move(over)]() mutable {
      ending->ran = true;
      ending->core->End(std::move(over));
    });
  };
  // Hosts hold the executor through their directories, so its thread is ended here, not with its last reference. On
  // that thread itself there is no waiting: it ends when the shutdown is over or gave up.
  if (!own_thread_) {
    end([] {});
    return;
  }
  if (executor->RunsHere()) {
    end([executor, core] {
      executor->Post([executor, core] {
        executor->Stop();
        core->Drop();
      });
    });
    return;
  }
  auto over = std::make_shared<std::promise<void>>();
  auto future = over->get_future();
  end([over] { over->set_value(); });
  future.wait_for(kGoodbye + milliseconds(500));
  executor->Stop();
  core->Drop();
}

absl::StatusOr<std::shared_ptr<Directory>> Runtime::Refer(std::string_view registry, std::string_view consumer,
                                                          std::shared_ptr<Protocol> protocol) {
  if (Forked()) return DeadInChild();
  if (core_->executor()->RunsHere()) {
    return absl::FailedPreconditionError("Refer would wait for the executor's own thread; use ReferAsync there");
  }
  auto result = std::make_shared<std::promise<absl::StatusOr<std::shared_ptr<Directory>>>>();
  auto future = result->get_future();
  ReferAsync(registry, consumer, std::move(protocol),
             [result](absl::StatusOr<std::shared_ptr<Directory>> made) { result->set_value(std::move(made)); });
  return future.get();
}

void Runtime::ReferAsync(std::string_view registry, std::string_view consumer, std::shared_ptr<Protocol> protocol,
                         Referred done) {
  if (done == nullptr) return;  // nobody would ever hold the directory
  if (Forked()) return done(DeadInChild());
  core_->executor()->Post([core = core_, registry = std::string(registry), consumer = std::string(consumer),
                           protocol = std::move(protocol), done = std::move(done)]() mutable {
    core->Refer(registry, consumer, std::move(protocol), std::move(done));
  });
}

absl::StatusOr<Registration> Runtime::Register(std::string_view registry, std::string_view provider) {
  if (Forked()) return DeadInChild();
  if (core_->executor()->RunsHere()) {
    return absl::FailedPreconditionError("Register would wait for the executor's own thread; call it on another one");
  }
  auto result = std::make_shared<std::promise<absl::StatusOr<Registration>>>();
  auto future = result->get_future();
  core_->executor()->Post([core = core_, registry = std::string(registry), provider = std::string(provider), result] {
    core->Register(registry, provider,
                   [result](absl::StatusOr<Registration> made) { result->set_value(std::move(made)); });
  });
  return future.get();
}

void Runtime::Shutdown(nanoseconds deadline, absl::AnyInvocable<void(absl::Status)> done) {
  if (Forked()) {
    if (done) done(DeadInChild());
    return;
  }
  core_->executor()->Post([core = core_, deadline, done = std::move(done)]() mutable {
    core->Shutdown(deadline, std::move(done));
  });
}

}  // namespace fairlead
