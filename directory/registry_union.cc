#include "fairlead/directory/registry_union.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "fairlead/base/strings.h"
#include "fairlead/directory/registry_directory.h"
#include "fairlead/url/url_hash.h"

namespace fairlead::internal {
namespace {

constexpr Category kCategories[] = {Category::kProviders, Category::kConfigurators, Category::kRouters};
constexpr std::size_t At(Category category) { return static_cast<std::size_t>(category); }

}  // namespace

class RegistryUnion::FromSource final : public NotifyListener {
 public:
  FromSource(std::shared_ptr<RegistryUnion> to, std::size_t source) : to_(std::move(to)), source_(source) {}
  void Notify(Notification full) override { to_->Take(source_, std::move(full)); }
  void OnRegistryChange() override {
    if (const auto directory = to_->directory_.lock()) directory->OnRegistryChange();
  }

 private:
  const std::shared_ptr<RegistryUnion> to_;
  const std::size_t source_;
};

std::shared_ptr<RegistryUnion> RegistryUnion::Create(Config config) {
  std::shared_ptr<RegistryUnion> all(new RegistryUnion(std::move(config)));
  RegistryUnion* const raw = all.get();
  all->sources_.resize(all->config_.sources.size());
  for (std::size_t i = 0; i < all->sources_.size(); ++i) {
    const Source& source = all->config_.sources[i];
    ProviderGuard::Config guard;
    guard.executor = all->config_.executor;
    guard.clock = all->config_.clock;
    guard.log = all->config_.log;
    guard.service = all->config_.service;
    guard.registry = source.name;
    guard.max_age = source.protect_max_age;
    guard.on_begin = [raw, i] {
      const auto now = raw->config_.clock->SteadyNow();
      if (raw->sources_[i].overrides.Hold(now)) raw->Tell(Category::kConfigurators, {});
      if (raw->sources_[i].rules.Hold(now)) raw->Tell(Category::kRouters, {});
    };
    guard.on_end = [raw, i] {
      const auto now = raw->config_.clock->SteadyNow();
      if (raw->sources_[i].overrides.LetGo(now)) raw->Tell(Category::kConfigurators, {});
      if (raw->sources_[i].rules.LetGo(now)) raw->Tell(Category::kRouters, {});
    };
    guard.on_give_up = [raw, i] {
      raw->sources_[i].providers.clear();
      raw->Tell(Category::kProviders, {});
    };
    all->sources_[i].name = source.name;
    all->sources_[i].guard = std::make_unique<ProviderGuard>(std::move(guard));
  }
  return all;
}

std::shared_ptr<NotifyListener> RegistryUnion::Listener(std::size_t source) {
  return std::make_shared<FromSource>(shared_from_this(), source);
}

void RegistryUnion::Take(std::size_t source, Notification full) {
  Lists& lists = sources_[source];
  const std::size_t at = At(full.category);
  lists.told[at] = true;
  lists.stale[at] = full.kind == ListKind::kUnknown;
  lists.cached[at] = full.cached;
  if (full.kind == ListKind::kEmpty) full.urls.clear();
  if (full.kind != ListKind::kUnknown) {
    const auto now = config_.clock->SteadyNow();
    switch (full.category) {
      case Category::kProviders:
        if (!full.urls.empty()) {
          lists.guard->OnList();
          lists.providers = std::move(full.urls);
        } else if (lists.guard->OnEmpty(InUse(lists))) {
          lists.providers.clear();
        }
        break;
      case Category::kConfigurators:
        lists.overrides.Set(full.kind, std::move(full.urls), std::move(full.unreadable), now);
        break;
      case Category::kRouters:
        lists.rules.Set(full.kind, std::move(full.urls), std::move(full.unreadable), now);
        break;
      case Category::kConsumers:
        return;
    }
  }
  Tell(full.category, full.service);
}

// Who disabled a provider before it went away does not want it back.
std::size_t RegistryUnion::InUse(const Lists& lists) const {
  const auto directory = directory_.lock();
  if (directory == nullptr) return 0;
  const std::vector<Url> off = directory->Disabled();
  if (off.empty()) return lists.providers.size();
  const absl::flat_hash_set<Url, UrlHash> disabled(off.begin(), off.end());
  return static_cast<std::size_t>(std::count_if(lists.providers.begin(), lists.providers.end(),
                                                [&](const Url& url) { return !disabled.contains(url); }));
}

void RegistryUnion::Tell(Category category, const std::string& service) {
  const auto directory = directory_.lock();
  if (directory == nullptr) return;
  Notification news = Union(category);
  news.service = service;
  const bool all = std::all_of(sources_.begin(), sources_.end(),
                               [&](const Lists& lists) { return lists.told[At(category)]; });
  directory->NotifyUnion(std::move(news), all);
}

Notification RegistryUnion::Union(Category category) const {
  const std::size_t at = At(category);
  Notification news;
  news.category = category;
  news.cached = true;
  bool anybody_says = false;
  absl::flat_hash_map<Url, std::size_t, UrlHash> known;
  for (const Lists& lists : sources_) {
    if (!lists.told[at]) continue;
    anybody_says |= !lists.stale[at];
    news.cached &= lists.cached[at];
    const HeldList* held = category == Category::kConfigurators ? &lists.overrides : &lists.rules;
    const std::vector<Url>& urls = category == Category::kProviders ? lists.providers : held->urls();
    for (const Url& url : urls) {
      const auto [found, fresh] = known.try_emplace(url, news.urls.size());
      if (fresh) {
        news.urls.push_back(url);
      } else if (Url& first = news.urls[found->second]; first.timestamp_ms() < url.timestamp_ms()) {
        first = url;
      }
    }
    if (category == Category::kProviders) continue;
    news.unreadable.insert(news.unreadable.end(), held->unreadable().begin(), held->unreadable().end());
  }
  if (!news.urls.empty() || !news.unreadable.empty()) {
    news.kind = ListKind::kList;
  } else {
    news.kind = anybody_says ? ListKind::kEmpty : ListKind::kUnknown;
  }
  return news;
}

std::vector<std::string> RegistryUnion::Remarks() const {
  std::vector<std::string> remarks;
  for (const Lists& lists : sources_) {
    std::vector<std::string> silent, stale, cached;
    for (const Category category : kCategories) {
      std::string name(CategoryName(category));
      if (!lists.told[At(category)] || (lists.cached[At(category)] && lists.stale[At(category)])) {
        silent.push_back(std::move(name));
      } else if (lists.cached[At(category)]) {
        cached.push_back(std::move(name));
      } else if (lists.stale[At(category)]) {
        stale.push_back(std::move(name));
      }
    }
    const auto say = [&](const std::vector<std::string>& which, std::string_view does, std::string_view what) {
      if (which.empty()) return;
      remarks.push_back(absl::StrCat(lists.name, " ", ToAbsl(does), " ", absl::StrJoin(which, ", "), ToAbsl(what)));
    };
    say(silent, "has not said its", " yet");
    say(cached, "has not answered yet; its", " are those of the list cache file");
    say(stale, "cannot say its", " now; the last ones known are used");
    for (const auto& [list, what] : {std::pair(&lists.overrides, "overrides"), std::pair(&lists.rules, "rules")}) {
      if (!list->held()) continue;
      remarks.push_back(absl::StrCat(lists.name, " lists no ", what,
                                     " any more; the last ones stay in force with the protected providers"));
    }
  }
  return remarks;
}

std::optional<ProtectedList> RegistryUnion::protection() const {
  std::optional<ProtectedList> all;
  for (const Lists& lists : sources_) {
    const std::optional<ProtectedList>& one = lists.guard->list();
    if (!one.has_value()) continue;
    if (!all.has_value()) {
      all = one;
      continue;
    }
    if (one->since < all->since) {
      all->since = one->since;
      all->since_ms = one->since_ms;
    }
    if (one->until > all->until) {
      all->until = one->until;
      all->until_ms = one->until_ms;
    }
    all->providers += one->providers;
    absl::StrAppend(&all->registry, ", ", one->registry);
  }
  return all;
}

void RegistryUnion::ClearProtection() {
  for (Lists& lists : sources_) lists.guard->Clear();
}

}  // namespace fairlead::internal
