#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_READS_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_READS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "fairlead/registry/redis/redis_link.h"

// Reads that are several commands, bounded whatever others put under our names.
namespace fairlead::internal {

inline constexpr std::int64_t kMostRedisFields = 1'000'000;

// Every field and value of a hash, in turn; refuses one that is too large. `then` is called later, not when the link is
// lost. kFailedPrecondition: the key holds something else.
void ReadRedisHash(RedisLink& link, const std::string& key,
                   absl::AnyInvocable<void(absl::StatusOr<std::vector<RedisReply>>)> then);

// The keys that fit `pattern`, each once. `then` is called later, not when the link is lost.
void ScanRedisKeys(RedisLink& link, const std::string& pattern,
                   absl::AnyInvocable<void(absl::StatusOr<std::set<std::string>>)> then);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_READS_H_
