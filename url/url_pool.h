#ifndef FAIRLEAD_URL_URL_POOL_H_
#define FAIRLEAD_URL_URL_POOL_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "fairlead/base/clock.h"
#include "fairlead/url/url.h"

namespace fairlead {

// Interns urls on two levels: texts to entries (a known text costs two hashes and one probe), and what urls have in
// common to one object for all of them. Thread-safe (a mutex; picks never come here).
//
// Of a text only a fingerprint of 96 bits is kept: two hashes whose seeds are drawn for each pool, so that nobody can
// look for two texts that meet in it. Among a million live texts some two do with a chance of 1 in 10^17; the later one
// would then be taken for the earlier.
//
// An entry that nobody holds is kept until it was unused for `keep`, so that a provider that flaps is not
// parsed again; Sweep, called by a timer of the owner, frees it.
class UrlPool {
 public:
  explicit UrlPool(const Clock& clock = RealClock(), std::chrono::nanoseconds keep = std::chrono::minutes(5));
  ~UrlPool();
  UrlPool(const UrlPool&) = delete;
  UrlPool& operator=(const UrlPool&) = delete;

  absl::StatusOr<Url> Parse(std::string_view text);
  // What `like` has of its own is shared when the parts say the same; what urls have in common always is. Makes no
  // entry.
  Url Intern(UrlParts parts, const Url& like = Url());

  // Frees entries unused for `keep`, counted from the sweep that first found them unused, and what no url has in common
  // any more. Linear in the pool. Returns how many entries were freed.
  std::size_t Sweep();

  struct Sizes {
    std::size_t entries = 0, common = 0;  // live and kept
    std::size_t in_use = 0;               // entries that somebody holds
  };
  Sizes sizes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_URL_URL_POOL_H_
