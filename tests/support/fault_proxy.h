#ifndef FAIRLEAD_TESTS_SUPPORT_FAULT_PROXY_H_
#define FAIRLEAD_TESTS_SUPPORT_FAULT_PROXY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fairlead {

// A network that a test can break: listens on a free port of the loopback interface, connects each client to the
// target, and passes bytes on as it is told. One thread of its own; all methods are thread-safe and hold for the bytes
// that are read after they returned.
class FaultProxy {
 public:
  enum class Way : std::uint8_t { kToServer, kToClient };

  enum class Fate : std::uint8_t {
    kPass,
    kHold,  // bytes wait, at most a receive buffer of them: a partition that TCP outlives
    kDrop,  // bytes vanish. A connection that lost some stays deaf that way also afterwards, for TCP never shows a stream
            // with a hole: a partition longer than TCP's patience
  };

  // How one direction of every connection behaves.
  struct Link {
    Fate fate = Fate::kPass;
    std::chrono::milliseconds delay{0};
    std::chrono::milliseconds jitter{0};  // up to so much more, drawn for each piece
    std::size_t bytes_per_second = 0;     // 0 = without a limit
  };

  struct Options {
    std::string host = "127.0.0.1";         // to listen on; or "::1"
    std::string target_host = "127.0.0.1";  // numeric
    std::uint16_t target_port = 0;
    std::uint64_t seed = 1;  // of the jitter
    // May one side end its sending and go on receiving? If not, the end of one side, once it got through, ends both, also
    // where the other would never notice: a ZooKeeper server leaves clients of its first moments alone for ever.
    bool half_close = true;
    // Sees what was read from one side, also what is dropped then. On the proxy's thread.
    std::function<void(std::uint64_t connection, Way way, std::string_view bytes)> observer = nullptr;
  };

  struct Stats {
    std::uint64_t accepted = 0;
    std::uint64_t to_server = 0, to_client = 0;  // bytes delivered
    std::size_t open = 0;                        // connections now
  };

  // kUnavailable when there is no port, kInvalidArgument for a host that is no numeric address.
  static absl::StatusOr<std::unique_ptr<FaultProxy>> Start(Options options);
  // Ends the connections as Cut does.
  ~FaultProxy();

  std::uint16_t port() const;

  void SetLink(Way way, const Link& link);
  // Connections end at once, with a reset on both sides.
  void Cut();
  // New clients are refused, as by a machine where nobody listens; until Heal.
  void Refuse();
  // The peer of every connection of this moment (with `which`: of those that it is true of) vanishes: no byte comes through
  // any more, neither way, and no end. New connections are as good as ever.
  void Vanish(const std::function<bool(std::uint64_t connection)>& which = nullptr);
  // Passes everything on at full speed and accepts clients. What was held is delivered; deaf connections end with a reset
  // once one side has gone.
  void Heal();

  Stats stats() const;

 private:
  class Loop;
  explicit FaultProxy(std::unique_ptr<Loop> loop);
  const std::unique_ptr<Loop> loop_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_FAULT_PROXY_H_
