#ifndef FAIRLEAD_URL_URL_ENTRY_H_
#define FAIRLEAD_URL_URL_ENTRY_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fairlead/url/url.h"

namespace fairlead::internal {

// The address half of the canonical form, as one text that tells absent fields from empty ones. Urls are
// compared by the pointer first; by the text only across pools.
struct CanonicalAddress {
  std::string text;
  std::uint64_t hash;
};

// The parameter half: all but `pid` and `timestamp`.
struct CanonicalParams {
  UrlParams params;
  std::uint64_t hash;
};

struct UrlEntry {
  std::string key;  // what it was interned by
  UrlParts parts;
  std::shared_ptr<const CanonicalAddress> address;
  std::shared_ptr<const CanonicalParams> params;
  std::int64_t timestamp_ms = 0;
  Category category = Category::kProviders;
  // When a sweep first found that nobody holds the entry. Guarded by the pool's mutex.
  mutable std::optional<std::chrono::steady_clock::time_point> idle_since;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_URL_URL_ENTRY_H_
