#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_FIELDS_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_FIELDS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/clock.h"
#include "fairlead/registry/redis/redis_reply.h"

namespace fairlead::internal {

// Which fields of one hash are alive, time and again. Redis tells nobody when a field expires or is extended, so that
// whoever reads has to look again: each reading says when.
//
// A field whose value is past is ignored, as in Dubbo. One that is extended all the same has an owner who lives, but is
// late or has a clock that is behind: from then on it stays for a session (one period) longer than its value says, or
// it would come and go with every extension. Pure; not thread-safe. Remembers the fields that were past only.
class RedisFields {
 public:
  // `session`: the period of expiry.
  explicit RedisFields(std::chrono::milliseconds session) : session_(session) {}

  struct Reading {
    std::vector<std::string> live;
    // How long until the next look. None: nothing here changes by itself.
    std::optional<std::chrono::milliseconds> look_again;
    // Fields whose value is no time, each with the reason, without passwords. At most kMostBad.
    std::vector<std::string> bad;
    // Fields that were found extended after they had expired, for the first time each; without passwords.
    std::vector<std::string> late;
  };
  static constexpr std::size_t kMostBad = 100;

  // `hash`: what HGETALL answered, fields and values in turn. `now`: the wall clock.
  Reading Read(std::vector<RedisReply> hash, std::int64_t now, Clock::SteadyTime steady);

 private:
  struct Suspect {
    std::int64_t value = 0;
    Clock::SteadyTime since{};  // when this value was first seen
    bool renewed = false;
    bool seen = false;  // in the present reading
  };

  void Note(Reading& reading, std::int64_t wait) const;
  bool StaysLonger(Suspect& suspect, Reading& reading, const std::string& field, std::int64_t value, std::int64_t now,
                   Clock::SteadyTime steady);

  const std::chrono::milliseconds session_;
  std::map<std::string, Suspect> suspects_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_FIELDS_H_
