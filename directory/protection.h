#ifndef FAIRLEAD_DIRECTORY_PROTECTION_H_
#define FAIRLEAD_DIRECTORY_PROTECTION_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "fairlead/base/clock.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// A list that stays although the registry says that there is none.
struct ProtectedList {
  Clock::SteadyTime since, until;
  std::int64_t since_ms = 0, until_ms = 0;  // the same by the wall clock of the beginning, for people
  std::size_t providers = 0;                // in it
  std::string registry = "the registry";    // that says so

  // Never zero, so that zero can mean "not protected".
  std::chrono::nanoseconds Age(Clock::SteadyTime now) const;
  // "the registry lists no provider since 2024-01-01 00:00:00 UTC; those are its last"
  std::string Remark() const;
  // "protected since 2024-01-01 00:00:00 UTC (12.0 s): the registry lists no provider; 2 of 3 still valid, until ...".
  // `valid`: how many of them; not known when others are in use beside them.
  std::string ToString(Clock::SteadyTime now, std::optional<std::size_t> valid) const;
};

// When an empty list of providers is not believed: all of them vanished at once, which is more often a registry
// that lost its data than a service that ended. The state alone; who holds the list acts on it. One thread.
class Protection {
 public:
  // What a consumer's url says (`enable-empty-protection`, `protect-max-age` in milliseconds), else the registry's.
  // Zero: no protection.
  static std::chrono::milliseconds MaxAge(const Url& consumer, bool registry_enables,
                                          std::chrono::milliseconds registry_max_age);

  // Not longer than `max_age`, however often the registry repeats itself; zero or less: never.
  Protection(const Clock& clock, std::chrono::nanoseconds max_age, std::string registry = "the registry")
      : clock_(clock), max_age_(max_age), registry_(std::move(registry)) {}

  enum class Verdict : std::uint8_t {
    kForbid,  // there is nothing to protect, or nobody wants it: the empty list holds
    kBegin,   // the list stays, from now on
    kStay,    // it goes on staying
  };
  // The registry says: none; `held` are known so far.
  Verdict OnEmpty(std::size_t held);
  // How long it lasted; nothing when there was none.
  std::optional<std::chrono::nanoseconds> End();

  const std::optional<ProtectedList>& list() const { return list_; }

 private:
  const Clock& clock_;
  const std::chrono::nanoseconds max_age_;
  const std::string registry_;
  std::optional<ProtectedList> list_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_PROTECTION_H_
