#include "fairlead/url/url_pool.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "fairlead/base/hash.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/url_entry.h"

namespace fairlead {
namespace {

using internal::Counted;
using internal::Fingerprint;
using internal::UrlCommon;
using internal::UrlOwn;

std::uint64_t HashField(const std::optional<std::string>& field, std::uint64_t hash) {
  return field.has_value() ? HashBytes(*field, hash) : Mix64(hash);
}

std::uint64_t HashCommon(const UrlParts& parts) {
  std::uint64_t hash = parts.params.size();
  for (const auto* field : {&parts.protocol, &parts.username, &parts.password, &parts.path}) hash = HashField(*field, hash);
  for (const auto& [key, value] : parts.params) hash = HashBytes(value, HashBytes(key, hash));
  return hash;
}

struct CommonHash {
  std::size_t operator()(const Counted<UrlCommon>& common) const { return common->hash; }
};
struct SameCommon {
  bool operator()(const Counted<UrlCommon>& a, const Counted<UrlCommon>& b) const {
    return a->hash == b->hash && a->parts == b->parts;
  }
};

struct EntryHash {
  using is_transparent = void;
  std::size_t operator()(const Fingerprint& print) const { return print.high; }
  std::size_t operator()(const Counted<UrlOwn>& entry) const { return entry->print().high; }
};
struct SameEntry {
  using is_transparent = void;
  bool operator()(const Counted<UrlOwn>& a, const Counted<UrlOwn>& b) const { return a == b; }
  bool operator()(const Counted<UrlOwn>& entry, const Fingerprint& print) const { return entry->print() == print; }
  bool operator()(const Fingerprint& print, const Counted<UrlOwn>& entry) const { return entry->print() == print; }
};

// What Dubbo's constructor does to any parts.
void Normalise(UrlParts& parts) {
  parts.port = std::max(parts.port, 0);
  if (parts.path.has_value() && !parts.path->empty() && parts.path->front() == '/')
    parts.SetPath(std::string(*parts.path));
}

std::optional<std::string> Take(UrlParts::Params& params, std::string_view key) {
  const std::string* value = params.Find(key);
  if (value == nullptr) return std::nullopt;
  std::optional<std::string> taken = *value;
  params.erase(key);
  return taken;
}

// Parts taken in two.
struct Halves {
  explicit Halves(UrlParts parts) : port(parts.port) {
    host = std::exchange(parts.host, std::nullopt);
    parts.port = 0;
    timestamp = Take(parts.params, names::kTimestamp);
    pid = Take(parts.params, names::kPid);
    auto made = new UrlCommon;
    common = Counted<UrlCommon>(made);
    made->parts = std::move(parts);
    made->hash = HashCommon(made->parts);
  }
  UrlOwn::Texts texts() const { return {host, timestamp, pid}; }

  std::int32_t port;
  std::optional<std::string> host, timestamp, pid;
  Counted<UrlCommon> common;
};

}  // namespace

struct UrlPool::Impl {
  Impl(const Clock& clock_in, std::chrono::nanoseconds keep_in) : clock(clock_in), keep(keep_in) {
    std::random_device random;
    for (std::uint64_t& seed : seeds) seed = std::uint64_t{random()} << 32 | random();
  }

  Fingerprint PrintOf(std::string_view text) const {
    return {HashBytes(text, seeds[0]), static_cast<std::uint32_t>(HashBytes(text, seeds[1]))};
  }

  // The mutex is held.
  std::optional<Url> Find(const Fingerprint& print) {
    const auto known = entries.find(print);
    if (known == entries.end()) return std::nullopt;
    if (!idle_since.empty()) idle_since.erase(known->get());
    return Url(*known, (*known)->common());
  }

  const Clock& clock;
  const std::chrono::nanoseconds keep;
  std::uint64_t seeds[2];
  mutable std::mutex mutex;
  absl::flat_hash_set<Counted<UrlOwn>, EntryHash, SameEntry> entries;
  // Of entries that nobody holds, when a sweep first found that.
  absl::flat_hash_map<const UrlOwn*, Clock::SteadyTime> idle_since;
  absl::flat_hash_set<Counted<UrlCommon>, CommonHash, SameCommon> common;
};

UrlPool::UrlPool(const Clock& clock, std::chrono::nanoseconds keep)
    : impl_(std::make_unique<Impl>(clock, keep)) {}
UrlPool::~UrlPool() = default;

absl::StatusOr<Url> UrlPool::Parse(std::string_view text) {
  const Fingerprint print = impl_->PrintOf(text);
  {
    const std::lock_guard lock(impl_->mutex);
    if (std::optional<Url> known = impl_->Find(print)) return *std::move(known);
  }
  FAIRLEAD_ASSIGN_OR_RETURN(UrlParts parts, UrlParts::ParseAny(text));
  const Halves halves(std::move(parts));
  const std::lock_guard lock(impl_->mutex);
  if (std::optional<Url> known = impl_->Find(print)) return *std::move(known);
  const Counted<UrlCommon>& common = *impl_->common.insert(halves.common).first;
  Counted<UrlOwn> entry = UrlOwn::Create(halves.texts(), halves.port, print, common);
  impl_->entries.insert(entry);
  return Url(std::move(entry), common);
}

Url UrlPool::Intern(UrlParts parts, const Url& like) {
  Normalise(parts);
  const Halves halves(std::move(parts));
  const std::lock_guard lock(impl_->mutex);
  const Counted<UrlCommon>& common = *impl_->common.insert(halves.common).first;
  const bool alike = !like.empty() && like.own_->port() == halves.port && like.own_->all() == halves.texts();
  return Url(alike ? like.own_ : UrlOwn::Create(halves.texts(), halves.port, {}, common), common);
}

std::size_t UrlPool::Sweep() {
  const Clock::SteadyTime now = impl_->clock.SteadyNow();
  const std::lock_guard lock(impl_->mutex);
  std::size_t freed = 0;
  for (auto at = impl_->entries.begin(); at != impl_->entries.end();) {
    const auto entry = at++;
    // Only the pool can make a second reference out of one, and its mutex is held.
    if (!entry->alone()) continue;
    const Clock::SteadyTime since = impl_->idle_since.try_emplace(entry->get(), now).first->second;
    if (now - since < impl_->keep) continue;
    impl_->idle_since.erase(entry->get());
    impl_->entries.erase(entry);
    ++freed;
  }
  absl::erase_if(impl_->common, [](const Counted<UrlCommon>& common) { return common.alone(); });
  // Room for what there was at the worst of times, two lists when one replaces another, would stay for ever. A table of
  // half the capacity must not be nearly full at once.
  if (freed > 0 && impl_->entries.size() < impl_->entries.capacity() / 8 * 3) impl_->entries.rehash(0);
  if (impl_->idle_since.empty()) impl_->idle_since.rehash(0);
  return freed;
}

UrlPool::Sizes UrlPool::sizes() const {
  const std::lock_guard lock(impl_->mutex);
  Sizes sizes;
  sizes.entries = impl_->entries.size();
  sizes.common = impl_->common.size();
  for (const Counted<UrlOwn>& entry : impl_->entries) sizes.in_use += entry.alone() ? 0 : 1;
  return sizes;
}

}  // namespace fairlead
