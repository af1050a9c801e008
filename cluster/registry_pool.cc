#include "fairlead/cluster/registry_pool.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "absl/strings/str_cat.h"

#include "fairlead/base/asio_executor.h"
#include "fairlead/base/hash.h"
#include "fairlead/base/strings.h"
#include "fairlead/cluster/input_checks.h"
#include "fairlead/registry/cached_lists.h"
#include "fairlead/url/url_address.h"

namespace fairlead::internal {
namespace {

// What a connection is made with, so that a later url of the same registry has no say in it.
constexpr std::string_view kConnectionParameters[] = {
    "session",   "retry.period", "retry.times",   "missing.grace", "resync.period", "delay-notification", "file",
    "file.wait", "file-cache",   "file.interval", "file.cache",    "save.file",     "reconnect.period",   "connection.timeout",
    "so.timeout", "reply.wait",  "unicast",       "clean",         "namespace",     "dubbo.config-center.root-path",
    "dubbo.config-center.base-path"};

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

}  // namespace

absl::StatusOr<RegistryAccess> RegistryPool::Acquire(const std::string& text, const std::string& caller) {
  if (ended_ != nullptr) return absl::CancelledError("the runtime was shut down");
  absl::StatusOr<UrlParts> parts = ParseLenient(text);
  if (!parts.ok()) return parts.status();
  if (!parts->protocol || parts->protocol->empty()) {
    return absl::InvalidArgumentError(absl::StrCat("registry ", Shortened(parts->ToString()),
                                                   " has no scheme; write for example zookeeper://host:2181"));
  }
  UrlParts place = *parts;
  // Behind a host a path says nothing; alone it is the place, file:///etc/providers.txt.
  if (!place.host.value_or("").empty()) place.path.reset();
  const Url url = Url::Of(*std::move(parts), urls_);
  auto factory = options_.extensions.Registry(url.protocol());
  if (!factory.ok()) return factory.status();
  absl::StatusOr<RegistryOptions> parsed = RegistryOptions::Parse(url);
  if (!parsed.ok()) return parsed.status();
  if (absl::Status refused = (*factory)->Check(url); !refused.ok()) return refused;
  RegistryAccess access{nullptr, url, *parsed, {}};
  WarnOfEach(parsed->address, "registry", UnreadableInRegistryUrl(url), &access.remarks);

  // A password may stand without a user's name.
  const std::string key =
      absl::StrCat(place.ToIdentityString(), "|", place.password.value_or(""), "|", ToAbsl(url.Param("backup")), "|",
                   parsed->group, "|", (*factory)->Place(url));
  access.registry = registries_[key].lock();
  if (access.registry != nullptr) {
    WarnOfOtherConnection(parsed->address, access.registry->url, url);
    return access;
  }
  RegistryContext context;
  context.executor = options_.executor;
  context.clock = options_.clock;
  context.pool = &urls_;
  context.log = &log_;
  context.seed = Mix64(options_.seed + registries_.size());
  context.cache_file = options_.cache_file;
  if (const std::string home = HomeDirectory(); context.cache_file.empty() && (*factory)->CachesByDefault() && !home.empty()) {
    context.cache_file = DefaultCacheFile(url, home, ApplicationIn(caller), (*factory)->Place(url));
  }
  if (!CacheFilePath(url, context.cache_file).empty()) context.file_executor = FileExecutor();
  auto backend = (*factory)->Create(url, context);
  if (!backend.ok()) return backend.status();
  auto failback = FailbackRegistry::Create(url, *std::move(backend), context);
  auto documents = RegistryRuleSource::Create(failback->backend(), options_.executor);
  access.registry = RegistryHold(new PooledRegistry{next_number_++, url, std::move(failback), std::move(documents)},
                                 [this, weak = owner_](PooledRegistry* entry) {
                                   entry->documents->Close();
                                   if (auto owner = weak.lock()) End(std::move(entry->registry), std::move(owner));
                                   delete entry;
                                 });
  registries_[key] = access.registry;
  return access;
}

// Null: the control plane's own.
std::shared_ptr<Executor> RegistryPool::FileExecutor() {
  if (options_.file_executor != nullptr || !own_thread_) return options_.file_executor;
  if (file_thread_ == nullptr) file_thread_ = MakeThreadExecutor("fairlead-file");
  return file_thread_;
}

void RegistryPool::WarnOfOtherConnection(const std::string& address, const Url& first, const Url& later) {
  std::string others;
  for (const std::string_view name : kConnectionParameters) {
    if (later.Param(name).empty() || later.Param(name) == first.Param(name)) continue;
    absl::StrAppend(&others, others.empty() ? "" : ", ", ToAbsl(name), "=", Shortened(later.Param(name), 60));
  }
  if (others.empty()) return;
  log_.WarnOf("FL-4-3", address, others,
              absl::StrCat("has its connection from an earlier url; that one's values hold instead of ", others));
}

void RegistryPool::WarnOfEach(const std::string& about, std::string_view whose, std::vector<std::string> remarks,
                              std::vector<std::string>* all) const {
  for (std::string& remark : remarks) remark = absl::StrCat(ToAbsl(whose), " parameter ", remark);
  log_.WarnOfEach("FL-4-2", about, remarks);
  if (all != nullptr) all->insert(all->end(), remarks.begin(), remarks.end());
}

void RegistryPool::End(std::shared_ptr<FailbackRegistry> registry, std::shared_ptr<void> owner) {
  FailbackRegistry* raw = registry.get();
  const std::uint64_t id = next_number_++;
  closing_[id] = std::move(registry);
  raw->Destroy([this, owner = std::move(owner), id](absl::Status status) {
    if (ended_ != nullptr) trouble_.Update(status);
    // Not inside the registry's own callback.
    options_.executor->Post([this, owner, id] {
      closing_.erase(id);
      if (ended_ != nullptr) CheckEnded();
    });
  });
}

std::vector<RegistryReading> RegistryPool::Readings() const {
  std::vector<RegistryReading> readings;
  for (const auto& [key, weak] : registries_) {
    if (const RegistryHold entry = weak.lock()) readings.push_back({entry->number, entry->registry->status()});
  }
  return readings;
}

void RegistryPool::Close(absl::AnyInvocable<void()> ended) { ended_ = std::move(ended); }

void RegistryPool::CheckEnded() {
  if (!closing_.empty()) return;
  for (const auto& [key, weak] : registries_) {
    if (!weak.expired()) return;  // its last part is just ending
  }
  ended_();
}

void RegistryPool::Drop() {
  registries_.clear();
  closing_.clear();
  if (file_thread_ != nullptr) file_thread_->Stop();
}

}  // namespace fairlead::internal
