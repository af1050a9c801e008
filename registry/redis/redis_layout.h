#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_LAYOUT_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/url/url_parts.h"

// Where Dubbo 2.6 and 2.7 keep things in Redis, byte for byte, and the commands that keep them there. Pure functions.
//
//   <root><interface>/<category>     a hash: url text -> the time it expires, in ms since the epoch
//   <root>config/<group>/<key>       a rule document, a string (Dubbo has none on Redis; this place is ours)
//
// Each key is also the channel on which its changes are told.
namespace fairlead::internal {

inline constexpr std::string_view kRedisRegister = "register";
inline constexpr std::string_view kRedisUnregister = "unregister";

using RedisWords = std::vector<std::string>;

// The root of a registry with this `group` parameter, with a slash at both ends; `/dubbo/` when empty.
std::string RedisRoot(std::string_view group);
std::string RedisServicePath(std::string_view root, std::string_view service);
std::string RedisCategoryKey(std::string_view root, std::string_view service, std::string_view category);
std::string RedisConfigKey(std::string_view root, std::string_view group, std::string_view key);

// The parts of a key, as Dubbo cuts them.
std::string_view RedisServicePathOfKey(std::string_view root, std::string_view key);
std::string_view RedisServiceOfKey(std::string_view root, std::string_view key);
std::string_view RedisCategoryOfKey(std::string_view key);
// The service whose list stands under `key`; absent when the key is not <root><service>/<a category of Dubbo>.
std::optional<std::string_view> RedisListedService(std::string_view root, std::string_view key);

// A pattern of SCAN and PSUBSCRIBE that fits what begins with `prefix`, taken literally.
std::string RedisPrefixPattern(std::string_view prefix);

// `expires` in ms since the epoch.
RedisWords RedisSetCommand(std::string_view key, std::string_view field, std::int64_t expires);
RedisWords RedisDeleteCommand(std::string_view key, std::string_view field);
// `message`: kRedisRegister or kRedisUnregister; others are ignored by all readers.
RedisWords RedisPublishCommand(std::string_view key, std::string_view message);

enum class RedisLife : std::uint8_t {
  kLive,
  kExpired,
  kUnreadable,  // dynamic, and its value is no number
};
// What a field's value says at `now`. A url with dynamic=false is live whatever its value.
RedisLife RedisLifeOf(std::string_view url_text, std::string_view value, std::int64_t now);
// The value as Java's Long.parseLong reads it.
std::optional<std::int64_t> RedisExpiry(std::string_view value);
bool RedisIsDynamic(std::string_view url_text);

// How many rounds Dubbo means to skip before attempt `attempt` (from 1) to connect: one more with each, and from the
// eleventh on ten and a `draw` of 0 to 9. Its rounds take no time; ours do.
int RedisSkippedRounds(int attempt, int draw);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_LAYOUT_H_
