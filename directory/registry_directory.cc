#include "fairlead/directory/registry_directory.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "fairlead/base/strings.h"
#include "fairlead/registry/registry_key.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead {
namespace {

constexpr std::uint32_t Bit(Category category) { return 1u << static_cast<unsigned>(category); }

// What the first snapshot waits for: the categories of the subscription that say something of picks.
std::uint32_t NeededBy(const Url& consumer) {
  std::uint32_t needed = Bit(Category::kProviders);
  for (const Category category : SubscribedCategories(consumer.parts())) {
    if (category != Category::kConsumers) needed |= Bit(category);
  }
  return needed;
}

}  // namespace

std::shared_ptr<RegistryDirectory> RegistryDirectory::Create(DirectoryConfig config) {
  std::shared_ptr<RegistryDirectory> directory(new RegistryDirectory(std::move(config)));
  if (directory->source_ != nullptr) {
    for (const internal::RuleKey& key : internal::RuleKeysOf(directory->consumer_.parts())) directory->Follow(key);
  }
  return directory;
}

RegistryDirectory::RegistryDirectory(DirectoryConfig config)
    : executor_(config.executor),
      log_(config.log),
      consumer_(config.consumer),
      needed_(NeededBy(consumer_)),
      why_empty_(config.why_empty),
      source_(config.documents),
      updater_(internal::Updater::Create(std::move(config))) {}

void RegistryDirectory::NotifyUnion(Notification full, bool all) {
  // A protection before this one may end after the directory.
  if (absl::IsCancelled(updater_->core()->Mutable().status)) return;
  // A first word of kUnknown is an answer too: there are children, and none can be read. Waiting would not help.
  if (all) told_ |= Bit(full.category);
  heard_ |= full.category == Category::kProviders;
  if (full.category == Category::kProviders && full.kind == ListKind::kEmpty && !full.cached && why_empty_) {
    why_empty_([alive = weak_from_this()](std::string reason) {
      if (const auto self = alive.lock()) self->updater_->SetEmptyReason(std::move(reason));
    });
  }
  if (full.category != Category::kProviders) {
    // Written beside a document that says the same, for readers that know no documents.
    std::erase_if(full.urls, [](const Url& url) { return !url.Param(names::kCompatibleConfig).empty(); });
  }
  if (full.category == Category::kProviders) cached_ = full.cached;
  if (full.category == Category::kProviders && full.kind == ListKind::kList && source_ != nullptr) {
    // The last ones may stay, protected, and with them what is said of their applications.
    if (!full.urls.empty()) FollowApplications(full.urls);
    held_ = std::move(full.urls);
    TellProviders();
  } else {
    if (full.category == Category::kProviders && full.kind == ListKind::kEmpty) held_.reset();
    updater_->Set(full.category, full.kind, std::move(full.urls), std::move(full.unreadable), full.cached);
  }
  if (updater_->open()) return;
  OpenIfComplete();
  if (updater_->open()) return;
  if (waited_) return OpenWithoutRules();
  if (gate_.armed()) return;
  gate_ = executor_->After(RulesWait(consumer_), [alive = weak_from_this()] {
    const auto self = alive.lock();
    if (self == nullptr) return;
    self->waited_ = true;
    self->OpenWithoutRules();
  });
}

void RegistryDirectory::Follow(const internal::RuleKey& key) {
  const auto [at, fresh] = documents_.try_emplace(key);
  if (!fresh) return;
  updater_->SetDocument(key, absl::UnavailableError("the registry has not answered yet"));
  at->second.watch = source_->Watch(key.name(), [alive = weak_from_this(), key](const auto& text) {
    if (const auto self = alive.lock()) self->OnDocument(key, text);
  });
}

void RegistryDirectory::OnDocument(const internal::RuleKey& key, const absl::StatusOr<std::optional<std::string>>& text) {
  const auto at = documents_.find(key);
  if (at == documents_.end()) return;
  updater_->SetDocument(key, text);
  if (at->second.answered || !IsAnswer(text)) return;
  at->second.answered = true;
  if (updater_->open()) {
    TellProviders();
  } else {
    OpenIfComplete();
  }
}

bool RegistryDirectory::Answered(const std::vector<internal::RuleKey>& keys) const {
  return std::all_of(keys.begin(), keys.end(), [this](const internal::RuleKey& key) {
    const auto at = documents_.find(key);
    return at == documents_.end() || at->second.answered;
  });
}

bool RegistryDirectory::Complete() const {
  if ((told_ & needed_) != needed_) return false;
  return cached_ || std::all_of(documents_.begin(), documents_.end(), [](const auto& one) { return one.second.answered; });
}

void RegistryDirectory::OpenIfComplete() {
  if (!Complete()) return;
  gate_ = Timer();
  for (auto& [name, application] : applications_) application.waited = true;
  updater_->Open();
}

// Which applications there are providers of. Documents of one that is not listed any more are not followed any more; who
// comes back waits anew.
void RegistryDirectory::FollowApplications(const std::vector<Url>& providers) {
  std::set<std::string, std::less<>> listed;
  const UrlParts* last = nullptr;  // providers in common mostly follow each other
  for (const Url& provider : providers) {
    if (std::exchange(last, &provider.common()) == &provider.common()) continue;
    if (const std::string_view name = provider.Application(); listed.find(name) == listed.end()) listed.emplace(name);
  }
  for (auto at = applications_.begin(); at != applications_.end();) {
    if (listed.contains(at->first)) {
      ++at;
      continue;
    }
    for (const internal::RuleKey& key : at->second.keys) {
      documents_.erase(key);
      updater_->ForgetDocument(key);
    }
    at = applications_.erase(at);
  }
  const UrlParts consumer = consumer_.parts();
  for (const std::string& name : listed) {
    const auto [at, fresh] = applications_.try_emplace(name);
    if (!fresh) continue;
    Application& application = at->second;
    application.keys = internal::RuleKeysOfProviders(name, consumer);
    for (const internal::RuleKey& key : application.keys) Follow(key);
    if (!updater_->open() || application.keys.empty()) continue;  // the gate waits for all of them
    application.wait = executor_->After(RulesWait(consumer_), [alive = weak_from_this(), name] {
      const auto self = alive.lock();
      if (self == nullptr) return;
      const auto late = self->applications_.find(name);
      if (late == self->applications_.end() || late->second.waited) return;
      self->log_->Warn("FL-3-7", self->consumer_.ServiceKey(),
                       "documents of application " + Shortened(name, 100) + " did not arrive within " +
                           std::to_string(RulesWait(self->consumer_).count()) + " ms; its providers are used without them until they do");
      late->second.waited = true;
      self->TellProviders();
    });
  }
}

// What of the list has its documents, and the rest as soon as it has.
void RegistryDirectory::TellProviders() {
  if (!held_.has_value()) return;
  bool all = true;
  for (auto& [name, application] : applications_) {
    if (!application.waited && updater_->open() && !cached_) {
      application.waited = Answered(application.keys);
      all &= application.waited;
    }
    if (application.waited) application.wait = Timer();
  }
  if (all) return updater_->Set(Category::kProviders, ListKind::kList, *std::exchange(held_, std::nullopt), {}, cached_);
  std::vector<Url> ready;
  for (const Url& provider : *held_) {
    if (applications_.find(provider.Application())->second.waited) ready.push_back(provider);
  }
  // An empty list would say that there is nobody.
  if (!ready.empty()) updater_->Set(Category::kProviders, ListKind::kList, std::move(ready), {}, cached_);
}

std::chrono::milliseconds RulesWait(const Url& consumer) {
  return std::chrono::milliseconds(consumer.IntParam("rules.wait", 3000));
}

// The wait is over; without providers there is nothing to open with.
void RegistryDirectory::OpenWithoutRules() {
  if (!heard_) return;
  for (auto& [name, application] : applications_) application.waited = true;
  log_->Warn("FL-3-7", consumer_.ServiceKey(),
             "rules, overrides or documents did not arrive within " + std::to_string(RulesWait(consumer_).count()) +
                 " ms; picks go on without them until they do");
  updater_->Open();
}

std::shared_ptr<Directory> RegistryDirectory::MakeDirectory(absl::AnyInvocable<void()> on_destroy) const {
  return std::make_shared<Directory>(updater_->core(), std::move(on_destroy));
}

void RegistryDirectory::Close(std::chrono::nanoseconds deadline, absl::AnyInvocable<void()> done) {
  gate_ = Timer();
  applications_.clear();
  documents_.clear();
  updater_->Close(deadline, std::move(done));
}

}  // namespace fairlead
