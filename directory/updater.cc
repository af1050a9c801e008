#include "fairlead/directory/updater.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/hash.h"
#include "fairlead/base/host_call.h"
#include "fairlead/base/strings.h"
#include "fairlead/directory/snapshot_builder.h"
#include "fairlead/loadbalance/warmup.h"
#include "fairlead/url/merge.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;

// Availability flips are obeyed by picks at once; tables follow this much later, many flips together.
constexpr milliseconds kReplanDelay{10};
// How many outcomes kUnavailable in a row count as down; the parameter `down.after` of the consumer says otherwise.
constexpr std::int64_t kDownAfter = 3, kMostDownAfter = 200;
// How often the plans that picks missed are looked for, while the chain has rules that make such plans.
constexpr milliseconds kPlanTick{20};
constexpr milliseconds kCloseTick{20};
// Of one remark in Explain: a url and what is wrong with it.
constexpr std::size_t kMostSkippedBytes = 1000;

// Protocols of urls that are no providers, whatever category they were put under.
constexpr std::array<std::string_view, 8> kNoProviders = {"empty", "consumer", "provider", "override",
                                                          "absent", "route", "condition", "registry"};

// Why a provider cannot be used at all; empty when it can.
std::string_view Unusable(const Url& url) {
  if (std::find(kNoProviders.begin(), kNoProviders.end(), url.protocol()) != kNoProviders.end()) {
    return "no provider's protocol";
  }
  if (url.host().empty()) return "no host to connect to";
  if (url.parts().port > 65535) return "no such port";
  return {};
}

}  // namespace

Updater::Updater(DirectoryConfig config)
    : config_(std::move(config)),
      core_(std::make_shared<DirectoryCore>(
          config_.executor, *config_.clock, config_.seed, config_.consumer,
          absl::FailedPreconditionError(absl::StrCat("no list of ", Shortened(config_.consumer.ServiceKey()),
                                                     " has arrived from the registry yet")))),
      consumer_(config_.consumer) {}

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
  const std::int64_t down_after = updater->config_.consumer.IntParam("down.after", kDownAfter);
  endpoints.down_after = static_cast<std::uint32_t>(std::clamp<std::int64_t>(down_after, 0, kMostDownAfter));
  endpoints.on_change = [alive] {
    if (const auto self = alive.lock()) self->Replan();
  };
  updater->endpoints_ = Endpoints::Create(std::move(endpoints));
  updater->core_->OnHostThrew([alive](std::string_view text) {
    const auto self = alive.lock();
    if (self == nullptr) return;
    self->config_.log->Error("FL-1-3", self->config_.consumer.ServiceKey(), absl::StrCat("a Done callback threw: ", ToAbsl(text)));
  });
  updater->core_->OnNewMethod([alive] {
    if (const auto self = alive.lock()) self->Changed();
  });
  return updater;
}

void Updater::Set(Category category, ListKind kind, std::vector<Url> urls) {
  if (closed_) return;
  stale_[static_cast<std::size_t>(category)] = kind == ListKind::kUnknown;
  if (kind == ListKind::kUnknown) return Changed();
  if (kind == ListKind::kEmpty) urls.clear();
  switch (category) {
    case Category::kProviders:
      providers_ = std::move(urls);
      providers_dirty_ = true;
      break;
    case Category::kConfigurators:
      overrides_ = std::move(urls);
      overrides_dirty_ = true;
      break;
    case Category::kRouters:
      rules_ = std::move(urls);
      rules_dirty_ = true;
      break;
    case Category::kConsumers:
      return;
  }
  Changed();
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
    return !members.empty() && std::all_of(members.begin(), members.end(), [&](const Leaf::Weighed& member) {
      return snapshot.table->states[member.slot]->down();
    });
  });
}

void Updater::Update() {
  replan_ = Timer();
  if (closed_ || !open_) return;
  if (std::exchange(overrides_dirty_, false)) ApplyOverrides();
  if (std::exchange(rules_dirty_, false)) ApplyRules();
  if (std::exchange(providers_dirty_, false)) ApplyProviders();
  if (closed_) return;  // a host callback may have closed us
  Publish();
}

void Updater::ApplyOverrides() {
  bad_overrides_.clear();
  std::vector<absl::Status> rejected;
  configurators_ = Configurators::FromUrls(overrides_, config_.local_address, &rejected, &bad_overrides_);
  std::vector<std::string> lines;
  for (const absl::Status& status : rejected) lines.push_back(absl::StrCat("override: ", status.message()));
  WarnOfEach("FL-3-4", lines);
  // Those without effect, which are there already, are nothing to warn of.
  bad_overrides_.insert(bad_overrides_.end(), lines.begin(), lines.end());
  consumer_ = configurators_.empty() ? config_.consumer
                                     : Url::Of(configurators_.Apply(config_.consumer.parts()), *config_.pool);
  made_.clear();
  providers_dirty_ = true;
}

void Updater::ApplyRules() {
  bad_rules_.clear();
  std::vector<Rule> before = std::exchange(routers_, {});
  for (const Url& url : rules_) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const Rule& rule) { return rule.url == url; });
    if (same != before.end()) {
      routers_.push_back(std::move(*same));
      before.erase(same);
      continue;
    }
    const std::string_view name = url.Param(names::kRouter, url.protocol());
    const auto factory = config_.router(name);
    auto router = factory.ok() ? GuardedRouter::Create(**factory, url, config_.compat, OnFault())
                               : absl::StatusOr<std::shared_ptr<const GuardedRouter>>(factory.status());
    if (!router.ok()) {
      bad_rules_.push_back(absl::StrCat("rule: ", Shortened(url.ToString()), ": ",
                                        Shortened(FromAbsl(router.status().message()))));
    } else if (*router != nullptr) {
      routers_.push_back({url, *std::move(router)});
    }
  }
  WarnOfEach("FL-3-5", bad_rules_);
  std::stable_sort(routers_.begin(), routers_.end(),
                   [](const Rule& a, const Rule& b) { return a.router->order() < b.router->order(); });
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
  const std::string_view protocols = config_.consumer.Param("protocol");
  const auto wanted_protocol = [&](std::string_view protocol) {
    return protocols.empty() || absl::StrCat(",", ToAbsl(protocols), ",").find(absl::StrCat(",", ToAbsl(protocol), ",")) !=
                                    std::string::npos;
  };
  const auto make = [&](const Url& original) {
    Made made{original, nullptr, Unusable(original)};
    if (made.why.empty() && !(wanted_protocol(original.protocol()) && Speaks(original.protocol()))) {
      made.why = "protocol not spoken here";
    }
    if (made.why.empty()) made.wanted = std::make_shared<const Endpoints::Wanted>(original, Effective(original));
    return made;
  };
  std::vector<Made> before = std::exchange(made_, {});
  made_.reserve(providers_.size());
  Endpoints::WantedList list;
  list.reserve(providers_.size());
  // Lists mostly stay as they were, but for a few urls that come and go: the two are gone through side by side.
  std::size_t next = 0;
  std::unordered_map<Url, std::size_t, UrlHash> index;  // of `before`, made when the two are too far apart
  const auto near = [&](const Url& original) {
    std::size_t at = next;
    while (at < std::min(next + 2, before.size()) && !before[at].original.Is(original)) ++at;
    return at < std::min(next + 2, before.size()) ? at : before.size();
  };
  const auto find = [&](std::size_t place) -> Made* {
    const Url& original = providers_[place];
    if (const std::size_t at = near(original); at < before.size()) {
      next = at + 1;
      return &before[at];
    }
    // The next one is where it was, so this one is new; or it has moved, and is made again like before.
    if (place + 1 == providers_.size() || near(providers_[place + 1]) < before.size()) return nullptr;
    if (index.empty()) {
      for (std::size_t i = 0; i < before.size(); ++i) index.emplace(before[i].original, i);
    }
    const auto known = index.find(original);
    if (known == index.end()) return nullptr;
    Made& made = before[known->second];
    // Equality ignores the timestamp, the base of warm-up, which the effective url must have.
    if (made.original.timestamp_ms() != original.timestamp_ms()) return nullptr;
    next = known->second + 1;
    return &made;
  };
  for (std::size_t i = 0; i < providers_.size(); ++i) {
    const Url& original = providers_[i];
    Made* known = find(i);
    // What could not be used is looked at anew: the host may have thrown when it was asked.
    made_.push_back(known != nullptr && known->wanted != nullptr ? std::move(*known) : make(original));
    const Made& made = made_.back();
    if (made.wanted != nullptr) {
      list.push_back(made.wanted);
    } else {
      bad_providers_.push_back(absl::StrCat(ToAbsl(made.why), ": ", Shortened(original.ToString())));
    }
  }
  WarnOfEach("FL-3-6", bad_providers_);
  endpoints_->Apply(list);
}

// Repeats of a line are held back by its subject, so each bad input has one of its own. Of a list that is all bad the
// first hundred are enough.
void Updater::WarnOfEach(std::string_view code, const std::vector<std::string>& inputs) const {
  const std::string service = Shortened(config_.consumer.ServiceKey(), 100);
  for (std::size_t i = 0; i < std::min<std::size_t>(inputs.size(), 100); ++i) {
    config_.log->Warn(code, absl::StrCat(service, " ", absl::Hex(HashBytes(inputs[i]), absl::kZeroPad8)), inputs[i]);
  }
}

bool Updater::Speaks(std::string_view protocol) const {
  bool speaks = false;
  CallHost([&] { speaks = config_.protocol->Speaks(protocol); },
           [this](std::string_view text) {
             config_.log->Error("FL-3-8", config_.consumer.ServiceKey(), absl::StrCat("Protocol::Speaks threw: ", ToAbsl(text)));
           });
  return speaks;
}

Url Updater::Effective(const Url& original) const {
  UrlParts merged = MergeConsumer(original.parts(), config_.consumer.parts().params);
  // The consumer's own category is about its subscription, its side is what overrides are compared with.
  merged.params.erase(names::kCategory);
  if (!configurators_.empty()) merged = configurators_.Apply(std::move(merged));
  return Url::Of(std::move(merged), *config_.pool);
}

absl::Status Updater::EmptyStatus() const {
  const std::string service = Shortened(config_.consumer.ServiceKey());
  if (providers_.empty() && stale_[static_cast<std::size_t>(Category::kProviders)]) {
    return absl::UnavailableError(absl::StrCat("no provider of ", service, ": none of the registry's entries can be read"));
  }
  if (providers_.empty()) {
    return absl::UnavailableError(absl::StrCat("no enabled provider of ", service, " in the registry",
                                               empty_reason_.empty() ? "" : ": ", Shortened(empty_reason_)));
  }
  if (endpoints_->disabled() == providers_.size()) {
    return absl::UnavailableError(
        absl::StrCat("no provider of ", service, ": all ", providers_.size(), " are disabled"));
  }
  const auto& skipped = endpoints_->skipped();
  const std::string& first = !bad_providers_.empty() ? bad_providers_.front() : skipped.empty() ? service : skipped.front();
  return absl::UnavailableError(absl::StrCat("no provider of ", service, ": none of the ", providers_.size(),
                                             " listed can be used (", Shortened(first), ")"));
}

void Updater::Publish() {
  SnapshotInput input;
  input.version = ++version_;
  input.now = config_.clock->SteadyNow();
  input.wall_ms = config_.clock->SystemMillis();
  input.service = Shortened(config_.consumer.ServiceKey());
  input.consumer = consumer_;
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
  for (const Rule& rule : routers_) input.routers.push_back(rule.router);
  input.policy = config_.policy;
  if (input.table->by_rank.empty()) {
    input.status = EmptyStatus();
  } else if (input.valid.empty()) {
    input.status = absl::UnavailableError(absl::StrCat("no provider of ", input.service, ": all ",
                                                       input.table->by_rank.size(), " are down"));
  }
  const std::vector<std::string> unreadable = endpoints_->Unreadable();
  for (const std::vector<std::string>* texts : {&std::as_const(bad_providers_), &std::as_const(bad_rules_),
                                                &std::as_const(bad_overrides_), &endpoints_->skipped(), &unreadable}) {
    for (const std::string& text : *texts) input.skipped.push_back(Shortened(text, kMostSkippedBytes));
  }
  for (std::size_t i = 0; i < stale_.size(); ++i) {
    if (!stale_[i]) continue;
    input.skipped.push_back(absl::StrCat("the registry cannot say its ", ToAbsl(CategoryName(static_cast<Category>(i))),
                                         " now; the last ones known are used"));
  }
  if (config_.unreadable) {
    for (const std::string& child : config_.unreadable()) input.skipped.push_back(Shortened(child, kMostSkippedBytes));
  }
  if (config_.registry_state) input.registry = Shortened(config_.registry_state());

  auto snapshot = BuildSnapshot(std::move(input), core_->methods(), &core_->Mutable());
  const bool has_runtime_rules = !snapshot->runtime.empty();
  // The providers that left may give no lease from here on, but must until picks see a list without them.
  core_->Publish(std::move(snapshot), [endpoints = endpoints_] { return endpoints->DrainRemoved(); });
  ScheduleWarmup();
  if (has_runtime_rules) {
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
    const std::vector<PlanKey> wanted = self->core_->TakeWanted();
    if (!wanted.empty()) {
      const PlanCount count = AddPlans(self->core_->Mutable(), wanted);
      self->core_->CountPlans(count.built, count.refused);
    }
    self->ScheduleTick();
  });
}

void Updater::Close(std::chrono::nanoseconds deadline, absl::AnyInvocable<void()> done) {
  const bool first = !std::exchange(closed_, true);
  if (first) {
    for (Timer* timer : {&warmup_, &tick_, &replan_}) timer->Cancel();
    auto closed = std::make_unique<DirectorySnapshot>();
    closed->version = ++version_;
    closed->service = Shortened(config_.consumer.ServiceKey());
    closed->consumer = consumer_;
    closed->consumer_as_given = config_.consumer;
    closed->built_at = config_.clock->SteadyNow();
    closed->status = absl::CancelledError(absl::StrCat("the directory of ", closed->service, " was closed"));
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
