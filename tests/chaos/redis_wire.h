#ifndef FAIRLEAD_TESTS_CHAOS_REDIS_WIRE_H_
#define FAIRLEAD_TESTS_CHAOS_REDIS_WIRE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "fairlead/tests/support/fault_proxy.h"

namespace fairlead::chaos {

// Reads along on the wire between a Redis client and its server: which connections have subscriptions, which lists are
// asked for. Thread-safe.
class RedisWire {
 public:
  // For FaultProxy::Options::observer.
  void Saw(std::uint64_t connection, FaultProxy::Way way, std::string_view bytes);

  bool subscribed(std::uint64_t connection) const;
  // Requests for all fields of keys that end so.
  std::uint64_t list_reads(std::string_view key_end) const;

 private:
  // Takes a whole command from the front of `bytes`, as its first two words; false while it is not all there.
  static bool Take(std::string_view& bytes, std::string_view& verb, std::string_view& key);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::string> begun_;  // of commands that have not ended
  std::set<std::uint64_t> subscribed_;
  std::map<std::string, std::uint64_t, std::less<>> list_reads_;
};

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_REDIS_WIRE_H_
