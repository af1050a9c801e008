#include "fairlead/tests/support/fault_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/random.h"
#include "fairlead/base/status_macros.h"

namespace fairlead {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// More than this is left in the sender's socket, so that a sender feels a slow link.
constexpr std::size_t kMostQueued = 256 * 1024;
constexpr std::size_t kPiece = 16 * 1024;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  std::uint16_t port() const {
    return ntohs(family() == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                                      : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  }
};

absl::StatusOr<SocketAddress> AddressOf(const std::string& host, std::uint16_t port) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.size = sizeof(sockaddr_in);
  } else if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.size = sizeof(sockaddr_in6);
  } else {
    return absl::InvalidArgumentError(absl::StrCat("not a numeric address: ", host));
  }
  return address;
}

absl::Status Failed(std::string_view what) {
  return absl::UnavailableError(absl::StrCat("proxy cannot ", std::string(what), ": ", std::strerror(errno)));
}

int NewSocket(int family) { return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

void SetOption(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof(value)); }

// With a reset instead of an orderly end.
void Reset(int& fd) {
  if (fd < 0) return;
  const linger now{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  close(std::exchange(fd, -1));
}

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

class FaultProxy::Loop {
 public:
  explicit Loop(Options options) : options_(std::move(options)), random_(options_.seed) {}

  ~Loop() {
    if (thread_.joinable()) {
      With([&] { stopping_ = true; });
      thread_.join();
    }
    CloseAll();
    for (const int fd : {listener_, place_, wake_}) {
      if (fd >= 0) close(fd);
    }
  }

  absl::Status Open() {
    FAIRLEAD_ASSIGN_OR_RETURN(target_, AddressOf(options_.target_host, options_.target_port));
    FAIRLEAD_ASSIGN_OR_RETURN(own_, AddressOf(options_.host, 0));
    wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake_ < 0) return Failed("make an eventfd");
    // This socket holds the port while nobody listens on it.
    place_ = NewSocket(own_.family());
    if (place_ < 0) return Failed("make a socket");
    SetOption(place_, SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(place_, own_.get(), own_.size) != 0 || getsockname(place_, own_.get(), &own_.size) != 0) {
      return Failed(absl::StrCat("bind to ", options_.host));
    }
    FAIRLEAD_RETURN_IF_ERROR(Listen());
    thread_ = std::thread([this] { Run(); });
    return absl::OkStatus();
  }

  std::uint16_t port() const { return own_.port(); }

  // Runs `change` between two rounds of the loop.
  template <class Change>
  void With(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
  }

  void SetLink(Way way, const Link& link) {
    With([&] { links_[static_cast<std::size_t>(way)] = link; });
  }
  void Cut() {
    With([&] { CloseAll(); });
  }
  void Refuse() {
    With([&] {
      if (listener_ < 0) return;
      shutdown(listener_, SHUT_RD);  // for the loop's poll keeps a closed one listening until it returns
      close(std::exchange(listener_, -1));
    });
  }
  void Vanish(const std::function<bool(std::uint64_t)>& which) {
    With([&] {
      for (Connection& connection : connections_) {
        if (which && !which(connection.id)) continue;
        connection.vanished = true;
        for (Pipe& pipe : connection.pipes) pipe.GoDeaf();
      }
    });
  }
  void Heal() {
    With([&] {
      links_ = {};
      for (Connection& connection : connections_) connection.vanished = false;
      // The port is ours: place_ has it.
      [[maybe_unused]] const absl::Status listening = Listen();
    });
  }
  Stats stats() {
    const std::lock_guard lock(mutex_);
    Stats stats = stats_;
    stats.open = static_cast<std::size_t>(
        std::count_if(connections_.begin(), connections_.end(), [](const Connection& c) { return !c.closed(); }));
    return stats;
  }

 private:
  struct Piece {
    SteadyClock::time_point due;
    std::string bytes;
  };

  // One direction of a connection.
  struct Pipe {
    std::deque<Piece> pieces;
    std::size_t queued = 0, sent_of_first = 0;
    SteadyClock::time_point next_send{};  // a slow link's
    bool ended = false;                   // the sender closed, or is gone
    bool told = false;                    // and the receiver knows
    bool deaf = false;

    void GoDeaf() {
      deaf = true;
      pieces.clear();
      queued = sent_of_first = 0;
    }
  };

  struct Connection {
    std::uint64_t id = 0;
    std::array<int, 2> fds{-1, -1};  // client, server
    std::array<Pipe, 2> pipes;       // by Way: reads fds[way], writes fds[1 - way]
    bool connecting = false;
    bool vanished = false;

    bool closed() const { return fds[0] < 0; }
    bool Deaf() const { return pipes[0].deaf || pipes[1].deaf; }
    void Close() {
      for (int& fd : fds) Reset(fd);
    }
    void End() {
      for (int& fd : fds) close(std::exchange(fd, -1));
    }
  };

  absl::Status Listen() {
    if (listener_ >= 0) return absl::OkStatus();
    listener_ = NewSocket(own_.family());
    if (listener_ < 0) return Failed("make a socket");
    SetOption(listener_, SOL_SOCKET, SO_REUSEADDR, 1);
    if (bind(listener_, own_.get(), own_.size) != 0 || listen(listener_, 128) != 0) return Failed("listen");
    return absl::OkStatus();
  }

  void CloseAll() {
    for (Connection& connection : connections_) connection.Close();
  }

  const Link& link(std::size_t way) const { return links_[way]; }

  void Run() {
    std::vector<pollfd> polled;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      std::erase_if(connections_, [](const Connection& connection) { return connection.closed(); });
      const int timeout = Prepare(polled);
      const int listener = listener_;
      lock.unlock();
      poll(polled.data(), polled.size(), timeout);
      lock.lock();
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t drained = read(wake_, &ignored, sizeof(ignored));
      // While the lock was free nobody added connections, but some may have been closed.
      const std::size_t known = connections_.size();
      for (std::size_t i = 0; i < known; ++i) {
        Serve(connections_[i], polled[2 + 2 * i].revents, polled[3 + 2 * i].revents);
      }
      if (listener >= 0 && listener == listener_ && polled[1].revents != 0) Accept();
    }
  }

  // Fills `polled` with the wake-up, the listener and two entries a connection. Returns poll's time-out.
  int Prepare(std::vector<pollfd>& polled) {
    const auto now = SteadyClock::now();
    std::optional<SteadyClock::time_point> first_due;
    polled.assign({{wake_, POLLIN, 0}, {listener_, POLLIN, 0}});
    for (const Connection& connection : connections_) {
      std::array<short, 2> events{};
      for (std::size_t way = 0; way < 2; ++way) {
        const Pipe& pipe = connection.pipes[way];
        const bool readable = !pipe.ended && (pipe.deaf || pipe.queued < kMostQueued);
        if (readable && !(way == 0 && connection.connecting)) events[way] |= POLLIN;
        if (pipe.pieces.empty() || link(way).fate != Fate::kPass) continue;
        const auto due = std::max(pipe.pieces.front().due, pipe.next_send);
        if (due <= now) {
          events[1 - way] |= POLLOUT;
        } else if (!first_due || due < *first_due) {
          first_due = due;
        }
      }
      if (connection.connecting) events[1] |= POLLOUT;
      for (std::size_t side = 0; side < 2; ++side) {
        // A side that nothing is wanted of is left out: poll would report its end again and again.
        polled.push_back({events[side] == 0 ? -1 : connection.fds[side], events[side], 0});
      }
    }
    if (!first_due) return -1;
    return static_cast<int>(std::chrono::ceil<milliseconds>(*first_due - now).count());
  }

  void Accept() {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return;
    Connection connection;
    connection.id = ++stats_.accepted;
    connection.fds = {client, NewSocket(target_.family())};
    for (const int fd : connection.fds) SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    if (connect(connection.fds[1], target_.get(), target_.size) != 0) {
      if (errno != EINPROGRESS) return connection.Close();
      connection.connecting = true;
    }
    connections_.push_back(std::move(connection));
  }

  void Serve(Connection& connection, short client_events, short server_events) {
    if (connection.closed()) return;
    if (connection.connecting && server_events != 0) {
      int error = 0;
      socklen_t size = sizeof(error);
      getsockopt(connection.fds[1], SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) return connection.Close();
      connection.connecting = false;
    }
    if (connection.connecting) return;
    constexpr short kReadable = POLLIN | POLLHUP | POLLERR;
    if ((client_events & kReadable) != 0) Receive(connection, 0);
    if ((server_events & kReadable) != 0) Receive(connection, 1);
    for (std::size_t way = 0; way < 2; ++way) Deliver(connection, way);
    const bool first_told = connection.pipes[0].told, second_told = connection.pipes[1].told;
    if (options_.half_close ? first_told && second_told : first_told || second_told) return connection.End();
    if (!connection.Deaf()) return;
    // A deaf connection hears of no end. But when the network is whole again, TCP repeats that end until the other side
    // has it.
    const bool whole = !connection.vanished && link(0).fate == Fate::kPass && link(1).fate == Fate::kPass;
    const bool first_ended = connection.pipes[0].ended, second_ended = connection.pipes[1].ended;
    if (whole ? first_ended || second_ended : first_ended && second_ended) connection.Close();
  }

  void Receive(Connection& connection, std::size_t way) {
    Pipe& pipe = connection.pipes[way];
    if (pipe.ended) return;
    std::array<char, kPiece> buffer;
    const ssize_t got = recv(connection.fds[way], buffer.data(), buffer.size(), 0);
    if (got < 0 && WouldBlock()) return;
    if (link(way).fate == Fate::kDrop && !pipe.deaf) pipe.GoDeaf();
    if (got <= 0) {
      pipe.ended = true;
      return;
    }
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    if (options_.observer) options_.observer(connection.id, static_cast<Way>(way), bytes);
    if (pipe.deaf) return;
    auto delay = link(way).delay;
    if (link(way).jitter.count() > 0) {
      delay += milliseconds(random_.Below(static_cast<std::uint64_t>(link(way).jitter.count()) + 1));
    }
    pipe.pieces.push_back({SteadyClock::now() + delay, std::string(bytes)});
    pipe.queued += bytes.size();
  }

  // What is due goes out; after the last piece the end.
  void Deliver(Connection& connection, std::size_t way) {
    Pipe& pipe = connection.pipes[way];
    const int to = connection.fds[1 - way];
    if (pipe.deaf || link(way).fate != Fate::kPass) return;
    const std::size_t rate = link(way).bytes_per_second;
    auto now = SteadyClock::now();
    while (!pipe.pieces.empty() && std::max(pipe.pieces.front().due, pipe.next_send) <= now) {
      const std::string& bytes = pipe.pieces.front().bytes;
      std::size_t size = bytes.size() - pipe.sent_of_first;
      if (rate > 0) size = std::min(size, std::max<std::size_t>(1, rate / 50));
      const ssize_t sent = send(to, bytes.data() + pipe.sent_of_first, size, MSG_NOSIGNAL);
      if (sent < 0) {
        if (!WouldBlock()) pipe.GoDeaf(), pipe.ended = pipe.told = true;  // nobody is there to receive it
        return;
      }
      if (rate > 0) {
        pipe.next_send = std::max(pipe.next_send, now - milliseconds(20)) +
                         std::chrono::microseconds(1000000 * static_cast<std::uint64_t>(sent) / rate);
      }
      (way == 0 ? stats_.to_server : stats_.to_client) += static_cast<std::uint64_t>(sent);
      pipe.queued -= static_cast<std::size_t>(sent);
      pipe.sent_of_first += static_cast<std::size_t>(sent);
      if (pipe.sent_of_first == bytes.size()) {
        pipe.pieces.pop_front();
        pipe.sent_of_first = 0;
      }
    }
    if (pipe.ended && pipe.pieces.empty() && !pipe.told) {
      shutdown(to, SHUT_WR);
      pipe.told = true;
    }
  }

  const Options options_;
  SocketAddress target_, own_;
  int wake_ = -1, place_ = -1, listener_ = -1;
  std::thread thread_;

  std::mutex mutex_;  // guards what follows; free while the loop waits
  bool stopping_ = false;
  std::array<Link, 2> links_;  // by Way
  std::vector<Connection> connections_;
  Random random_;
  Stats stats_;
};

absl::StatusOr<std::unique_ptr<FaultProxy>> FaultProxy::Start(Options options) {
  auto loop = std::make_unique<Loop>(std::move(options));
  FAIRLEAD_RETURN_IF_ERROR(loop->Open());
  return std::unique_ptr<FaultProxy>(new FaultProxy(std::move(loop)));
}

FaultProxy::FaultProxy(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
FaultProxy::~FaultProxy() = default;

std::uint16_t FaultProxy::port() const { return loop_->port(); }
void FaultProxy::SetLink(Way way, const Link& link) { loop_->SetLink(way, link); }
void FaultProxy::Cut() { loop_->Cut(); }
void FaultProxy::Refuse() { loop_->Refuse(); }
void FaultProxy::Vanish(const std::function<bool(std::uint64_t)>& which) { loop_->Vanish(which); }
void FaultProxy::Heal() { loop_->Heal(); }
FaultProxy::Stats FaultProxy::stats() const { return loop_->stats(); }

}  // namespace fairlead
