#include "fairlead/tests/support/fault_proxy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace fairlead {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using Way = FaultProxy::Way;
using Fate = FaultProxy::Fate;

// One end of a TCP connection.
class Socket {
 public:
  explicit Socket(int fd = -1) : fd_(fd) {}
  ~Socket() { Close(); }
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) Close(), fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  bool ok() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  void Finish() { shutdown(fd_, SHUT_WR); }
  void Send(const std::string& bytes) {
    EXPECT_EQ(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  // What comes until `size` bytes are there; "<end>" or "<reset>" for an end, "<nothing>" after `patience`.
  std::string Receive(std::size_t size, milliseconds patience = milliseconds(10000)) {
    std::string all;
    const auto deadline = SteadyClock::now() + patience;
    while (all.size() < size) {
      pollfd readable{fd_, POLLIN, 0};
      const auto left = std::chrono::ceil<milliseconds>(deadline - SteadyClock::now()).count();
      if (left <= 0 || poll(&readable, 1, static_cast<int>(left)) == 0) return all.empty() ? "<nothing>" : all;
      std::array<char, 65536> buffer;
      const ssize_t got = recv(fd_, buffer.data(), std::min(buffer.size(), size - all.size()), 0);
      if (got == 0) return all + "<end>";
      if (got < 0) return all + (errno == ECONNRESET ? "<reset>" : "<error>");
      all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  int fd_;
};

class FaultProxyTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    listener_ = Socket(socket(family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_storage address = Address(0);
    socklen_t size = sizeof(address);
    ASSERT_EQ(bind(listener_.fd(), reinterpret_cast<sockaddr*>(&address), Size()), 0);
    ASSERT_EQ(listen(listener_.fd(), 16), 0);
    getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &size);
    target_port_ = ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);  // the same place in sockaddr_in6
    StartProxy(true);
  }

  void StartProxy(bool half_close) {
    auto proxy = FaultProxy::Start({.host = GetParam(),
                                    .target_host = GetParam(),
                                    .target_port = target_port_,
                                    .half_close = half_close,
                                    .observer = [this](std::uint64_t, Way way, std::string_view bytes) {
                                      const std::lock_guard lock(mutex_);
                                      (way == Way::kToServer ? seen_to_server_ : seen_to_client_) += bytes;
                                    }});
    ASSERT_TRUE(proxy.ok()) << proxy.status();
    proxy_ = *std::move(proxy);
  }

  int family() const { return std::string(GetParam()) == "::1" ? AF_INET6 : AF_INET; }
  socklen_t Size() const { return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }
  sockaddr_storage Address(std::uint16_t port) const {
    sockaddr_storage storage{};
    if (family() == AF_INET6) {
      auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
      v6->sin6_family = AF_INET6;
      v6->sin6_port = htons(port);
      v6->sin6_addr = in6addr_loopback;
    } else {
      auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
      v4->sin_family = AF_INET;
      v4->sin_port = htons(port);
      v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    return storage;
  }
  Socket Connect() {
    Socket client(socket(family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_storage address = Address(proxy_->port());
    if (connect(client.fd(), reinterpret_cast<const sockaddr*>(&address), Size()) != 0) client.Close();
    return client;
  }
  // A client and what it reached.
  std::pair<Socket, Socket> Pair() {
    Socket client = Connect();
    EXPECT_TRUE(client.ok());
    Socket server(accept(listener_.fd(), nullptr, nullptr));
    client.Send("hello");
    EXPECT_EQ(server.Receive(5), "hello");
    return {std::move(client), std::move(server)};
  }
  bool Eventually(const std::function<bool()>& wanted) {
    const auto deadline = SteadyClock::now() + std::chrono::seconds(10);
    while (!wanted() && SteadyClock::now() < deadline) poll(nullptr, 0, 1);
    return wanted();
  }

  Socket listener_;
  std::uint16_t target_port_ = 0;
  std::mutex mutex_;
  std::string seen_to_server_, seen_to_client_;
  std::unique_ptr<FaultProxy> proxy_;
};

TEST_P(FaultProxyTest, PassesBothWaysAndTheEnd) {
  auto [client, server] = Pair();
  const std::string much(3000000, 'x');
  std::thread sender([&, to = &client] { to->Send(much); });
  EXPECT_EQ(server.Receive(much.size()), much);
  sender.join();
  client.Finish();
  EXPECT_EQ(server.Receive(1), "<end>");
  server.Send("answer");
  server.Close();
  EXPECT_EQ(client.Receive(7), "answer<end>");
  EXPECT_TRUE(Eventually([&] { return proxy_->stats().open == 0; }));
  EXPECT_EQ(proxy_->stats().accepted, 1u);
  EXPECT_EQ(proxy_->stats().to_server, 5 + much.size());
  EXPECT_EQ(proxy_->stats().to_client, 6u);
  const std::lock_guard lock(mutex_);
  EXPECT_EQ(seen_to_client_, "answer");
  EXPECT_EQ(seen_to_server_.size(), 5 + much.size());
}

TEST_P(FaultProxyTest, DelayHoldsBackAndKeepsTheOrder) {
  auto [client, server] = Pair();
  proxy_->SetLink(Way::kToClient, {.delay = milliseconds(80), .jitter = milliseconds(20)});
  const auto start = SteadyClock::now();
  server.Send("ab");
  client.Send("at once");
  EXPECT_EQ(server.Receive(7), "at once");
  EXPECT_LT(SteadyClock::now() - start, milliseconds(80));
  server.Send("cd");
  EXPECT_EQ(client.Receive(4), "abcd");
  EXPECT_GE(SteadyClock::now() - start, milliseconds(80));
}

TEST_P(FaultProxyTest, ASlowLinkTakesItsTime) {
  auto [client, server] = Pair();
  proxy_->SetLink(Way::kToClient, {.bytes_per_second = 100000});
  const auto start = SteadyClock::now();
  server.Send(std::string(20000, 'x'));
  EXPECT_EQ(client.Receive(20000).size(), 20000u);
  EXPECT_GE(SteadyClock::now() - start, milliseconds(150));
}

TEST_P(FaultProxyTest, WhatIsHeldIsDeliveredAfterwards) {
  auto [client, server] = Pair();
  proxy_->SetLink(Way::kToServer, {.fate = Fate::kHold});
  client.Send("held");
  client.Finish();
  server.Send("the other way is open");
  EXPECT_EQ(client.Receive(21), "the other way is open");
  EXPECT_EQ(server.Receive(1, milliseconds(50)), "<nothing>");
  proxy_->Heal();
  EXPECT_EQ(server.Receive(5), "held<end>");
}

TEST_P(FaultProxyTest, WhatIsDroppedNeverComesAndMakesDeaf) {
  auto [client, server] = Pair();
  auto [other_client, other_server] = Pair();
  proxy_->SetLink(Way::kToServer, {.fate = Fate::kDrop});
  client.Send("dropped");
  EXPECT_TRUE(Eventually([&] {
    const std::lock_guard lock(mutex_);
    return seen_to_server_.ends_with("dropped");
  }));
  proxy_->Heal();
  client.Send("lost as well");
  other_client.Send("lost nothing");
  EXPECT_EQ(other_server.Receive(12), "lost nothing");
  EXPECT_EQ(server.Receive(1, milliseconds(50)), "<nothing>");
  server.Send("the other way is open");
  EXPECT_EQ(client.Receive(21), "the other way is open");
  client.Close();
  EXPECT_EQ(server.Receive(1), "<reset>");
}

TEST_P(FaultProxyTest, ACutResetsBothSides) {
  auto [client, server] = Pair();
  proxy_->Cut();
  EXPECT_EQ(client.Receive(1), "<reset>");
  EXPECT_EQ(server.Receive(1), "<reset>");
  EXPECT_EQ(proxy_->stats().open, 0u);
  Pair();
}

TEST_P(FaultProxyTest, RefusesAndKeepsItsPort) {
  const std::uint16_t port = proxy_->port();
  auto [client, server] = Pair();
  proxy_->Refuse();
  EXPECT_FALSE(Connect().ok());
  client.Send("goes on");
  EXPECT_EQ(server.Receive(7), "goes on");
  proxy_->Heal();
  EXPECT_EQ(proxy_->port(), port);
  Pair();
}

TEST_P(FaultProxyTest, AVanishedPeerIsSilentAndDoesNotEnd) {
  auto [client, server] = Pair();
  proxy_->Vanish();
  server.Send("x");
  server.Close();
  client.Send("y");
  EXPECT_EQ(client.Receive(1, milliseconds(50)), "<nothing>");
  EXPECT_EQ(proxy_->stats().open, 1u);
  Pair();
  // Back again, it knows nothing of the connection.
  proxy_->Heal();
  EXPECT_EQ(client.Receive(1), "<reset>");
}

TEST_P(FaultProxyTest, OneOfTwoPeersVanishes) {
  auto [gone_client, gone_server] = Pair();
  auto [client, server] = Pair();
  proxy_->Vanish([](std::uint64_t connection) { return connection == 1; });
  server.Send("x");
  gone_server.Send("x");
  EXPECT_EQ(client.Receive(1), "x");
  EXPECT_EQ(gone_client.Receive(1, milliseconds(50)), "<nothing>");
}

TEST_P(FaultProxyTest, WithoutHalfClosesOneEndIsTheEnd) {
  StartProxy(false);
  auto [client, server] = Pair();
  client.Send("last");
  client.Close();
  EXPECT_EQ(server.Receive(5), "last<end>");
  // The server keeps its side, the proxy does not.
  EXPECT_TRUE(Eventually([&] { return proxy_->stats().open == 0; }));
}

TEST_P(FaultProxyTest, ADeadTargetIsABrokenConnection) {
  listener_.Close();
  Socket client = Connect();
  EXPECT_NE(client.Receive(1), "<nothing>");
}

INSTANTIATE_TEST_SUITE_P(Loopback, FaultProxyTest, ::testing::Values("127.0.0.1", "::1"),
                         [](const auto& host) { return host.index == 0 ? "IPv4" : "IPv6"; });

TEST(FaultProxyStartTest, NamesAreRefused) {
  EXPECT_EQ(FaultProxy::Start({.host = "localhost"}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace fairlead
