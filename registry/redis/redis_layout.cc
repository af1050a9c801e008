#include "fairlead/registry/redis/redis_layout.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/typed.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {
namespace {

constexpr int kLongestRamp = 10;

}  // namespace

std::string RedisRoot(std::string_view group) {
  std::string root(group.empty() ? "dubbo" : group);
  if (!root.starts_with('/')) root.insert(root.begin(), '/');
  if (!root.ends_with('/')) root.push_back('/');
  return root;
}

std::string RedisServicePath(std::string_view root, std::string_view service) {
  return absl::StrCat(ToAbsl(root), ToAbsl(service));
}

std::string RedisCategoryKey(std::string_view root, std::string_view service, std::string_view category) {
  return absl::StrCat(ToAbsl(root), ToAbsl(service), "/", ToAbsl(category));
}

std::string RedisConfigKey(std::string_view root, std::string_view group, std::string_view key) {
  return absl::StrCat(ToAbsl(root), "config/", ToAbsl(group), "/", ToAbsl(key));
}

std::string_view RedisServicePathOfKey(std::string_view root, std::string_view key) {
  const std::size_t slash = key.find('/', key.starts_with(root) ? root.size() : 0);
  return slash == std::string_view::npos || slash == 0 ? key : key.substr(0, slash);
}

std::string_view RedisServiceOfKey(std::string_view root, std::string_view key) {
  const std::string_view path = RedisServicePathOfKey(root, key);
  return path.starts_with(root) ? path.substr(root.size()) : path;
}

std::string_view RedisCategoryOfKey(std::string_view key) {
  const std::size_t slash = key.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? key : key.substr(slash + 1);
}

std::optional<std::string_view> RedisListedService(std::string_view root, std::string_view key) {
  if (!key.starts_with(root)) return std::nullopt;
  const std::string_view rest = key.substr(root.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  if (!CategoryOf(rest.substr(slash + 1))) return std::nullopt;
  return rest.substr(0, slash);
}

std::string RedisPrefixPattern(std::string_view prefix) {
  std::string pattern;
  pattern.reserve(prefix.size() + 1);
  for (const char c : prefix) {
    if (std::string_view("*?[]^\\").find(c) != std::string_view::npos) pattern.push_back('\\');
    pattern.push_back(c);
  }
  pattern.push_back('*');
  return pattern;
}

RedisWords RedisSetCommand(std::string_view key, std::string_view field, std::int64_t expires) {
  return {"HSET", std::string(key), std::string(field), std::to_string(expires)};
}

RedisWords RedisDeleteCommand(std::string_view key, std::string_view field) {
  return {"HDEL", std::string(key), std::string(field)};
}

RedisWords RedisPublishCommand(std::string_view key, std::string_view message) {
  return {"PUBLISH", std::string(key), std::string(message)};
}

std::optional<std::int64_t> RedisExpiry(std::string_view value) {
  if (value.starts_with('+')) {
    value.remove_prefix(1);
    if (value.starts_with('-')) return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return number;
}

bool RedisIsDynamic(std::string_view url_text) {
  // Parsing is dear, and nearly no url has the word.
  if (url_text.find("dynamic=") == std::string_view::npos) return true;
  const absl::StatusOr<UrlParts> url = UrlParts::Parse(url_text);
  return !url.ok() || BoolParam(*url, "dynamic", true);
}

RedisLife RedisLifeOf(std::string_view url_text, std::string_view value, std::int64_t now) {
  const std::optional<std::int64_t> expires = RedisExpiry(value);
  if (expires && *expires >= now) return RedisLife::kLive;
  if (!RedisIsDynamic(url_text)) return RedisLife::kLive;
  return expires ? RedisLife::kExpired : RedisLife::kUnreadable;
}

int RedisSkippedRounds(int attempt, int draw) {
  return attempt <= kLongestRamp ? std::max(0, attempt - 1) : kLongestRamp + draw;
}

}  // namespace fairlead::internal
