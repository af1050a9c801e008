#include "fairlead/registry/multicast/multicast_sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/signals_blocked.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/registry/multicast/multicast_message.h"
#include "fairlead/registry/multicast/network_interface.h"

namespace fairlead::internal {
namespace {

using Address = asio::ip::address;
using Tcp = asio::ip::tcp;
using Udp = asio::ip::udp;

constexpr std::chrono::seconds kProbeLimit{1};
constexpr int kMostReceiveErrors = 100;  // in a row
constexpr int kReceiveBuffer = 1 << 20;  // answers come in bursts

absl::Status Failure(std::string_view what, const std::string& text) {
  return absl::UnavailableError(absl::StrCat(absl::string_view(what.data(), what.size()), ": ", text));
}
// The same address however it was come by.
std::string WithoutScope(const Address& address) {
  const std::string text = address.to_string();
  return text.substr(0, text.find('%'));
}

template <class Value>
void SetOption(Udp::socket& socket, int level, int name, const Value& value) {
  setsockopt(socket.native_handle(), level, name, &value, sizeof value);
}

absl::Status Open(Udp::socket& socket, const Udp::endpoint& at) {
  asio::error_code error;
  socket.open(at.protocol(), error);
  if (error) return Failure("no socket", error.message());
  fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  socket.non_blocking(true, error);
  // Every process of the host that speaks to the group has this port.
  if (at.port() != 0) socket.set_option(Udp::socket::reuse_address(true), error);
  if (at.protocol() == Udp::v6()) SetOption(socket, IPPROTO_IPV6, IPV6_V6ONLY, int{1});
  SetOption(socket, SOL_SOCKET, SO_RCVBUF, kReceiveBuffer);
  socket.bind(at, error);
  if (error) return Failure(absl::StrCat("cannot listen on port ", at.port()), error.message());
  return absl::OkStatus();
}

// What the thread does. Its members are the thread's, but for those under the mutex.
class Receiver : public std::enable_shared_from_this<Receiver> {
 public:
  Receiver(Executor& executor, MulticastLink::Events& events)
      : executor_(executor), events_(&events), group_(context_), direct_(context_) {}

  asio::io_context& context() { return context_; }
  void Run() {
    while (!context_.stopped()) {
      try {
        context_.run();
      } catch (const std::exception&) {
      }
    }
  }

  // Before the thread.
  absl::Status Listen(const Udp::endpoint& group, const NetworkInterface& interface) {
    FAIRLEAD_RETURN_IF_ERROR(Open(group_, group));
    FAIRLEAD_RETURN_IF_ERROR(JoinGroup(group_.native_handle(), WithoutScope(group.address()), interface));
    FAIRLEAD_RETURN_IF_ERROR(Open(direct_, Udp::endpoint(group.protocol(), group.port())));
    // Else it would also get what other sockets of the host have joined for.
    if (group.address().is_v4()) {
      SetOption(direct_, IPPROTO_IP, IP_MULTICAST_ALL, int{0});
    } else {
      SetOption(direct_, IPPROTO_IPV6, IPV6_MULTICAST_ALL, int{0});
    }
    return absl::OkStatus();
  }
  void Begin(std::uint16_t own_port) {
    own_port_ = own_port;
    asio::post(context_, [this] {
      Receive(group_, group_buffer_, group_from_, false);
      Receive(direct_, direct_buffer_, direct_from_, true);
    });
  }

  // The executor's.

  void Detach() {
    events_ = nullptr;
    asio::post(context_, [this] {
      gone_ = true;
      asio::error_code ignored;
      group_.close(ignored);
      direct_.close(ignored);
      waiting_.clear();
      for (const auto& probe : probes_) probe->Cancel();
      work_.reset();
    });
  }

  void Probe(const Tcp::endpoint& at, absl::AnyInvocable<void(bool)> told) {
    const std::uint64_t id = ++last_probe_;
    told_.emplace(id, std::move(told));
    asio::post(context_, [this, id, at] {
      if (gone_) return;
      waiting_.emplace_back(id, at);
      ProbeNext();
    });
  }

 private:
  using Buffer = std::array<char, kMostDatagramBytes + 1>;

  struct Connecting {
    explicit Connecting(asio::io_context& context) : socket(context), limit(context) {}
    void Cancel() {
      asio::error_code ignored;
      socket.close(ignored);
      limit.cancel();
    }
    Tcp::socket socket;
    asio::steady_timer limit;
    bool over = false;
  };

  void Receive(Udp::socket& socket, Buffer& buffer, Udp::endpoint& from, bool unicast) {
    if (gone_) return;
    socket.async_receive_from(asio::buffer(buffer), from,
                              [this, &socket, &buffer, &from, unicast](const asio::error_code& error, std::size_t size) {
                                if (gone_ || error == asio::error::operation_aborted) return;
                                if (error && ++errors_ >= kMostReceiveErrors) {
                                  return Tell([&](News& news) { news.over = Failure("cannot receive", error.message()); });
                                }
                                if (!error) OnDatagram({buffer.data(), size}, from, unicast);
                                Receive(socket, buffer, from, unicast);
                              });
  }

  void OnDatagram(std::string_view text, const Udp::endpoint& from, bool unicast) {
    errors_ = 0;
    Datagram datagram;
    datagram.text = text;
    datagram.from = from.address().to_string();
    datagram.from_this_host = addresses_.Has(WithoutScope(from.address()));
    datagram.own = datagram.from_this_host && from.port() == own_port_;
    datagram.unicast = unicast;
    Tell([&](News& news) {
      if (news.datagrams.size() >= kMostWaitingDatagrams) {
        ++news.lost;
      } else {
        news.datagrams.push_back(std::move(datagram));
      }
    });
  }

  void ProbeNext() {
    while (!waiting_.empty() && probes_.size() < kMostProbes) {
      const auto [id, at] = waiting_.front();
      waiting_.pop_front();
      const auto probe = std::make_shared<Connecting>(context_);
      probes_.insert(probe);
      asio::error_code error;
      probe->socket.open(at.protocol(), error);
      if (error) {
        EndProbe(*probe, probe, id, error);
        continue;
      }
      fcntl(probe->socket.native_handle(), F_SETFD, FD_CLOEXEC);
      probe->limit.expires_after(kProbeLimit);
      probe->limit.async_wait([this, probe, number = id](const asio::error_code& cancelled) {
        if (!cancelled) EndProbe(*probe, probe, number, asio::error::timed_out);
      });
      probe->socket.async_connect(at, [this, probe, number = id](const asio::error_code& failed) {
        EndProbe(*probe, probe, number, failed);
        ProbeNext();
      });
    }
  }

  void EndProbe(Connecting& probe, const std::shared_ptr<Connecting>& self, std::uint64_t id,
                const asio::error_code& error) {
    if (gone_ || std::exchange(probe.over, true)) return;
    probe.Cancel();
    probes_.erase(self);
    // Everything else, as that no descriptor is left, says nothing of who is asked for.
    const bool dead = error == asio::error::connection_refused || error == asio::error::timed_out ||
                      error == asio::error::host_unreachable || error == asio::error::connection_reset;
    Tell([&](News& news) { news.probed.emplace_back(id, !dead); });
  }

  struct News {
    std::vector<Datagram> datagrams;
    std::size_t lost = 0;
    std::vector<std::pair<std::uint64_t, bool>> probed;
    std::optional<absl::Status> over;
  };

  template <class Add>
  void Tell(Add add) {
    const std::lock_guard lock(mutex_);
    add(news_);
    if (std::exchange(posted_, true)) return;
    executor_.Post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->Deliver();
    });
  }

  void Deliver() {
    News news;
    {
      const std::lock_guard lock(mutex_);
      posted_ = false;
      news = std::exchange(news_, {});
    }
    if (events_ != nullptr && !news.datagrams.empty()) events_->OnDatagrams(std::move(news.datagrams), news.lost);
    for (const auto& [id, alive] : news.probed) {
      auto told = told_.extract(id);
      if (events_ != nullptr && !told.empty()) told.mapped()(alive);
    }
    if (events_ != nullptr && news.over) events_->OnLost(*std::move(news.over));
  }

  Executor& executor_;
  MulticastLink::Events* events_;  // executor only, as the two that follow
  std::uint64_t last_probe_ = 0;
  std::map<std::uint64_t, absl::AnyInvocable<void(bool)>> told_;

  asio::io_context context_{1};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_{context_.get_executor()};
  Udp::socket group_, direct_;
  Buffer group_buffer_{}, direct_buffer_{};
  Udp::endpoint group_from_, direct_from_;
  std::uint16_t own_port_ = 0;
  LocalAddresses addresses_;
  std::deque<std::pair<std::uint64_t, Tcp::endpoint>> waiting_;
  std::set<std::shared_ptr<Connecting>> probes_;
  int errors_ = 0;
  bool gone_ = false;

  std::mutex mutex_;  // guards what follows
  News news_;
  bool posted_ = false;
};

class Link final : public MulticastLink {
 public:
  Link(Executor& executor, Events& events) : receiver_(std::make_shared<Receiver>(executor, events)), out_(context_) {}

  ~Link() override {
    if (!thread_.joinable()) return;
    if (getpid() != owner_) {
      // The child of a fork has no thread to end, and the descriptors are the parent's too.
      thread_.detach();
      new std::shared_ptr<Receiver>(receiver_);
      return;
    }
    receiver_->Detach();
    thread_.join();
  }

  absl::Status Start(const MulticastOptions& options) {
    NetworkInterface interface;
    if (!options.interface.empty()) {
      FAIRLEAD_ASSIGN_OR_RETURN(interface, FindInterface(options.interface));
    }
    asio::error_code error;
    Address group = asio::ip::make_address(options.group, error);
    if (error) return Failure(options.group, error.message());
    // Every link of the host has such a group.
    if (group.is_v6() && group.to_v6().is_multicast_link_local() && interface.index != 0) {
      asio::ip::address_v6 scoped = group.to_v6();
      scoped.scope_id(interface.index);
      group = scoped;
    }
    group_ = Udp::endpoint(group, options.port);
    FAIRLEAD_RETURN_IF_ERROR(receiver_->Listen(group_, interface));
    FAIRLEAD_RETURN_IF_ERROR(FindRoute(interface));
    FAIRLEAD_RETURN_IF_ERROR(Open(out_, Udp::endpoint(group_.protocol(), 0)));
    FAIRLEAD_RETURN_IF_ERROR(SendThrough(out_.native_handle(), group.is_v6(), interface));
    const SignalsBlocked blocked;
    try {
      thread_ = std::thread([receiver = receiver_] {
        pthread_setname_np(pthread_self(), "fl-multicast");
        receiver->Run();
      });
    } catch (const std::exception& failed) {
      return absl::ResourceExhaustedError(absl::StrCat("no thread: ", failed.what()));
    }
    receiver_->Begin(out_.local_endpoint(error).port());
    return absl::OkStatus();
  }

  absl::Status Multicast(const std::string& text) override { return Send(text, group_); }
  absl::Status Unicast(const std::string& text, const std::string& to) override {
    asio::error_code error;
    const Address address = asio::ip::make_address(to, error);
    if (error) return absl::InvalidArgumentError(absl::StrCat(to, ": ", error.message()));
    return Send(text, Udp::endpoint(address, group_.port()));
  }
  void Probe(const std::string& host, std::uint16_t port, absl::AnyInvocable<void(bool)> told) override {
    asio::error_code error;
    receiver_->Probe(Tcp::endpoint(asio::ip::make_address(host, error), port), std::move(told));
  }
  const std::string& local_address() const override { return local_address_; }

 private:
  // Connecting a datagram socket asks for the way and for the address at this end of it, and sends nothing.
  absl::Status FindRoute(const NetworkInterface& interface) {
    Udp::socket probe(context_);
    FAIRLEAD_RETURN_IF_ERROR(Open(probe, Udp::endpoint(group_.protocol(), 0)));
    FAIRLEAD_RETURN_IF_ERROR(SendThrough(probe.native_handle(), group_.address().is_v6(), interface));
    asio::error_code error;
    probe.connect(group_, error);
    if (error) return Failure(absl::StrCat("no way to ", group_.address().to_string()), error.message());
    local_address_ = WithoutScope(probe.local_endpoint(error).address());
    return absl::OkStatus();
  }

  absl::Status Send(const std::string& text, const Udp::endpoint& to) {
    asio::error_code error;
    out_.send_to(asio::buffer(text), to, 0, error);
    if (!error) return absl::OkStatus();
    if (error == asio::error::would_block || error == asio::error::try_again || error == asio::error::no_buffer_space) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot send now: ", error.message()));
    }
    return Failure("cannot send", error.message());
  }

  const std::shared_ptr<Receiver> receiver_;
  asio::io_context context_{1};  // never run: sending does not wait
  Udp::socket out_;
  Udp::endpoint group_;
  std::string local_address_;
  std::thread thread_;
  const pid_t owner_ = getpid();
};

}  // namespace

MulticastOpener MulticastSockets(Executor& executor) {
  return [&executor](const MulticastOptions& options,
                     MulticastLink::Events& events) -> absl::StatusOr<std::unique_ptr<MulticastLink>> {
    try {
      auto link = std::make_unique<Link>(executor, events);
      FAIRLEAD_RETURN_IF_ERROR(link->Start(options));
      return link;
    } catch (const std::exception& error) {  // no descriptor is left for an io_context
      return absl::ResourceExhaustedError(absl::StrCat("no sockets: ", error.what()));
    }
  };
}

}  // namespace fairlead::internal
