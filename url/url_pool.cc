#include "fairlead/url/url_pool.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

#include "fairlead/base/hash.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/url/host.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/url_entry.h"

namespace fairlead {

namespace internal {

// Splits parameters into what urls share and what is theirs alone.
struct ParamsAccess {
  // Takes `pid` and `timestamp`, as whole keys, out of `params` and returns them.
  static UrlParams::Items TakeOwn(UrlParams& params) {
    UrlParams::Items own;
    for (const std::string_view key : {names::kPid, names::kTimestamp}) {
      if (const std::string* value = params.Find(key)) {
        own.emplace_back(key, *value);
        params.erase(key);
      }
    }
    return own;
  }

  static UrlParams Join(const UrlParams& shared, UrlParams::Items own) {
    UrlParams joined = shared;
    joined.own_ = std::move(own);
    return joined;
  }
};

}  // namespace internal

namespace {

using internal::CanonicalAddress;
using internal::CanonicalParams;
using internal::UrlEntry;

void AppendField(std::string_view text, std::string& out) {
  out += std::to_string(text.size());
  out += ':';
  out += text;
}

void AppendField(const std::optional<std::string>& field, std::string& out) {
  if (field.has_value()) {
    AppendField(std::string_view(*field), out);
  } else {
    out += '-';
  }
}

std::string AddressText(const UrlParts& parts, bool canonical_host) {
  std::string text;
  AppendField(parts.protocol, text);
  AppendField(parts.username, text);
  AppendField(parts.password, text);
  if (canonical_host && parts.host.has_value()) {
    AppendField(std::string_view(CanonicalHost(*parts.host)), text);
  } else {
    AppendField(parts.host, text);
  }
  AppendField(parts.path, text);
  text += std::to_string(parts.port);
  return text;
}

// Tells any two different UrlParts apart.
std::string ExactText(const UrlParts& parts) {
  std::string text = AddressText(parts, false);
  for (const auto& [key, value] : parts.params) {
    AppendField(std::string_view(key), text);
    AppendField(std::string_view(value), text);
  }
  return text;
}

std::uint64_t HashParams(const UrlParams& params) {
  std::uint64_t hash = params.size();
  for (const auto& [key, value] : params) hash = HashBytes(value, HashBytes(key, hash));
  return hash;
}

struct ContentHash {
  std::size_t operator()(const std::shared_ptr<const CanonicalAddress>& x) const { return x->hash; }
  std::size_t operator()(const std::shared_ptr<const CanonicalParams>& x) const { return x->hash; }
};

struct SameContent {
  bool operator()(const std::shared_ptr<const CanonicalAddress>& a,
                  const std::shared_ptr<const CanonicalAddress>& b) const {
    return a->hash == b->hash && a->text == b->text;
  }
  bool operator()(const std::shared_ptr<const CanonicalParams>& a,
                  const std::shared_ptr<const CanonicalParams>& b) const {
    return a->hash == b->hash && a->params == b->params;
  }
};

template <class T>
using ContentSet = absl::flat_hash_set<std::shared_ptr<const T>, ContentHash, SameContent>;

struct TextHash {
  std::size_t operator()(std::string_view text) const { return HashBytes(text); }
};

// Keys are views into the entries.
using EntryMap = absl::flat_hash_map<std::string_view, std::shared_ptr<UrlEntry>, TextHash, std::equal_to<>>;

// What Dubbo's constructor does to any parts.
void Normalise(UrlParts& parts) {
  parts.port = std::max(parts.port, 0);
  if (parts.path.has_value() && !parts.path->empty() && parts.path->front() == '/') parts.SetPath(std::string(*parts.path));
}

}  // namespace

struct UrlPool::Impl {
  Impl(const Clock& clock_in, std::chrono::nanoseconds keep_in) : clock(clock_in), keep(keep_in) {}

  // Everything that needs no table: done before the mutex is taken.
  struct Prepared {
    std::shared_ptr<UrlEntry> entry;
    std::shared_ptr<CanonicalAddress> address;
    std::shared_ptr<CanonicalParams> params;
    std::vector<UrlParams::value_type> own;
  };

  static Prepared Prepare(std::string key, UrlParts parts) {
    Prepared ready;
    ready.entry = std::make_shared<UrlEntry>();
    UrlEntry& entry = *ready.entry;
    entry.key = std::move(key);
    entry.timestamp_ms = ParseJavaLong(parts.Param(names::kTimestamp)).value_or(0);
    entry.category = CategoryOf(parts.Param(names::kCategory)).value_or(Category::kProviders);
    ready.address = std::make_shared<CanonicalAddress>();
    ready.address->text = AddressText(parts, true);
    ready.address->hash = HashBytes(ready.address->text);
    ready.own = internal::ParamsAccess::TakeOwn(parts.params);
    ready.params = std::make_shared<CanonicalParams>();
    ready.params->params = std::move(parts.params);
    ready.params->hash = HashParams(ready.params->params);
    entry.parts = std::move(parts);
    return ready;
  }

  static Url UrlOf(std::shared_ptr<UrlEntry> entry) {
    entry->idle_since.reset();
    return Url(std::move(entry));
  }

  // The mutex is held.
  Url Insert(EntryMap& entries, Prepared ready) {
    if (const auto known = entries.find(std::string_view(ready.entry->key)); known != entries.end()) {
      return UrlOf(known->second);
    }
    UrlEntry& entry = *ready.entry;
    entry.address = *addresses.insert(std::move(ready.address)).first;
    entry.params = *params.insert(std::move(ready.params)).first;
    entry.parts.params = internal::ParamsAccess::Join(entry.params->params, std::move(ready.own));
    entries.emplace(std::string_view(entry.key), ready.entry);
    return UrlOf(std::move(ready.entry));
  }

  std::size_t SweepEntries(EntryMap& entries, Clock::SteadyTime now) {
    std::size_t freed = 0;
    for (auto at = entries.begin(); at != entries.end();) {
      // Only the pool can make a second reference out of one, and its mutex is held.
      if (at->second.use_count() > 1) {
        ++at;
        continue;
      }
      auto& idle_since = at->second->idle_since;
      if (!idle_since.has_value()) idle_since = now;
      if (now - *idle_since >= keep) {
        entries.erase(at++);
        ++freed;
      } else {
        ++at;
      }
    }
    return freed;
  }

  const Clock& clock;
  const std::chrono::nanoseconds keep;
  mutable std::mutex mutex;
  EntryMap by_text;   // of Parse
  EntryMap by_parts;  // of Intern
  ContentSet<CanonicalAddress> addresses;
  ContentSet<CanonicalParams> params;
};

UrlPool::UrlPool(const Clock& clock, std::chrono::nanoseconds keep) : impl_(std::make_unique<Impl>(clock, keep)) {}
UrlPool::~UrlPool() = default;

absl::StatusOr<Url> UrlPool::Parse(std::string_view text) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (const auto known = impl_->by_text.find(text); known != impl_->by_text.end()) {
      return Impl::UrlOf(known->second);
    }
  }
  FAIRLEAD_ASSIGN_OR_RETURN(UrlParts parts, UrlParts::ParseAny(text));
  Impl::Prepared ready = Impl::Prepare(std::string(text), std::move(parts));
  const std::lock_guard lock(impl_->mutex);
  return impl_->Insert(impl_->by_text, std::move(ready));
}

Url UrlPool::Intern(UrlParts parts) {
  Normalise(parts);
  std::string key = ExactText(parts);
  {
    const std::lock_guard lock(impl_->mutex);
    if (const auto known = impl_->by_parts.find(std::string_view(key)); known != impl_->by_parts.end()) {
      return Impl::UrlOf(known->second);
    }
  }
  Impl::Prepared ready = Impl::Prepare(std::move(key), std::move(parts));
  const std::lock_guard lock(impl_->mutex);
  return impl_->Insert(impl_->by_parts, std::move(ready));
}

std::size_t UrlPool::Sweep() {
  const Clock::SteadyTime now = impl_->clock.SteadyNow();
  const std::lock_guard lock(impl_->mutex);
  const std::size_t freed = impl_->SweepEntries(impl_->by_text, now) + impl_->SweepEntries(impl_->by_parts, now);
  if (freed > 0) {
    absl::erase_if(impl_->addresses, [](const auto& address) { return address.use_count() == 1; });
    absl::erase_if(impl_->params, [](const auto& params) { return params.use_count() == 1; });
  }
  return freed;
}

UrlPool::Sizes UrlPool::sizes() const {
  const std::lock_guard lock(impl_->mutex);
  Sizes sizes;
  sizes.entries = impl_->by_text.size() + impl_->by_parts.size();
  sizes.addresses = impl_->addresses.size();
  sizes.params = impl_->params.size();
  for (const EntryMap* entries : {&impl_->by_text, &impl_->by_parts}) {
    for (const auto& [key, entry] : *entries) sizes.in_use += entry.use_count() > 1 ? 1 : 0;
  }
  return sizes;
}

}  // namespace fairlead
