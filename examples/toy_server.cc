#include <algorithm>
#include <future>
#include <set>
#include <utility>

#include "absl/status/status.h"

#include "fairlead/examples/toy_rpc.h"
#include "fairlead/examples/toy_stream.h"

namespace toy {

using asio::ip::tcp;

// Everything here runs on the loop's thread, but for construction and Stop.
struct TcpServer::State {
  State(TcpServerOptions the_options, Handler the_handler)
      : options(std::move(the_options)), handler(std::move(the_handler)), acceptor(loop.context) {}

  absl::Status Listen() {
    asio::error_code error;
    const asio::ip::address address = asio::ip::make_address(options.host, error);
    const tcp::endpoint endpoint(address, options.port);
    if (!error) acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port = acceptor.local_endpoint(error).port();
    self = options.host + ":" + std::to_string(port);
    if (!error) return absl::OkStatus();
    return absl::UnavailableError("cannot listen on " + options.host + ":" + std::to_string(options.port) + ": " +
                                  error.message() +
                                  "; give a numeric address of this machine and a free port, or port 0");
  }

  void Accept() {
    acceptor.async_accept([this](asio::error_code error, tcp::socket socket) {
      if (!acceptor.is_open()) return;
      if (!error) Serve(std::make_shared<FrameStream>(std::move(socket)));
      Accept();
    });
  }

  void Serve(const std::shared_ptr<FrameStream>& stream) {
    clients.insert(stream);
    const std::weak_ptr<FrameStream> weak = stream;  // the stream owns these functions
    stream->Start(
        [this, weak](std::uint32_t number, std::string request) {
          const auto client = weak.lock();
          if (options.work.count() == 0) return Answer(client, number, request);
          auto timer = std::make_shared<asio::steady_timer>(loop.context, options.work);
          timer->async_wait([this, client, number, timer, request = std::move(request)](asio::error_code) {
            Answer(client, number, request);
          });
        },
        [this, weak] {
          clients.erase(weak.lock());
          if (leaving && clients.empty()) drained.set_value();
        });
  }

  void Answer(const std::shared_ptr<FrameStream>& client, std::uint32_t number, std::string_view request) {
    const std::size_t line_end = std::min(request.find('\n'), request.size());
    const std::string_view argument = request.substr(std::min(line_end + 1, request.size()));
    client->Send(number, handler({self, request.substr(0, line_end), argument}));
  }

  void Leave() {
    leaving = true;
    asio::error_code ignored;
    acceptor.close(ignored);
    for (const auto& client : clients) client->Send(FrameStream::kLeaving, {});
    if (clients.empty()) drained.set_value();
  }

  const TcpServerOptions options;
  const Handler handler;
  Loop loop;
  tcp::acceptor acceptor;
  std::uint16_t port = 0;
  std::string self;
  std::set<std::shared_ptr<FrameStream>> clients;
  bool leaving = false;
  std::promise<void> drained;
};

TcpServer::TcpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
TcpServer::~TcpServer() { state_->loop.Stop(); }

absl::StatusOr<std::unique_ptr<TcpServer>> TcpServer::Start(TcpServerOptions options, Handler handler) {
  auto state = std::make_unique<State>(std::move(options), std::move(handler));
  if (absl::Status listening = state->Listen(); !listening.ok()) return listening;
  asio::post(state->loop.context, [running = state.get()] { running->Accept(); });
  return std::unique_ptr<TcpServer>(new TcpServer(std::move(state)));
}

std::uint16_t TcpServer::port() const { return state_->port; }

void TcpServer::Stop(std::chrono::milliseconds deadline) {
  asio::post(state_->loop.context, [state = state_.get()] { state->Leave(); });
  state_->drained.get_future().wait_for(deadline);
  state_->loop.Stop();
}

}  // namespace toy
