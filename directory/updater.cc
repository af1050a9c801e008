#include "fairlead/directory/updater.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "fairlead/base/host_call.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/policy_parameters.h"
#include "fairlead/directory/snapshot_builder.h"
#include "fairlead/loadbalance/warmup.h"
#include "fairlead/url/merge.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/provider.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;

// Availability flips are obeyed by picks at once; tables follow this much later, many flips together.
constexpr milliseconds kReplanDelay{10};
// How many outcomes kUnavailable in a row count as down; the parameter `down.after` of the consumer says otherwise.
constexpr std::int64_t kDownAfter = 3, kMostDownAfter = 200;
// How often the plans that picks missed are looked for, while the chain has rules that make such plans.
constexpr milliseconds kPlanTick{20};
// How long the executor builds plans without doing anything else, beyond the one it is at.
constexpr milliseconds kPlanSlice{1};
constexpr milliseconds kCloseTick{20};
constexpr std::size_t kMostSkippedOfAKind = 100;

// For Explain, which people read.
void AddSkipped(const std::vector<std::string>& texts, std::vector<std::string>& skipped) {
  const std::size_t shown = std::min(texts.size(), kMostSkippedOfAKind);
  for (std::size_t i = 0; i < shown; ++i) skipped.push_back(Shortened(texts[i], DirectorySnapshot::kMostSkippedBytes));
  if (shown < texts.size()) skipped.push_back(absl::StrCat("and ", texts.size() - shown, " more of this kind"));
}

absl::Status NotReady(const Url& consumer, std::string_view registry_state) {
  return absl::FailedPreconditionError(absl::StrCat("no list of ", Shortened(consumer.ServiceKey()),
                                                    " has arrived from the registry yet",
                                                    registry_state.empty() ? "" : ": ", ToAbsl(registry_state)));
}

}  // namespace

Updater::Updater(DirectoryConfig config)
    : config_(std::move(config)),
      core_(std::make_shared<DirectoryCore>(
          config_.executor, *config_.clock, config_.seed, config_.consumer, NotReady(config_.consumer, {}))),
      governance_(config_),
      guard_(GuardConfig()) {}

ProviderGuard::Config Updater::GuardConfig() {
  ProviderGuard::Config guard;
  guard.executor = config_.executor;
  guard.clock = config_.clock;
  guard.log = config_.log;
  guard.service = config_.consumer.ServiceKey();
  if (!config_.protection) {
    guard.max_age = Protection::MaxAge(config_.consumer, config_.empty_protection, config_.protect_max_age);
  }
  guard.on_begin = [this] { governance_.Hold(); };
  guard.on_end = [this] { governance_.LetGo(); };
  guard.on_give_up = [this] {
    providers_.emplace();
    Changed();
  };
  return guard;
}

std::shared_ptr<Updater> Updater::Create(DirectoryConfig config) {
  // The name in its error comes from a registry.
  config.policy = [lookup = std::move(config.policy)](
                      std::string_view name) -> absl::StatusOr<std::shared_ptr<const LoadBalance>> {
    auto policy = lookup(name);
    if (policy.ok()) return policy;
    return absl::Status(policy.status().code(), Shortened(FromAbsl(policy.status().message())));
  };
  auto updater = std::shared_ptr<Updater>(new Updater(std::move(config)));
  const std::weak_ptr<Updater> alive = updater;
  Endpoints::Config endpoints;
  endpoints.keep = updater->config_.keep;
  endpoints.executor = updater->config_.executor;
  endpoints.clock = updater->config_.clock;
  endpoints.log = updater->config_.log;
  endpoints.protocol = updater->config_.protocol;
  endpoints.service = updater->config_.consumer.ServiceKey();
  endpoints.seed = updater->config_.seed;
  endpoints.first_id = updater->config_.first_provider_id;
  const std::int64_t down_after = updater->config_.consumer.IntParam("down.after", kDownAfter);
  endpoints.down_after = static_cast<std::uint32_t>(std::clamp<std::int64_t>(down_after, 0, kMostDownAfter));
  endpoints.on_change = [alive] {
    if (const auto self = alive.lock()) self->Replan();
  };
  endpoints.on_retry = [alive] {
    const auto self = alive.lock();
    if (self == nullptr || self->closed_) return;
    self->ApplyProviders();
    self->Replan();
  };
  endpoints.make = [alive](const Url& original) {
    const auto self = alive.lock();
    return self == nullptr ? Endpoints::Made() : self->Make(original);
  };
  updater->endpoints_ = Endpoints::Create(std::move(endpoints));
  updater->core_->OnHostThrew([alive](std::string_view text) {
    const auto self = alive.lock();
    if (self == nullptr) return;
    self->config_.log->Error("FL-1-3", self->config_.consumer.ServiceKey(), absl::StrCat("a Done callback threw: ", ToAbsl(text)));
  });
  updater->core_->OnClearProtection([alive] {
    const auto self = alive.lock();
    if (self == nullptr || self->closed_) return;
    self->guard_.Clear();
    if (self->config_.clear_protection) self->config_.clear_protection();
  });
  updater->core_->OnNewMethod([alive] {
    if (const auto self = alive.lock()) self->Changed();
  });
  return updater;
}

void Updater::Set(Category category, ListKind kind, std::vector<Url> urls, std::vector<std::string> unreadable,
                  bool cached) {
  if (closed_) return;
  cached_[static_cast<std::size_t>(category)] = cached;
  stale_[static_cast<std::size_t>(category)] = kind == ListKind::kUnknown;
  if (kind == ListKind::kUnknown) return Changed();
  if (kind == ListKind::kEmpty) urls.clear();
  switch (category) {
    case Category::kProviders:
      SetProviders(std::move(urls));
      break;
    case Category::kConfigurators:
      governance_.SetOverrides(kind, std::move(urls), std::move(unreadable));
      break;
    case Category::kRouters:
      governance_.SetRules(kind, std::move(urls), std::move(unreadable));
      break;
    case Category::kConsumers:
      return;
  }
  Changed();
}

void Updater::SetProviders(std::vector<Url> urls) {
  if (!urls.empty()) {
    guard_.OnList();
    providers_ = std::move(urls);
    return;
  }
  // Who disabled a provider before it went away does not want it back.
  if (guard_.OnEmpty(providers_.has_value() ? providers_->size() : endpoints_->listed() - endpoints_->disabled())) {
    providers_.emplace();
  }
}

void Updater::SetDocument(const RuleKey& key, const absl::StatusOr<std::optional<std::string>>& text) {
  if (!closed_ && governance_.SetDocument(key, text)) Changed();
}

void Updater::ForgetDocument(const RuleKey& key) {
  if (closed_) return;
  governance_.ForgetDocument(key);
  Changed();
}

void Updater::RegistryChanged() {
  if (closed_) return;
  auto notes = std::make_shared<RegistryNotes>();
  if (config_.registry_state) notes->state = Shortened(config_.registry_state());
  for (const std::string& remark : config_.remarks) notes->skipped.push_back(Shortened(remark, DirectorySnapshot::kMostSkippedBytes));
  if (config_.unreadable) {
    AddSkipped(config_.unreadable(), notes->skipped);
  }
  if (version_ == 0) core_->SetNotReady(NotReady(config_.consumer, notes->state));
  core_->SetNotes(std::move(notes));
}

void Updater::SetEmptyReason(std::string reason) {
  if (reason == empty_reason_) return;
  empty_reason_ = std::move(reason);
  Changed();
}

void Updater::Open() {
  open_ = true;
  Changed();
}

void Updater::Changed() {
  if (!open_ || queued_ || closed_) return;
  queued_ = true;
  config_.executor->Post([self = shared_from_this()] {
    self->queued_ = false;
    self->Update();
  });
}

// Something the tables show changed by itself. Many such changes make one update; but calls that have nobody left to
// go to, as far as the tables know, wait for no others.
void Updater::Replan() {
  if (closed_ || !open_) return;
  const auto now = config_.clock->SteadyNow();
  if (now - replanned_ >= kReplanDelay && LeafIsDown()) {
    replanned_ = now;
    replan_ = Timer();
    return Changed();
  }
  if (replan_.armed()) return;
  replan_ = config_.executor->After(kReplanDelay, [alive = weak_from_this()] {
    const auto self = alive.lock();
    if (self == nullptr) return;
    self->replanned_ = self->config_.clock->SteadyNow();
    self->Update();
  });
}

// A set of candidates that some plan leads to is all down, or there is none. Linear in such sets; of each, only the
// members before the first that is up are looked at.
bool Updater::LeafIsDown() const {
  const DirectorySnapshot& snapshot = core_->Mutable();
  if (snapshot.valid.empty()) return true;
  return std::any_of(snapshot.leaves.begin(), snapshot.leaves.end(), [&](const auto& entry) {
    const auto& members = entry.second->by_rank;
    return !members.empty() && std::all_of(members.begin(), members.end(), [&](Slot slot) {
      return snapshot.table->states[slot]->down();
    });
  });
}

void Updater::Update() {
  replan_ = Timer();
  if (closed_ || !open_) return;
  const std::function<void(std::string)> on_fault = OnFault();
  governance_.ApplyDocuments(on_fault);
  providers_anew_ |= governance_.ApplyOverrides();
  governance_.ApplyRules(on_fault);
  if (providers_.has_value() || providers_anew_) ApplyProviders();
  if (closed_) return;  // a host callback may have closed us
  Publish();
}

// A router may throw in a pick, where nothing is logged.
std::function<void(std::string)> Updater::OnFault() {
  return [alive = weak_from_this(), weak = std::weak_ptr<Executor>(config_.executor)](std::string text) {
    const auto executor = weak.lock();
    if (executor == nullptr) return;
    executor->Post([alive, text = std::move(text)] {
      const auto self = alive.lock();
      if (self != nullptr) self->config_.log->Error("FL-3-11", self->config_.consumer.ServiceKey(), text);
    });
  };
}

void Updater::ApplyProviders() {
  bad_providers_.clear();
  const std::vector<Url> list = providers_.has_value() ? *std::exchange(providers_, std::nullopt) : endpoints_->List();
  endpoints_->Apply(list, std::exchange(providers_anew_, false));
  WarnOfEach("FL-3-6", bad_providers_);
}

void Updater::WarnOfEach(std::string_view code, const std::vector<std::string>& inputs) const {
  config_.log->WarnOfEach(code, config_.consumer.ServiceKey(), inputs);
}

// The consumer may name the protocols it accepts.
bool Updater::IsWantedProtocol(std::string_view protocol) const {
  const std::string_view accepted = config_.consumer.Param("protocol");
  return accepted.empty() || absl::StrCat(",", ToAbsl(accepted), ",").find(absl::StrCat(",", ToAbsl(protocol), ",")) !=
                                 std::string::npos;
}

bool Updater::Speaks(std::string_view protocol) const {
  bool speaks = false;
  CallHost([&] { speaks = config_.protocol->Speaks(protocol); },
           [this](std::string_view text) {
             config_.log->Error("FL-3-8", config_.consumer.ServiceKey(), absl::StrCat("Protocol::Speaks threw: ", ToAbsl(text)));
           });
  return speaks;
}

Endpoints::Made Updater::Make(const Url& original) {
  std::string_view why = WhyNoProvider(original.parts());
  if (why.empty() && !(IsWantedProtocol(original.protocol()) && Speaks(original.protocol()))) {
    why = "protocol not spoken here";
  }
  if (!why.empty()) {
    bad_providers_.push_back(absl::StrCat(ToAbsl(why), ": ", Shortened(original.ToString())));
    return {};
  }
  // Without the consumer's pid: nothing asks for it here, and with it no effective url would share with its original
  // what is theirs alone.
  UrlParts merged = MergeConsumer(original.parts(), config_.consumer.common().params);
  // What the consumer looks for, as `*` or a list, is not what a provider that does not say it is.
  for (const std::string_view key : {names::kGroup, names::kVersion}) {
    if (original.Param(key).empty()) merged.params.erase(key);
  }
  const std::string spoken(EffectiveProtocol(config_.consumer.Param("protocol"), merged));
  if (spoken != original.protocol() && IsProtocolName(spoken) && Speaks(spoken)) merged.protocol = spoken;
  if (original.path().empty()) merged.SetPath(config_.consumer.ServiceInterface());
  Endpoints::Made made;
  // One provider that names a policy which is not known here, or a ring that cannot be made, must not fail the calls of
  // all. Numbers have a default of their own where they are read.
  made.left_out = absl::StrJoin(
      TakeOutUnusable(merged.params,
                      [this](std::string_view key, std::string_view value) {
                        return NumberExpected(key, value).empty() ? OwnValueExpected(key, value, config_.policy)
                                                                  : std::string();
                      }),
      "; ");
  // The consumer's own category is about its subscription, its side is what overrides are compared with.
  merged.params.erase(names::kCategory);
  if (!governance_.configurators().empty()) merged = governance_.configurators().Apply(std::move(merged));
  made.effective = original.Edited(std::move(merged), *config_.pool);
  return made;
}

absl::Status Updater::EmptyStatus() const {
  const std::string service = Shortened(config_.consumer.ServiceKey());
  if (endpoints_->listed() == 0 && cached_[static_cast<std::size_t>(Category::kProviders)]) {
    return absl::UnavailableError(absl::StrCat("no provider of ", service,
                                               " in the list cache file, and the registry has not answered yet"));
  }
  if (endpoints_->listed() == 0 && stale_[static_cast<std::size_t>(Category::kProviders)]) {
    return absl::UnavailableError(absl::StrCat("no provider of ", service, ": none of the registry's entries can be read"));
  }
  if (endpoints_->listed() == 0) {
    return absl::UnavailableError(absl::StrCat("no enabled provider of ", service, " in the registry",
                                               empty_reason_.empty() ? "" : ": ", Shortened(empty_reason_)));
  }
  if (endpoints_->disabled() == endpoints_->listed()) {
    return absl::UnavailableError(
        absl::StrCat("no provider of ", service, ": all ", endpoints_->listed(), " are disabled"));
  }
  const auto& skipped = endpoints_->skipped();
  const std::string& first = !bad_providers_.empty() ? bad_providers_.front() : skipped.empty() ? service : skipped.front();
  return absl::UnavailableError(absl::StrCat("no provider of ", service, ": none of the ", endpoints_->listed(),
                                             " listed can be used (", Shortened(first), ")"));
}

void Updater::Publish() {
  SnapshotInput input;
  input.version = ++version_;
  input.clock = config_.clock;
  input.now = config_.clock->SteadyNow();
  input.wall_ms = config_.clock->SystemMillis();
  input.service = Shortened(config_.consumer.ServiceKey());
  input.consumer = governance_.consumer();
  input.consumer_as_given = config_.consumer;
  input.compat = config_.compat;
  input.seed = config_.seed;
  input.table = endpoints_->Table();
  input.downs = endpoints_->downs();
  input.downs_seen = input.downs->count.load(std::memory_order_acquire);
  input.valid = endpoints_->Valid();
  input.changed = endpoints_->TakeChanged();
  input.own_methods = endpoints_->OwnMethods();
  for (const std::string& name : endpoints_->Policies()) {
    const auto policy = config_.policy(name);
    input.per_method |= policy.ok() && (*policy)->per_method();
  }
  input.routers = governance_.Routers(endpoints_->tagged(), endpoints_->mocked());
  input.scripts = governance_.scripts();
  input.policy = config_.policy;
  if (input.table->by_rank.empty()) {
    input.status = EmptyStatus();
  } else if (input.valid.empty()) {
    input.status = absl::UnavailableError(absl::StrCat("no provider of ", input.service, ": all ",
                                                       input.table->by_rank.size(), " are down"));
  }
  const std::optional<ProtectedList> held = config_.protection ? config_.protection() : guard_.list();
  if (!input.status.ok() && held.has_value()) {
    input.status = absl::Status(input.status.code(), absl::StrCat(input.status.message(), " (", held->Remark(), ")"));
  }
  const std::vector<std::string> documents = governance_.DocumentLines();
  const std::vector<std::string> unreadable = endpoints_->Unreadable();
  for (const std::vector<std::string>* texts : {&std::as_const(bad_providers_), &governance_.bad_names(), &governance_.bad_rules(),
                                                &governance_.bad_overrides(), &documents, &endpoints_->skipped(), &unreadable}) {
    AddSkipped(*texts, input.skipped);
  }
  input.unused = endpoints_->UnusedList();
  for (std::size_t i = 0; i < stale_.size(); ++i) {
    if (cached_[i]) {
      input.skipped.push_back(absl::StrCat("the registry has not answered yet; its ",
                                           ToAbsl(CategoryName(static_cast<Category>(i))),
                                           stale_[i] ? " are not known" : " are those of the list cache file"));
      continue;
    }
    if (!stale_[i]) continue;
    input.skipped.push_back(absl::StrCat("the registry cannot say its ", ToAbsl(CategoryName(static_cast<Category>(i))),
                                         " now; the last ones known are used"));
  }

  auto snapshot = BuildSnapshot(std::move(input), core_->methods(), &core_->Mutable());
  snapshot->protection = held;
  snapshot->protects_all = !config_.protection;
  const bool has_runtime_rules = !snapshot->runtime.empty();
  RegistryChanged();
  // The providers that left may give no lease from here on, but must until picks see a list without them.
  core_->Publish(std::move(snapshot), [endpoints = endpoints_] { return endpoints->DrainRemoved(); });
  ScheduleWarmup();
  if (has_runtime_rules) {
    BuildPlansSoon();
    ScheduleTick();
  } else {
    tick_ = Timer();
  }
}

void Updater::ScheduleWarmup() {
  const std::int64_t now = config_.clock->SystemMillis();
  const std::int64_t next = endpoints_->next_weight_change();
  warmup_ = Timer();
  if (next == 0) return;
  // A tick a second at most, however many providers warm up.
  const std::int64_t wait = std::max<std::int64_t>(next - now, 1000);
  warmup_ = config_.executor->After(milliseconds(wait), [alive = weak_from_this()] {
    if (const auto self = alive.lock()) self->Update();
  });
}

void Updater::ScheduleTick() {
  tick_ = config_.executor->After(kPlanTick, [alive = weak_from_this()] {
    const auto self = alive.lock();
    if (self == nullptr || self->closed_) return;
    for (const PlanKey& key : self->core_->TakeWanted()) self->core_->Mutable().wishes.push_back({key});
    self->BuildPlansSoon();
    self->ScheduleTick();
  });
}

void Updater::BuildPlansSoon() {
  if (core_->Mutable().wishes.empty() || std::exchange(building_plans_, true)) return;
  config_.executor->Post([alive = weak_from_this()] {
    const auto self = alive.lock();
    if (self == nullptr || self->closed_) return;
    self->building_plans_ = false;
    const PlanCount count = AddPlans(self->core_->Mutable(), *self->config_.clock, kPlanSlice);
    self->core_->CountPlans(count.built, count.refused);
    self->BuildPlansSoon();
  });
}

void Updater::Close(std::chrono::nanoseconds deadline, absl::AnyInvocable<void()> done) {
  const bool first = !std::exchange(closed_, true);
  if (first) {
    for (Timer* timer : {&warmup_, &tick_, &replan_}) timer->Cancel();
    guard_.Close();
    auto closed = std::make_unique<DirectorySnapshot>();
    closed->version = ++version_;
    closed->service = Shortened(config_.consumer.ServiceKey());
    closed->consumer = governance_.consumer();
    closed->consumer_as_given = config_.consumer;
    closed->built_at = config_.clock->SteadyNow();
    closed->status = absl::CancelledError(absl::StrCat("the directory of ", closed->service, " was closed"));
    core_->SetNotes(nullptr);
    endpoints_->Close(deadline);
    core_->Publish(std::move(closed), [endpoints = endpoints_] { return endpoints->DrainRemoved(); });
  }
  AwaitIdle(std::move(done));
}

void Updater::AwaitIdle(absl::AnyInvocable<void()> done) {
  if (endpoints_->idle()) {
    if (done) done();
    return;
  }
  closing_ = config_.executor->After(kCloseTick, [self = shared_from_this(), done = std::move(done)]() mutable {
    self->AwaitIdle(std::move(done));
  });
}

}  // namespace fairlead::internal
