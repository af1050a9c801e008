#include "fairlead/registry/redis/redis_reads.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

namespace fairlead::internal {
namespace {

constexpr std::size_t kMostKeys = 1'000'000;
constexpr int kKeysAStep = 1000;

struct Scan {
  RedisLink& link;
  const std::string pattern;
  std::set<std::string> keys;
  absl::AnyInvocable<void(absl::StatusOr<std::set<std::string>>)> then;
};

void ScanStep(std::shared_ptr<Scan> scan, const std::string& cursor) {
  RedisLink& link = scan->link;
  const RedisWords command{"SCAN", cursor, "MATCH", scan->pattern, "COUNT", std::to_string(kKeysAStep)};
  link.Command(command, [scan](RedisReply reply) {
    if (reply.is_error()) return scan->then(RedisErrorStatus(reply, absl::StrCat("looking for ", scan->pattern)));
    if (reply.items.size() != 2) return scan->then(absl::DataLossError("Redis: SCAN was not answered with two parts"));
    for (RedisReply& key : reply.items[1].items) scan->keys.insert(std::move(key.text));
    if (scan->keys.size() > kMostKeys) {
      return scan->then(absl::ResourceExhaustedError(
          absl::StrCat("Redis, looking for ", scan->pattern, ": more than ", kMostKeys, " keys")));
    }
    const std::string next = std::move(reply.items[0].text);
    if (next.empty() || next == "0") return scan->then(std::move(scan->keys));
    ScanStep(scan, next);
  });
}

}  // namespace

void ScanRedisKeys(RedisLink& link, const std::string& pattern,
                   absl::AnyInvocable<void(absl::StatusOr<std::set<std::string>>)> then) {
  ScanStep(std::make_shared<Scan>(Scan{link, pattern, {}, std::move(then)}), "0");
}

void ReadRedisHash(RedisLink& link, const std::string& key,
                   absl::AnyInvocable<void(absl::StatusOr<std::vector<RedisReply>>)> then) {
  using Then = absl::AnyInvocable<void(absl::StatusOr<std::vector<RedisReply>>)>;
  const auto shared = std::make_shared<Then>(std::move(then));
  // How many first: nothing bounds what others put under our names, and HGETALL cannot be stopped.
  link.Command({"HLEN", key}, [&link, key, shared](const RedisReply& length) {
    if (length.is_error()) return (*shared)(RedisErrorStatus(length, absl::StrCat("reading ", key)));
    if (length.integer > kMostRedisFields) {
      return (*shared)(absl::ResourceExhaustedError(absl::StrCat("Redis, reading ", key, ": ", length.integer,
                                                                 " fields; more than ", kMostRedisFields,
                                                                 " are not read")));
    }
    if (length.integer == 0) return (*shared)(std::vector<RedisReply>());
    link.Command({"HGETALL", key}, [key, shared](RedisReply reply) {
      if (reply.is_error()) return (*shared)(RedisErrorStatus(reply, absl::StrCat("reading ", key)));
      (*shared)(std::move(reply.items));
    });
  });
}

}  // namespace fairlead::internal
