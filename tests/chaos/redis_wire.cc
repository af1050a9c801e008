#include "fairlead/tests/chaos/redis_wire.h"

#include <charconv>
#include <cstddef>
#include <optional>

namespace fairlead::chaos {
namespace {

// The number of a line such as "*3" or "$11", which is taken away with its end.
std::optional<std::size_t> TakeNumber(std::string_view& bytes) {
  const std::size_t end = bytes.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t number = 0;
  if (end > 1) std::from_chars(bytes.data() + 1, bytes.data() + end, number);
  bytes.remove_prefix(end + 2);
  return number;
}

}  // namespace

bool RedisWire::Take(std::string_view& bytes, std::string_view& verb, std::string_view& key) {
  std::string_view rest = bytes;
  const auto words = TakeNumber(rest);
  if (!words) return false;
  verb = key = {};
  for (std::size_t i = 0; i < *words; ++i) {
    const auto size = TakeNumber(rest);
    if (!size || rest.size() < *size + 2) return false;
    if (i < 2) (i == 0 ? verb : key) = rest.substr(0, *size);
    rest.remove_prefix(*size + 2);
  }
  bytes = rest;
  return true;
}

void RedisWire::Saw(std::uint64_t connection, FaultProxy::Way way, std::string_view bytes) {
  if (way == FaultProxy::Way::kToClient) return;
  const std::lock_guard lock(mutex_);
  std::string& begun = begun_[connection];
  begun += bytes;
  std::string_view rest = begun, verb, key;
  while (Take(rest, verb, key)) {
    if (verb == "SUBSCRIBE" || verb == "PSUBSCRIBE") subscribed_.insert(connection);
    if (verb == "HGETALL") ++list_reads_[std::string(key)];
  }
  begun.erase(0, begun.size() - rest.size());
}

bool RedisWire::subscribed(std::uint64_t connection) const {
  const std::lock_guard lock(mutex_);
  return subscribed_.contains(connection);
}

std::uint64_t RedisWire::list_reads(std::string_view key_end) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [key, count] : list_reads_) {
    if (key.ends_with(key_end)) sum += count;
  }
  return sum;
}

}  // namespace fairlead::chaos
