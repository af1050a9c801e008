#ifndef FAIRLEAD_TESTS_CHAOS_ZK_WIRE_H_
#define FAIRLEAD_TESTS_CHAOS_ZK_WIRE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "fairlead/tests/support/fault_proxy.h"
#include "fairlead/tests/support/zk_client.h"

namespace fairlead::chaos {

// Reads along on the wire between a ZooKeeper client and its server: which session the client has, which lists it asks
// for. So a test knows it without a word from the client. Thread-safe.
class ZkWire {
 public:
  // For FaultProxy::Options::observer.
  void Saw(std::uint64_t connection, FaultProxy::Way way, std::string_view bytes);

  // The last one a server granted, with its password; nullopt: none yet.
  std::optional<ZkClientId> session() const;
  // Requests for the children of paths that end so.
  std::uint64_t list_reads(std::string_view path_end) const;

 private:
  struct Stream {
    std::string begun;  // of a frame that has not ended
    std::uint64_t frames = 0;
  };

  void Granted(std::string_view frame);
  void Asked(std::string_view frame);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Stream> to_server_;
  std::map<std::uint64_t, std::string> to_client_;  // until the first frame, which grants the session, is there
  std::optional<ZkClientId> session_;
  std::map<std::string, std::uint64_t, std::less<>> list_reads_;
};

}  // namespace fairlead::chaos

#endif  // FAIRLEAD_TESTS_CHAOS_ZK_WIRE_H_
