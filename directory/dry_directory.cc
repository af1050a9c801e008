#include "fairlead/directory/dry_directory.h"

#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/directory_core.h"
#include "fairlead/directory/rule_documents.h"
#include "fairlead/directory/rule_keys.h"
#include "fairlead/loadbalance/policies.h"
#include "fairlead/routing/condition/condition_router.h"

namespace fairlead::internal {
namespace {

class Connectionless final : public Protocol {
 public:
  absl::StatusOr<std::unique_ptr<Invoker>> Refer(const Url& effective, Availability) override {
    return std::make_unique<None>(effective);
  }

 private:
  class None final : public Invoker {
   public:
    explicit None(const Url& url) : url_(url) {}
    const Url& url() const override { return url_; }
    bool IsAvailable() const noexcept override { return true; }
    void Destroy() override {}

   private:
    const Url url_;
  };
};

struct UrlHash {
  std::size_t operator()(const Url& url) const { return url.Hash(); }
};

}  // namespace

DryWorld::DryWorld(const DryRunInput& input) {
  providers.reserve(input.listing.providers.size());
  // Anew in our pool: others sweep theirs.
  for (const auto& provider : input.listing.providers) providers.push_back(Url::Of(provider.url.parts(), pool));
}

// What is to run is run by whoever made the directory; nothing is ever late, so no timer fires. A snapshot that a live
// pick's read section holds back is freed by other threads later, whose tasks then come to nothing.
class DryDirectory::Tasks final : public Executor {
 public:
  void Post(absl::AnyInvocable<void()> task) override {
    const std::lock_guard lock(mutex_);
    if (!ended_) tasks_.push_back(std::move(task));
  }
  [[nodiscard]] Timer After(std::chrono::nanoseconds, absl::AnyInvocable<void()>) override { return Timer(); }
  bool RunsHere() const override { return true; }

  void RunAll() {
    while (auto task = Next()) task();
  }
  void End() {
    std::deque<absl::AnyInvocable<void()>> dropped;  // destroyed without the lock: what tasks own may post
    const std::lock_guard lock(mutex_);
    ended_ = true;
    dropped.swap(tasks_);
  }

 private:
  absl::AnyInvocable<void()> Next() {
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) return nullptr;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    return task;
  }

  std::mutex mutex_;
  bool ended_ = false;
  std::deque<absl::AnyInvocable<void()>> tasks_;
};

class DryDirectory::Source final : public RuleSource {
 public:
  Source(std::shared_ptr<Tasks> tasks, const RuleSet& rules) : tasks_(std::move(tasks)), rules_(&rules) {}

  // Whoever follows a document here does so until the end.
  RuleWatch Watch(const std::string& name, Told told) override {
    Tell(name, told);
    watched_.emplace(name, std::move(told));
    return RuleWatch();
  }
  void Set(const RuleSet& rules) {
    rules_ = &rules;
    for (const auto& [name, told] : watched_) Tell(name, told);
  }
  bool watched(const std::string& name) const { return watched_.contains(name); }

 private:
  void Tell(const std::string& name, const Told& told) {
    const auto at = rules_->documents.find(name);
    std::optional<std::string> text;
    if (at != rules_->documents.end()) text = at->second;
    tasks_->Post([told, text = std::move(text)] { told(text); });
  }

  const std::shared_ptr<Tasks> tasks_;
  const RuleSet* rules_;
  std::multimap<std::string, Told> watched_;
};

DryDirectory::DryDirectory(const std::shared_ptr<DryWorld>& world, const DryRunInput& input, const Url& consumer,
                           const std::vector<const RuleSet*>& rules)
    : world_(world), tasks_(std::make_shared<Tasks>()), rules_(rules), source_(std::make_shared<Source>(tasks_, *rules.front())) {
  DirectoryConfig& config = config_;
  config.keep = world;
  config.executor = tasks_;
  config.clock = &world->clock;
  config.log = &world->log;
  config.pool = &world->pool;
  config.protocol = std::make_shared<Connectionless>();
  config.consumer = consumer;
  config.local_address = input.local_address.empty() ? std::string(consumer.host()) : input.local_address;
  config.compat = input.compat;
  config.documents = source_;
  config.policy = [own = DefaultLoadBalances(), more = input.policy](
                      std::string_view name) -> absl::StatusOr<std::shared_ptr<const LoadBalance>> {
    for (const auto& policy : own) {
      if (policy->name() == name) return policy;
    }
    if (more) return more(name);
    return absl::NotFoundError(absl::StrCat("there is no policy ", Shortened(name, 80)));
  };
  config.router = [condition = MakeConditionRouterFactory(), more = input.router](
                      std::string_view name) -> absl::StatusOr<std::shared_ptr<RouterFactory>> {
    if (name == "condition" || name == "route") return condition;
    if (more) return more(name);
    return absl::NotFoundError(absl::StrCat("there is no router ", Shortened(name, 80)));
  };
  directory_ = RegistryDirectory::Create(config);
  Tell(*rules.front());
  const std::vector<Url>& providers = world->providers;
  directory_->Notify({std::string(), Category::kProviders, 1, providers.empty() ? ListKind::kEmpty : ListKind::kList, providers, {}});
  tasks_->RunAll();
  for (std::size_t i = 1; i < rules.size(); ++i) {
    source_->Set(*rules[i]);
    Tell(*rules[i]);
    tasks_->RunAll();
  }

  std::unordered_map<Url, std::size_t, UrlHash> places;
  for (std::size_t i = 0; i < providers.size(); ++i) places.try_emplace(providers[i], i);
  places_.resize(snapshot().table->providers.size());
  for (const Slot slot : snapshot().table->by_rank) places_[slot] = places.at(snapshot().table->providers[slot].original);
}

DryDirectory::~DryDirectory() {
  directory_->Close(std::chrono::nanoseconds(0), nullptr);
  tasks_->RunAll();
  tasks_->End();
}

void DryDirectory::Tell(Category category, const std::vector<std::string>& texts) {
  std::vector<Url> urls;
  std::vector<std::string> unreadable;
  for (const std::string& text : texts) {
    absl::StatusOr<Url> url = Url::Parse(text, world_->pool);
    if (url.ok()) {
      urls.push_back(*std::move(url));
    } else {
      unreadable.push_back(absl::StrCat(Shortened(FromAbsl(url.status().message()))));
    }
  }
  const ListKind kind = texts.empty() ? ListKind::kEmpty : ListKind::kList;
  directory_->Notify({std::string(), category, version_, kind, std::move(urls), std::move(unreadable)});
}

void DryDirectory::Tell(const RuleSet& rules) {
  ++version_;
  Tell(Category::kConfigurators, rules.overrides);
  Tell(Category::kRouters, rules.rules);
}

std::vector<std::string> DryDirectory::Broken() const {
  std::vector<std::string> lines = directory_->BrokenRules();
  RuleDocuments unread(config_);
  for (const RuleSet* rules : rules_) {
    for (const auto& [name, text] : rules->documents) {
      const auto parts = ParseRuleName(name);
      if (!parts.has_value() || Reads(name) || !rules_.back()->documents.contains(name)) continue;
      unread.Set({RuleScope::kProviderApplication, parts->kind, std::string(parts->owner)}, std::optional(text));
    }
    unread.Apply(nullptr);
  }
  const std::vector<std::string> more = unread.Broken();
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

DirectorySnapshot& DryDirectory::snapshot() const { return directory_->core()->Mutable(); }

std::size_t DryDirectory::PlaceOf(Slot slot) const { return places_[slot]; }

bool DryDirectory::Reads(const std::string& document) const { return source_->watched(document); }

}  // namespace fairlead::internal
