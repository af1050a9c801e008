#include "fairlead/directory/protection.h"

#include <algorithm>
#include <ctime>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "fairlead/url/parameter_names.h"

namespace fairlead::internal {
namespace {

std::string UtcText(std::int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm utc = {};
  ::gmtime_r(&seconds, &utc);
  return absl::StrFormat("%04d-%02d-%02d %02d:%02d:%02d UTC", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                         utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace

std::chrono::nanoseconds ProtectedList::Age(Clock::SteadyTime now) const {
  return std::max<std::chrono::nanoseconds>(now - since, std::chrono::nanoseconds(1));
}

std::string ProtectedList::Remark() const {
  return absl::StrCat(registry, " lists no provider since ", UtcText(since_ms), "; those are its last");
}

std::string ProtectedList::ToString(Clock::SteadyTime now, std::optional<std::size_t> valid) const {
  const std::string which = valid.has_value() ? absl::StrFormat("%d of %d still valid", *valid, providers)
                                              : absl::StrFormat("its last %d stay in use", providers);
  return absl::StrFormat("protected since %s (%.1f s): %s lists no provider; %s, until %s", UtcText(since_ms),
                         std::chrono::duration<double>(now - since).count(), registry, which, UtcText(until_ms));
}

std::chrono::milliseconds Protection::MaxAge(const Url& consumer, bool registry_enables,
                                             std::chrono::milliseconds registry_max_age) {
  if (!consumer.BoolParam(names::kEnableEmptyProtection, registry_enables)) return std::chrono::milliseconds(0);
  const std::int64_t ms = consumer.IntParam(names::kProtectMaxAge, registry_max_age.count());
  return ms < 0 ? registry_max_age : std::chrono::milliseconds(ms);
}

Protection::Verdict Protection::OnEmpty(std::size_t held) {
  if (list_.has_value()) return Verdict::kStay;
  if (held == 0 || max_age_ <= std::chrono::nanoseconds::zero()) return Verdict::kForbid;
  const Clock::SteadyTime now = clock_.SteadyNow();
  const std::int64_t wall = clock_.SystemMillis();
  list_ = {now, now + max_age_, wall,
           wall + std::chrono::duration_cast<std::chrono::milliseconds>(max_age_).count(), held, registry_};
  return Verdict::kBegin;
}

std::optional<std::chrono::nanoseconds> Protection::End() {
  if (!list_.has_value()) return std::nullopt;
  return std::exchange(list_, std::nullopt)->Age(clock_.SteadyNow());
}

}  // namespace fairlead::internal
