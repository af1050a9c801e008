#include "fairlead/registry/list_cache.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/percent.h"

namespace fairlead::internal {
namespace {

constexpr std::chrono::milliseconds kRetryFirst{1000}, kRetryLongest{60000};
// What nobody has subscribed for this many days goes; but a process that just started has not subscribed everything
// it is going to, and may have been running, with nothing to write, for longer than that before.
constexpr std::int64_t kMostIdleDays = 30;
constexpr std::chrono::hours kSettled{1};

std::int64_t DayOf(std::int64_t seconds) { return seconds / (24 * 60 * 60); }

// A line without blanks at its ends, whatever the registry's url holds.
std::string Owner(const RegistryOptions& options) {
  std::string owner = options.address.substr(0, options.address.find(','));
  std::replace_if(
      owner.begin(), owner.end(), [](char c) { return c <= ' ' || c == 0x7f; }, '?');
  return absl::StrCat(owner, " group ", PercentEncode(options.group));
}

std::uint32_t CategoriesOf(const std::vector<KnownLists>& subscriptions) {
  std::uint32_t categories = 0;
  for (const KnownLists& one : subscriptions) {
    for (std::size_t i = 0; i < one.lists.size(); ++i) {
      if (one.lists[i] != nullptr) categories |= 1u << i;
    }
  }
  return categories;
}

std::shared_ptr<const Notification>& Providers(KnownLists& known) {
  return known.lists[static_cast<std::size_t>(Category::kProviders)];
}

bool AreNone(const std::shared_ptr<const Notification>& list) {
  return list == nullptr || list->kind == ListKind::kEmpty;
}

bool HaveProviders(const CacheEntry& entry) { return entry.text != nullptr && HasProviders(*entry.text); }

}  // namespace

ListCache::ListCache(RegistryEnvironment& env, std::string path)
    : env_(env),
      name_(std::move(path)),
      file_(std::make_shared<CacheFile>(name_, Owner(env.options))),
      started_at_(env.Now()),
      origin_(name_),
      backoff_(kRetryFirst, kRetryFirst, kRetryLongest) {}

// Runs `then` with what `work` returned, unless the registry is gone.
template <class Work, class Then>
void ListCache::OnDisk(Work work, Then then) {
  const RegistryContext& context = env_.context;
  const auto& disk = context.file_executor != nullptr ? context.file_executor : context.executor;
  disk->Post([file = file_, work = std::move(work), back = context.executor,
              then = env_.Guarded(std::move(then))]() mutable {
    back->Post([then = std::move(then), result = work(*file)]() mutable { then(std::move(result)); });
  });
}

void ListCache::Start(absl::AnyInvocable<void()> on_loaded) {
  on_loaded_ = std::move(on_loaded);
  struct Read {
    std::optional<CacheFile::Loaded> loaded;
    std::vector<std::string> remarks;
    absl::Status locked;
  };
  OnDisk(
      [](CacheFile& file) {
        Read read;
        read.loaded = file.Load(read.remarks);
        read.locked = file.Acquire();
        return read;
      },
      [this](Read read) {
        if (!read.locked.ok()) OnWritten({read.locked, {}});
        OnLoaded(std::move(read.loaded), read.remarks);
      });
}

void ListCache::OnLoaded(std::optional<CacheFile::Loaded> loaded, const std::vector<std::string>& remarks) {
  env_.context.log->WarnOfEach("FL-1-8", env_.options.address, remarks);
  loaded_ = true;
  if (loaded) {
    origin_ = absl::StrCat(loaded->path, " of ", JavaDate(loaded->written_at));
    for (auto& [key, text] : loaded->entries) {
      CacheEntry& entry = content_[key];
      if (HasProviders(text)) {
        for (KnownLists& one : entry.lists) {
          if (one.keeps_providers && AreNone(Providers(one))) Providers(one) = nullptr;
        }
      }
      const std::uint32_t known = CategoriesOf(entry.lists);
      std::string rest = known == 0 ? std::move(text) : WithoutCategories(text, known);
      if (!rest.empty()) entry.text = std::make_shared<const std::string>(std::move(rest));
      if (!entry.lists.empty()) continue;
      const auto idle = loaded->idle_since.find(key);
      entry.idle_since = std::min(Today(), idle == loaded->idle_since.end() ? DayOf(loaded->written_at) : idle->second);
    }
  }
  if (dirty_ && !writing_) Schedule();
  if (on_loaded_) std::exchange(on_loaded_, nullptr)();
}

CachedLists ListCache::Find(const Url& consumer) {
  const std::string service = consumer.ServiceKey();
  const auto at = content_.find(CacheKey(service));
  if (at == content_.end()) return {};
  CacheEntry& entry = at->second;
  entry.idle_since = 0;
  std::string value = CachedValue(entry.lists);
  if (entry.text != nullptr) absl::StrAppend(&value, " ", *entry.text);
  CachedLists found = ReadCachedValue(value, consumer, *env_.context.pool);
  if (found.unreadable > 0) {
    env_.context.log->Warn(
        "FL-1-8", service,
        absl::StrCat(found.unreadable, " entries in the list cache file are no urls; they are skipped"));
  }
  return found;
}

void ListCache::Learn(KnownLists known) {
  CacheEntry& entry = content_[CacheKey(known.consumer.ServiceKey())];
  entry.idle_since = 0;
  const std::uint32_t before = CategoriesOf(entry.lists);
  const auto same = std::find_if(entry.lists.begin(), entry.lists.end(),
                                 [&](const KnownLists& one) { return one.consumer == known.consumer; });
  if (known.keeps_providers && Providers(known) != nullptr && AreNone(Providers(known))) {
    const bool had = same != entry.lists.end() && !AreNone(Providers(*same));
    if (had || HaveProviders(entry)) Providers(known) = had ? Providers(*same) : nullptr;
  }
  if (same == entry.lists.end()) {
    entry.lists.push_back(std::move(known));
  } else if (same->keeps_providers = known.keeps_providers; same->lists == known.lists) {
    return;
  } else {
    same->lists = std::move(known.lists);
  }
  if (const std::uint32_t now = CategoriesOf(entry.lists); entry.text != nullptr && now != before) {
    std::string rest = WithoutCategories(*entry.text, now);
    entry.text = rest.empty() ? nullptr : std::make_shared<const std::string>(std::move(rest));
  }
  Changed();
}

void ListCache::Forget(const Url& consumer) {
  const auto at = content_.find(CacheKey(consumer.ServiceKey()));
  if (at == content_.end() || at->second.lists.size() < 2) return;
  std::vector<KnownLists>& lists = at->second.lists;
  const auto ended =
      std::find_if(lists.begin(), lists.end(), [&](const KnownLists& one) { return one.consumer == consumer; });
  if (ended == lists.end()) return;
  const std::shared_ptr<const Notification> providers = std::move(Providers(*ended));
  lists.erase(ended);
  const auto has_none = [](KnownLists& one) { return AreNone(Providers(one)); };
  const auto keeps = [](const KnownLists& one) { return one.keeps_providers; };
  if (!AreNone(providers) && std::all_of(lists.begin(), lists.end(), has_none)) {
    const auto heir = std::find_if(lists.begin(), lists.end(), keeps);
    if (heir != lists.end()) Providers(*heir) = providers;
  }
  Changed();
}

void ListCache::Changed() {
  dirty_ = true;
  if (loaded_ && !writing_ && !timer_.armed()) Schedule();
}

void ListCache::Schedule() {
  const std::chrono::nanoseconds wait =
      backoff_.attempts() > 0 ? backoff_.Next(env_.random) : env_.options.file_interval;
  timer_ = env_.After(wait, [this] {
    timer_.Cancel();
    Write();
  });
}

void ListCache::Write() {
  dirty_ = false;
  writing_ = true;
  OnDisk(WriteJob(), [this](const Written& written) {
    writing_ = false;
    if (!written.status.ok()) dirty_ = true;
    OnWritten(written);
    if (dirty_) Schedule();
  });
}

std::int64_t ListCache::Today() const {
  const auto now = env_.context.clock->SystemNow().time_since_epoch();
  return DayOf(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

void ListCache::DropIdle() {
  if (env_.Now() - started_at_ < kSettled) return;
  std::erase_if(content_, [today = Today()](const auto& one) {
    return one.second.idle_since > 0 && today - one.second.idle_since > kMostIdleDays;
  });
}

// Takes what is known now along; lists are shared, not copied.
absl::AnyInvocable<ListCache::Written(CacheFile&)> ListCache::WriteJob() {
  DropIdle();
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(env_.context.clock->SystemNow().time_since_epoch());
  return [content = content_, date = JavaDate(now.count())](CacheFile& file) {
    absl::Status status = file.Write(content, date).status();
    return Written{std::move(status), file.path()};
  };
}

void ListCache::OnWritten(const Written& written) {
  path_ = written.path;
  if (written.status.ok()) {
    backoff_.Reset();
    return;
  }
  if (backoff_.attempts() == 0) backoff_.Next(env_.random);
  env_.context.log->Warn("FL-1-9", name_,
                         absl::StrCat("the list cache file is not written: ", written.status.message(),
                                      "; calls are not affected; give another `file`, or file-cache=false"));
}

void ListCache::Flush(absl::AnyInvocable<void()> done) {
  timer_.Cancel();
  // The first task is done when all that were on their way are.
  OnDisk([](CacheFile&) { return 0; },
         [this, keep = env_.self.lock(), done = std::move(done)](int) mutable {
           timer_.Cancel();
           if (!dirty_) return done();
           OnDisk(WriteJob(),
                  [this, keep = std::move(keep), done = std::move(done)](const Written& written) mutable {
                    OnWritten(written);
                    done();
                  });
         });
}

}  // namespace fairlead::internal
