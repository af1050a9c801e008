#ifndef FAIRLEAD_EXAMPLES_TOY_RPC_H_
#define FAIRLEAD_EXAMPLES_TOY_RPC_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "fairlead/rpc/invoker.h"

// A small RPC over TCP, to have something real behind Fairlead: what a host program brings along. A method and
// an argument go there as text, a text comes back. Calls of one connection run side by side.
namespace toy {

class Loop;

struct TcpServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;             // 0 = any free one
  std::chrono::milliseconds work{0};  // how long the server thinks about each answer
};

// Answers calls on one thread of its own, on which `handler` runs.
class TcpServer {
 public:
  struct Request {
    std::string_view server;  // host:port of the one that answers
    std::string_view method, argument;
  };
  using Handler = std::function<std::string(const Request&)>;

  // kUnavailable when the address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<TcpServer>> Start(TcpServerOptions options, Handler handler);
  // Without Stop: at once, clients see a broken connection.
  ~TcpServer();

  std::uint16_t port() const;
  // Leaves without losing a call: takes no new connection, tells its clients, answers whatever they had sent, and
  // is done when they have closed; at `deadline` in any case. Blocks. Call once.
  void Stop(std::chrono::milliseconds deadline);

 private:
  struct State;
  explicit TcpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// One provider as Fairlead holds it: a connection that is made in the background and made again, with back-off,
// when it breaks. All methods are thread-safe.
class TcpChannel : public fairlead::Invoker {
 public:
  TcpChannel(const fairlead::Url& url, fairlead::Availability report, std::shared_ptr<Loop> loop);
  ~TcpChannel() override;

  // Waits for the answer, or for `timeout` (kDeadlineExceeded). kUnavailable when there is no connection, or it
  // broke before the answer came. Calls made while it is being connected wait for that.
  absl::StatusOr<std::string> Call(std::string_view method, std::string_view argument,
                                   std::chrono::milliseconds timeout = std::chrono::seconds(1));

  const fairlead::Url& url() const override { return url_; }
  bool IsAvailable() const noexcept override;
  // No new calls; the connection is closed after the last answer.
  void Destroy() override;

 private:
  class Link;
  const fairlead::Url url_;
  const std::shared_ptr<Loop> loop_;
  const std::shared_ptr<Link> link_;
  std::atomic<std::uint32_t> next_number_{1};
};

// Makes channels; all of them share one event loop, which lives as long as any of them.
class TcpProtocol : public fairlead::Protocol {
 public:
  TcpProtocol();
  absl::StatusOr<std::unique_ptr<fairlead::Invoker>> Refer(const fairlead::Url& url,
                                                           fairlead::Availability report) override;
  // The toy's providers announce themselves as `dubbo`, so that Dubbo's tools show them.
  bool Speaks(std::string_view protocol) const override { return protocol == "dubbo"; }

 private:
  const std::shared_ptr<Loop> loop_;
};

}  // namespace toy

#endif  // FAIRLEAD_EXAMPLES_TOY_RPC_H_
