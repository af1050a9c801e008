#include "fairlead/registry/redis/redis_fields.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/redis/redis_layout.h"
#include "fairlead/url/redact.h"

namespace fairlead::internal {
namespace {

// An expired field is looked after for so many periods; then its owner is taken for dead, and only a message, or a look
// for another field's sake, brings it back.
constexpr int kHopefulPeriods = 3;

// Far beyond any date, and far from where a difference would overflow.
constexpr std::int64_t kFarOff = 1'000'000'000'000'000'000;

}  // namespace

void RedisFields::Note(Reading& reading, std::int64_t wait) const {
  const std::chrono::milliseconds next(std::clamp<std::int64_t>(wait, 1, 24 * 3600 * 1000));
  if (!reading.look_again || next < *reading.look_again) reading.look_again = next;
}

// True when a field that is past by its value is alive.
bool RedisFields::StaysLonger(Suspect& suspect, Reading& reading, const std::string& field, std::int64_t value,
                              std::int64_t now, Clock::SteadyTime steady) {
  if (value > suspect.value) {
    // One that comes back after long was away, not late.
    const bool extended = value - suspect.value <= 2 * session_.count();
    suspect.value = value;
    suspect.since = steady;
    if (std::exchange(suspect.renewed, extended) != extended && extended) reading.late.push_back(Redacted(field));
  }
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(steady - suspect.since);
  if (age < kHopefulPeriods * session_) Note(reading, session_.count() / 2);
  return suspect.renewed && (age < session_ || now - value < session_.count());
}

RedisFields::Reading RedisFields::Read(std::vector<RedisReply> hash, std::int64_t now, Clock::SteadyTime steady) {
  Reading reading;
  reading.live.reserve(hash.size() / 2);
  for (std::size_t i = 0; i + 1 < hash.size(); i += 2) {
    std::string& field = hash[i].text;
    const std::string& value = hash[i + 1].text;
    std::optional<std::int64_t> expires = RedisExpiry(value);
    if (expires) expires = std::clamp(*expires, -kFarOff, kFarOff);
    auto suspect = suspects_.empty() ? suspects_.end() : suspects_.find(field);
    switch (RedisLifeOf(field, value, now)) {
      case RedisLife::kLive:
        if (expires && *expires >= now) Note(reading, *expires - now + 1);
        if (suspect != suspects_.end() && expires) {
          suspect->second.seen = true;
          StaysLonger(suspect->second, reading, field, *expires, now, steady);
        }
        reading.live.push_back(std::move(field));
        break;
      case RedisLife::kExpired: {
        if (suspect == suspects_.end()) suspect = suspects_.emplace(field, Suspect{*expires, steady}).first;
        suspect->second.seen = true;
        if (StaysLonger(suspect->second, reading, field, *expires, now, steady)) {
          reading.live.push_back(std::move(field));
        }
        break;
      }
      case RedisLife::kUnreadable:
        if (reading.bad.size() < kMostBad) {
          reading.bad.push_back(absl::StrCat(Redacted(field), ": its value \"", Redacted(value),
                                             "\" is no time in ms since the epoch"));
        }
        break;
    }
  }
  for (auto at = suspects_.begin(); at != suspects_.end();) {
    at = std::exchange(at->second.seen, false) ? std::next(at) : suspects_.erase(at);
  }
  return reading;
}

}  // namespace fairlead::internal
