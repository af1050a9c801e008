#include "fairlead/registry/redis/redis_io.h"

#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/signals_blocked.h"

namespace fairlead::internal {
namespace {

using Tcp = asio::ip::tcp;
using TcpEndpoints = std::vector<Tcp::endpoint>;

// Blocks. Not OK names the host.
absl::StatusOr<TcpEndpoints> LookUp(const RedisServer& server) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(server.host.c_str(), nullptr, &hints, &found); error != 0) {
    return absl::UnavailableError(
        absl::StrCat("the name ", server.host, " cannot be resolved: ", gai_strerror(error)));
  }
  TcpEndpoints endpoints;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Tcp::endpoint endpoint;
    if (one->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), one->ai_addr, one->ai_addrlen);
    endpoint.resize(one->ai_addrlen);
    endpoint.port(server.port);
    endpoints.push_back(endpoint);
  }
  freeaddrinfo(found);
  return endpoints;
}

}  // namespace

struct RedisIo::Loop {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::atomic<int> lookups{0};
};

// The end of the thread is the end of its work: each channel that closes takes its handlers with it, so that none is left
// that could hold the channel, and it the loop.
//
// One connection, in two halves: what the thread does, and what the executor does. They meet in a few fields under a
// mutex that is held for moments.
class RedisIo::Channel : public std::enable_shared_from_this<Channel> {
 public:
  Channel(Executor& executor, const std::shared_ptr<Loop>& loop, RedisServer server, RedisStream::Events& events)
      : executor_(executor),
        loop_(loop),
        context_(loop->context),
        server_(std::move(server)),
        socket_(context_),
        events_(&events) {}

  // The executor's half.

  void Start() {
    asio::error_code error;
    const asio::ip::address literal = asio::ip::make_address(server_.host, error);
    if (!error) {
      asio::post(context_, [self = shared_from_this(), literal] {
        self->endpoints_ = {Tcp::endpoint(literal, self->server_.port)};
        self->ConnectNext(absl::OkStatus());
      });
      return;
    }
    if (!StartLookUp()) {
      asio::post(context_, [self = shared_from_this()] {
        self->Close(absl::ResourceExhaustedError(
            absl::StrCat("no thread to look up the name ", self->server_.host,
                         "; the name service does not answer, or the process has too many threads")));
      });
    }
  }

  void Send(const RedisWords& command) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    AppendRedisCommand(command, out_);
    if (std::exchange(flush_posted_, true)) return;
    asio::post(context_, [self = shared_from_this()] { self->Flush(); });
  }

  void Detach() {
    events_ = nullptr;
    asio::post(context_, [self = shared_from_this()] { self->Close(absl::CancelledError("closed")); });
  }

 private:
  bool StartLookUp() {
    if (loop_->lookups.fetch_add(1) >= kMostLookups) {
      loop_->lookups.fetch_sub(1);
      return false;
    }
    const SignalsBlocked blocked;
    try {
      std::thread([loop = loop_, server = server_, weak = weak_from_this()] {
        pthread_setname_np(pthread_self(), "fl-redis-name");
        absl::StatusOr<TcpEndpoints> found = LookUp(server);
        loop->lookups.fetch_sub(1);
        asio::post(loop->context, [weak, found = std::move(found)]() mutable {
          const auto self = weak.lock();
          if (self == nullptr) return;
          if (!found.ok()) return self->Close(found.status());
          self->endpoints_ = *std::move(found);
          self->ConnectNext(absl::UnavailableError(absl::StrCat(self->server_.host, " has no address")));
        });
      }).detach();
    } catch (const std::exception&) {
      loop_->lookups.fetch_sub(1);
      return false;
    }
    return true;
  }

  void Deliver() {
    std::vector<RedisReply> replies;
    bool opened = false, more = false;
    std::optional<absl::Status> closed;
    {
      const std::lock_guard lock(mutex_);
      delivery_posted_ = false;
      opened = std::exchange(opened_news_, false);
      more = std::exchange(in_news_, false);
      replies.swap(in_);
      closed = std::exchange(closed_news_, std::nullopt);
      if (std::exchange(paused_, false)) {
        asio::post(context_, [self = shared_from_this()] { self->Read(); });
      }
    }
    if (opened && events_ != nullptr) events_->OnOpen();
    if (more && events_ != nullptr) events_->OnReplies(std::move(replies));
    if (closed && events_ != nullptr) std::exchange(events_, nullptr)->OnClosed(*std::move(closed));
  }

  // REQUIRES: mutex_ held
  void PostDelivery() {
    if (std::exchange(delivery_posted_, true)) return;
    executor_.Post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->Deliver();
    });
  }

  // The thread's half.

  void ConnectNext(absl::Status last) {
    if (gone_) return;
    if (next_endpoint_ == endpoints_.size()) return Close(std::move(last));
    const Tcp::endpoint endpoint = endpoints_[next_endpoint_++];
    asio::error_code error;
    socket_.close(error);
    socket_.open(endpoint.protocol(), error);
    if (error) return ConnectNext(Failure("no socket", error));
    fcntl(socket_.native_handle(), F_SETFD, FD_CLOEXEC);
    socket_.async_connect(endpoint, [self = shared_from_this()](const asio::error_code& failed) {
      if (self->gone_) return;
      if (failed) return self->ConnectNext(self->Failure("cannot connect", failed));
      self->OnConnected();
    });
  }

  void OnConnected() {
    asio::error_code ignored;
    socket_.set_option(Tcp::no_delay(true), ignored);
    socket_.set_option(asio::socket_base::keep_alive(true), ignored);
    connected_ = true;
    {
      const std::lock_guard lock(mutex_);
      opened_news_ = true;
      PostDelivery();
    }
    Read();
    Flush();
  }

  void Read() {
    if (gone_) return;
    socket_.async_read_some(asio::buffer(buffer_),
                            [self = shared_from_this()](const asio::error_code& error, std::size_t size) {
                              if (!self->gone_) self->OnRead(error, size);
                            });
  }

  void OnRead(const asio::error_code& error, std::size_t size) {
    if (error) return Close(Failure("connection lost", error));
    std::vector<RedisReply> replies;
    const absl::Status status = reader_.Feed(buffer_.data(), size, replies);
    bool wait = false;
    {
      const std::lock_guard lock(mutex_);
      in_news_ = true;
      if (in_.empty()) {
        in_ = std::move(replies);
      } else {
        in_.insert(in_.end(), std::make_move_iterator(replies.begin()), std::make_move_iterator(replies.end()));
      }
      wait = paused_ = in_.size() >= kMostWaiting;
      PostDelivery();
    }
    if (!status.ok()) return Close(status);
    if (!wait) Read();
  }

  void Flush() {
    if (gone_ || !connected_ || writing_) return;
    {
      const std::lock_guard lock(mutex_);
      flush_posted_ = false;
      if (out_.empty()) return;
      sending_.clear();
      sending_.swap(out_);
    }
    writing_ = true;
    asio::async_write(socket_, asio::buffer(sending_),
                      [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                        if (self->gone_) return;
                        self->writing_ = false;
                        if (error) return self->Close(self->Failure("connection lost", error));
                        self->Flush();
                      });
  }

  void Close(absl::Status why) {
    if (std::exchange(gone_, true)) return;
    asio::error_code ignored;
    socket_.close(ignored);
    const std::lock_guard lock(mutex_);
    closed_ = true;
    out_ = std::string();
    closed_news_ = std::move(why);
    PostDelivery();
  }

  absl::Status Failure(const char* what, const asio::error_code& error) const {
    return absl::UnavailableError(absl::StrCat(what, ": ", error.message()));
  }

  Executor& executor_;
  const std::shared_ptr<Loop> loop_;
  asio::io_context& context_;
  const RedisServer server_;

  // Thread only.
  Tcp::socket socket_;
  TcpEndpoints endpoints_;
  std::size_t next_endpoint_ = 0;
  std::array<char, 65536> buffer_;
  RedisReplyReader reader_;
  std::string sending_;
  bool writing_ = false;
  bool connected_ = false;
  bool gone_ = false;

  RedisStream::Events* events_;  // executor only

  std::mutex mutex_;  // guards what follows
  std::string out_;
  std::vector<RedisReply> in_;
  std::optional<absl::Status> closed_news_;
  bool opened_news_ = false;
  bool in_news_ = false;  // something came, be it a part of a reply
  bool closed_ = false;
  bool flush_posted_ = false;
  bool delivery_posted_ = false;
  bool paused_ = false;  // not read until the executor has taken what is there
};

class RedisIo::Stream final : public RedisStream {
 public:
  explicit Stream(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  ~Stream() override {
    // The child of a fork shares the descriptors, and what it closes is the parent's.
    if (getpid() == owner_) {
      channel_->Detach();
    } else {
      new std::shared_ptr<Channel>(channel_);
    }
  }
  void Send(const RedisWords& command) override { channel_->Send(command); }

 private:
  const std::shared_ptr<Channel> channel_;
  const pid_t owner_ = getpid();
};

absl::StatusOr<std::unique_ptr<RedisIo>> RedisIo::Start(Executor& executor) {
  try {
    auto io = std::unique_ptr<RedisIo>(new RedisIo(executor, std::make_shared<Loop>()));
    const SignalsBlocked blocked;
    io->thread_ = std::thread([loop = io->loop_] {
      pthread_setname_np(pthread_self(), "fl-redis");
      while (!loop->context.stopped()) {
        try {
          loop->context.run();
        } catch (const std::exception&) {
        }
      }
    });
    return io;
  } catch (const std::exception& error) {
    return absl::ResourceExhaustedError(absl::StrCat("no thread for the connections to Redis: ", error.what()));
  }
}

RedisIo::RedisIo(Executor& executor, std::shared_ptr<Loop> loop)
    : executor_(executor), loop_(std::move(loop)), owner_(getpid()) {}

RedisIo::~RedisIo() {
  if (!thread_.joinable()) return;
  if (getpid() != owner_) {
    thread_.detach();
    new std::shared_ptr<Loop>(loop_);
    return;
  }
  loop_->work.reset();
  thread_.join();
}

std::unique_ptr<RedisStream> RedisIo::Dial(const RedisServer& server, RedisStream::Events& events) {
  auto channel = std::make_shared<Channel>(executor_, loop_, server, events);
  channel->Start();
  return std::make_unique<Stream>(std::move(channel));
}

}  // namespace fairlead::internal
