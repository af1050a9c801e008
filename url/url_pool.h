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

// Interns urls on two levels: raw text to entry (a known text costs one hash and one probe), and entry to
// canonical address and parameters, which entries share. Thread-safe (a mutex; picks never come here).
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
  Url Intern(UrlParts parts);

  // Frees entries unused for `keep`, counted from the sweep that first found them unused, and the addresses
  // and parameters that only they had. Linear in the pool. Returns how many entries were freed.
  std::size_t Sweep();

  struct Sizes {
    std::size_t entries = 0, addresses = 0, params = 0;  // live and kept
    std::size_t in_use = 0;                              // entries that somebody holds
  };
  Sizes sizes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_URL_URL_POOL_H_
