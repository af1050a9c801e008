// How a Runtime refers a consumer to one registry or several.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/host_call.h"
#include "fairlead/base/strings.h"
#include "fairlead/cluster/consumer_url.h"
#include "fairlead/cluster/input_checks.h"
#include "fairlead/cluster/runtime_core.h"
#include "fairlead/cluster/source_listener.h"
#include "fairlead/directory/merged_rule_source.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

using internal::RegistryAccess;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kDrain{10000};

std::string NameOf(const RegistryAccess& access) {
  return absl::StrCat("registry ", access.registry->registry->status().address);
}

// A registry url's parameter as of today, or by its name in Dubbo 2.7.
std::string_view OwnParam(const Url& registry, std::string_view name) {
  const std::string_view value = registry.Param(name);
  return value.empty() ? registry.Param(absl::StrCat("registry.", ToAbsl(name))) : value;
}

absl::StatusOr<RegistryMode> ModeFor(const Url& consumer, RegistryMode mode) {
  const std::string_view name = consumer.Param("registry.mode");
  if (name.empty()) return mode;
  if (const auto named = RegistryModeOf(name)) return *named;
  return absl::InvalidArgumentError(absl::StrCat("consumer parameter registry.mode=", Shortened(name, 60),
                                                 ": expected merge, zone-aware or failover"));
}

}  // namespace

void Runtime::Core::Refer(ReferRequest request) {
  Referred done = [weak = weak_from_this(), callback = std::move(request.done)](absl::StatusOr<std::shared_ptr<Directory>> made) mutable {
    CallHost([&] { callback(std::move(made)); },
             [&](std::string_view text) {
               if (const auto self = weak.lock()) self->HostThrew("ReferAsync", text);
             });
  };
  if (request.protocol == nullptr) {
    return done(absl::InvalidArgumentError("Refer needs a Protocol; give the object that makes your connections"));
  }
  std::vector<std::string> remarks;
  const absl::StatusOr<std::vector<RegistryAccess>> accesses = AcquireAll(request, &remarks);
  if (!accesses.ok()) return done(accesses.status());
  std::vector<std::string> unused;
  const absl::StatusOr<Url> consumer =
      internal::CompleteConsumer(request.consumer, accesses->front().url, options_, pool_, unused);
  if (!consumer.ok()) return done(consumer.status());
  absl::StatusOr<RegistryMode> mode = RegistryMode::kMerge;
  if (request.mode.has_value()) mode = ModeFor(*consumer, *request.mode);
  if (!mode.ok()) return done(mode.status());
  registries_.WarnOfEach(consumer->ServiceKey(), "consumer", std::move(unused), &remarks);
  registries_.WarnOfEach(consumer->ServiceKey(), "consumer", internal::UnreadableInConsumer(*consumer), &remarks);

  const std::uint64_t id = next_id_++;
  Reference& reference = references_[id];
  reference.consumer = *consumer;
  for (const RegistryAccess& access : *accesses) reference.links.push_back({access.registry, Url(), nullptr});
  if (*mode != RegistryMode::kMerge) {
    Choose(reference, *accesses, *mode, request.protocol, remarks);
  } else {
    DirectoryConfig config = ConfigFor(*consumer, *accesses, request.protocol);
    config.remarks = std::move(remarks);
    if (request.mode.has_value()) {
      Merge(reference, *accesses, std::move(config));
    } else {
      reference.directories = {RegistryDirectory::Create(std::move(config))};
      reference.links.front().listener = reference.directories.front();
    }
  }
  for (std::size_t i = 0; i < accesses->size(); ++i) {
    Link& link = reference.links[i];
    std::vector<std::string> bad;
    auto attachments = internal::SourceListener::AttachmentsOf((*accesses)[i].url, &bad);
    registries_.WarnOfEach(NameOf((*accesses)[i]), "registry", std::move(bad));
    if (request.mode.has_value() || !attachments.empty()) {
      link.listener = std::make_shared<internal::SourceListener>(std::move(link.listener), std::move(attachments), pool_);
    }
    RegisterNode(link, *consumer, (*accesses)[i]);
  }

  // The handle is made first, so that giving up on it, at any point, releases everything.
  absl::AnyInvocable<void()> release = [weak = weak_from_this(), id] {
    if (const auto self = weak.lock()) {
      self->executor()->Post([self, id] { self->Release(id, kDrain, nullptr); });
    }
  };
  auto handle = reference.choice != nullptr ? std::make_shared<Directory>(reference.choice, std::move(release))
                                            : reference.directories.front()->MakeDirectory(std::move(release));
  if (!request.mode.has_value()) {
    SubscribeOne(reference, accesses->front().call, std::move(handle), std::move(done));
  } else {
    SubscribeAll(reference, *accesses, std::move(handle), std::move(done));
  }
}

absl::StatusOr<std::vector<RegistryAccess>> Runtime::Core::AcquireAll(const ReferRequest& request,
                                                                      std::vector<std::string>* remarks) {
  if (request.registries.empty()) {
    return absl::InvalidArgumentError("Refer needs a registry; write for example zookeeper://host:2181");
  }
  std::vector<RegistryAccess> accesses;
  std::vector<std::string> left_out;
  for (const std::string& text : request.registries) {
    absl::StatusOr<RegistryAccess> access = registries_.Acquire(text, request.consumer);
    if (!access.ok()) return access.status();
    const std::string name = NameOf(*access);
    if (!access->call.subscribes) {
      left_out.push_back(absl::StrCat(name, " has subscribe=false: services are only registered there"));
      continue;
    }
    if (std::any_of(accesses.begin(), accesses.end(), [&](const auto& one) { return one.registry == access->registry; })) {
      left_out.push_back(absl::StrCat(name, " is named twice: the first time counts"));
      continue;
    }
    remarks->insert(remarks->end(), access->remarks.begin(), access->remarks.end());
    accesses.push_back(*std::move(access));
  }
  if (accesses.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(left_out.front(), "; take the parameter out, or refer through another registry"));
  }
  if (accesses.size() > internal::RegistryChoice::kMost) {
    return absl::InvalidArgumentError(absl::StrCat(accesses.size(), " registries for one consumer; at most ",
                                                   internal::RegistryChoice::kMost, " are possible"));
  }
  remarks->insert(remarks->end(), left_out.begin(), left_out.end());
  return accesses;
}

// A directory's, of the registries that feed it.
DirectoryConfig Runtime::Core::ConfigFor(const Url& consumer, std::span<const RegistryAccess> accesses,
                                         const std::shared_ptr<Protocol>& protocol) {
  DirectoryConfig config;
  config.executor = executor();
  config.clock = options_.clock;
  config.log = &log_;
  config.pool = &pool_;
  config.protocol = protocol;
  config.keep = shared_from_this();
  config.consumer = consumer;
  config.local_address = internal::OwnAddress(accesses.front().url, options_);
  config.documents = accesses.front().registry->documents;
  config.empty_protection = accesses.front().call.empty_protection;
  config.protect_max_age = accesses.front().call.protect_max_age;
  config.compat = options_.compat;
  config.seed = Mix64(options_.seed ^ next_id_);
  config.policy = [extensions = options_.extensions](std::string_view name) { return extensions.Policy(name); };
  config.router = [extensions = options_.extensions](std::string_view name) { return extensions.Router(name); };
  std::vector<std::weak_ptr<FailbackRegistry>> registries;
  for (const RegistryAccess& access : accesses) registries.push_back(access.registry->registry);
  config.registry_state = [registries] {
    std::string state;
    for (const auto& weak : registries) {
      if (const auto registry = weak.lock()) absl::StrAppend(&state, state.empty() ? "" : "; ", registry->Describe());
    }
    return state;
  };
  config.unreadable = [registries, service = consumer.ServiceInterface()] {
    std::vector<std::string> all;
    for (const auto& weak : registries) {
      const auto registry = weak.lock();
      if (registry == nullptr) continue;
      const std::vector<std::string> own = registry->Unreadable(service);
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  };
  config.why_empty = [registries, service = consumer.ServiceInterface()](absl::AnyInvocable<void(std::string)> tell) {
    // The first that knows why says so; without any the last answer says nothing.
    struct Asked {
      absl::AnyInvocable<void(std::string)> tell;
      ~Asked() {
        if (tell) tell({});
      }
    };
    const auto asked = std::make_shared<Asked>();
    asked->tell = std::move(tell);
    for (const auto& weak : registries) {
      const auto registry = weak.lock();
      if (registry == nullptr) continue;
      registry->backend().ReadMapping(service, [asked](absl::StatusOr<std::string> applications) {
        if (!asked->tell || !applications.ok() || applications->empty()) return;
        std::exchange(asked->tell, nullptr)(
            absl::StrCat("registered application-level only, by application ", *applications,
                         "; let the provider register its interfaces too (register-mode=all or interface)"));
      });
    }
  };
  return config;
}

// One directory over the union.
void Runtime::Core::Merge(Reference& reference, std::span<const RegistryAccess> accesses, DirectoryConfig config) {
  internal::RegistryUnion::Config all;
  internal::MergedRuleSource::Config documents;
  all.keep = documents.keep = shared_from_this();
  all.executor = documents.executor = executor();
  all.clock = options_.clock;
  all.log = documents.log = &log_;
  all.service = documents.service = reference.consumer.ServiceKey();
  documents.wait = RulesWait(reference.consumer);
  for (const RegistryAccess& access : accesses) {
    const std::string name = NameOf(access);
    all.sources.push_back({name, internal::Protection::MaxAge(reference.consumer, access.call.empty_protection,
                                                              access.call.protect_max_age)});
    documents.sources.push_back({name, access.registry->documents});
  }
  const auto joined = internal::RegistryUnion::Create(std::move(all));
  const auto rules = internal::MergedRuleSource::Create(std::move(documents));
  config.documents = rules;
  config.protection = [joined] { return joined->protection(); };
  config.clear_protection = [joined] { joined->ClearProtection(); };
  config.unreadable = [joined, rules, unreadable = std::move(config.unreadable)] {
    std::vector<std::string> lines = joined->Remarks();
    for (const std::vector<std::string>& more : {rules->Remarks(), unreadable()}) lines.insert(lines.end(), more.begin(), more.end());
    return lines;
  };
  reference.directories = {RegistryDirectory::Create(std::move(config))};
  joined->Feed(reference.directories.front());
  for (std::size_t i = 0; i < accesses.size(); ++i) reference.links[i].listener = joined->Listener(i);
}

// A directory for each registry, and a choice between them.
void Runtime::Core::Choose(Reference& reference, std::span<const RegistryAccess> accesses, RegistryMode mode,
                           const std::shared_ptr<Protocol>& protocol, const std::vector<std::string>& remarks) {
  // Numbers of providers are theirs among all registries, so that a retry avoids the right ones.
  constexpr int kNumbersOfEach = 56;
  std::vector<internal::RegistryPlace> places;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const Url& url = accesses[i].url;
    DirectoryConfig config = ConfigFor(reference.consumer, accesses.subspan(i, 1), protocol);
    config.remarks = remarks;
    config.seed = Mix64(config.seed + i);
    config.first_provider_id = (static_cast<std::uint64_t>(i) << kNumbersOfEach) + 1;
    reference.directories.push_back(RegistryDirectory::Create(std::move(config)));
    reference.links[i].listener = reference.directories.back();
    internal::RegistryPlace place;
    place.core = reference.directories.back()->core();
    place.name = NameOf(accesses[i]);
    place.zone = OwnParam(url, "zone");
    place.weight = std::max<std::int32_t>(0, ParseJavaInt(OwnParam(url, names::kWeight)).value_or(place.weight));
    place.preferred = absl::EqualsIgnoreCase(ToAbsl(OwnParam(url, "preferred")), "true");
    places.push_back(std::move(place));
  }
  auto front = std::make_shared<internal::DirectoryCore>(
      executor(), *options_.clock, Mix64(options_.seed ^ ~next_id_), reference.consumer,
      absl::FailedPreconditionError(absl::StrCat("no list of ", reference.consumer.ServiceKey(), " has arrived yet")));
  front->OnHostThrew([weak = weak_from_this(), service = reference.consumer.ServiceKey()](std::string_view text) {
    if (const auto self = weak.lock()) self->log_.Error("FL-1-3", service, absl::StrCat("a Done callback threw: ", ToAbsl(text)));
  });
  reference.choice = std::make_shared<internal::RegistryChoice>(
      mode, std::move(places), std::string(reference.consumer.Param("registry_zone")),
      reference.consumer.BoolParam("registry_zone_force", false), std::move(front));
  OpenWhenAnswered(reference);
}

// When all have answered, or `rules.wait` after the first of them.
void Runtime::Core::OpenWhenAnswered(const Reference& reference) {
  struct Opening {
    std::weak_ptr<internal::RegistryChoice> choice;
    std::size_t waiting = 0;
    bool open = false;
    Timer timer;
    void Open() {
      const auto all = choice.lock();
      if (all == nullptr || std::exchange(open, true)) return;
      all->Open();
    }
  };
  const auto opening = std::make_shared<Opening>();
  opening->choice = reference.choice;
  opening->waiting = reference.directories.size();
  for (const auto& directory : reference.directories) {
    directory->core()->AwaitReady(std::chrono::hours(24 * 365), [opening, weak = weak_from_this(),
                                                                 wait = RulesWait(reference.consumer)](absl::Status status) {
      const auto self = weak.lock();
      if (!status.ok() || self == nullptr || opening->open) return;
      if (--opening->waiting == 0) {
        opening->timer.Cancel();
        return opening->Open();
      }
      if (opening->timer.armed()) return;
      opening->timer = self->executor()->After(wait, [late = std::weak_ptr<Opening>(opening)] {
        if (const auto one = late.lock()) one->Open();
      });
    });
  }
}

void Runtime::Core::RegisterNode(Link& link, const Url& consumer, const RegistryAccess& access) {
  if (!access.call.registers || !consumer.BoolParam("register", true)) return;
  UrlParts node = consumer.parts();
  node.params.insert_or_assign(names::kCategory, "consumers");
  node.params.insert_or_assign(names::kCheck, "false");
  link.node = Url::Of(std::move(node), pool_);
  link.registry->registry->Register(link.node, access.call, [this, self = shared_from_this(), key = consumer.ServiceKey()](absl::Status status) {
    if (!status.ok()) log_.Warn("FL-4-1", key, absl::StrCat("consumer node not registered: ", status.ToString()));
  });
}

void Runtime::Core::SubscribeOne(const Reference& reference, const RegistryCallOptions& call,
                                 std::shared_ptr<Directory> handle, Referred done) {
  const Url consumer = reference.consumer;
  const Link link = reference.links.front();
  const auto directory = reference.directories.front();
  FailbackRegistry& failback = *link.registry->registry;
  if (!call.check || !consumer.BoolParam(names::kCheck, true)) {
    failback.Subscribe(consumer, call, link.listener, [](absl::Status) {});
    directory->OnRegistryChange();
    return done(std::move(handle));
  }
  failback.Subscribe(consumer, call, link.listener,
                     [handle = std::move(handle), timeout = call.timeout,
                      wants_provider = consumer.BoolParam(names::kCheck, false),
                      done = std::move(done)](absl::Status status) mutable {
                       if (!status.ok()) return done(std::move(status));
                       Directory& ready = *handle;
                       ready.AwaitReady(timeout, [handle = std::move(handle), wants_provider,
                                                  done = std::move(done)](absl::Status last) mutable {
                         if (last.ok() && wants_provider) last = internal::ProviderExpected(*handle);
                         if (!last.ok()) return done(std::move(last));
                         done(std::move(handle));
                       });
                     });
  directory->OnRegistryChange();
}

void Runtime::Core::SubscribeAll(Reference& reference, std::span<const RegistryAccess> accesses,
                                 std::shared_ptr<Directory> handle, Referred done) {
  const Url consumer = reference.consumer;
  const std::vector<Link>& links = reference.links;
  const bool checks = consumer.BoolParam(names::kCheck, true) &&
                      std::any_of(accesses.begin(), accesses.end(), [](const auto& one) { return one.call.check; });
  internal::FirstAnswers::Config config;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    RegistryCallOptions call = accesses[i].call;
    if (checks) {
      config.registries.push_back({NameOf(accesses[i]), call.timeout, call.check,
                                   accesses[i].url.BoolParam(names::kCheck, false), links[i].registry->registry,
                                   std::static_pointer_cast<internal::SourceListener>(links[i].listener)});
    }
    // A failure ends no subscription: the registry may come later.
    call.check = false;
    links[i].registry->registry->Subscribe(consumer, call, links[i].listener, [](absl::Status) {});
  }
  for (const auto& directory : reference.directories) directory->OnRegistryChange();
  if (!checks) return done(std::move(handle));
  config.executor = executor();
  config.consumer = consumer;
  config.handle = std::move(handle);
  config.done = std::move(done);
  reference.answers = internal::FirstAnswers::Await(std::move(config));
}

}  // namespace fairlead
