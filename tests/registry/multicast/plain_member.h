#ifndef FAIRLEAD_TESTS_REGISTRY_MULTICAST_PLAIN_MEMBER_H_
#define FAIRLEAD_TESTS_REGISTRY_MULTICAST_PLAIN_MEMBER_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace fairlead {

// A group and a port that no other test process has.
struct TestGroup {
  std::string address = "239.77." + std::to_string(getpid() / 250 % 250 + 1) + "." + std::to_string(getpid() % 250 + 1);
  std::uint16_t port = static_cast<std::uint16_t>(20000 + getpid() % 20000);
  std::string url(const std::string& parameters = "") const {
    return "multicast://" + address + ":" + std::to_string(port) +
           "?network.interface=lo&file-cache=false&timeout=60000&reply.wait=2000" + (parameters.empty() ? "" : "&" + parameters);
  }
};

// A member of the group as Dubbo is one: a single socket, bound to the port, through which it also sends.
class PlainMember {
 public:
  explicit PlainMember(const TestGroup& group) : group_(group), socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const int one = 1;
    setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    const sockaddr_in all = Address("0.0.0.0");
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&all), sizeof all), 0);
    ip_mreqn request{};
    inet_pton(AF_INET, group.address.c_str(), &request.imr_multiaddr);
    inet_pton(AF_INET, "127.0.0.1", &request.imr_address);
    request.imr_ifindex = static_cast<int>(if_nametoindex("lo"));
    EXPECT_EQ(setsockopt(socket_, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request), 0);
    EXPECT_EQ(setsockopt(socket_, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request), 0);
    timeval limit{60, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~PlainMember() { close(socket_); }

  void Say(const std::string& text, const std::string& to = "") {
    const sockaddr_in at = Address(to.empty() ? group_.address : to);
    EXPECT_EQ(sendto(socket_, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&at), sizeof at),
              static_cast<ssize_t>(text.size()));
  }
  // The next datagram that begins so; empty: none came.
  std::string Hear(const std::string& prefix) {
    for (int i = 0; i < 1000; ++i) {
      char buffer[4096];
      const ssize_t size = recv(socket_, buffer, sizeof buffer, 0);
      if (size < 0) return {};
      const std::string text(buffer, static_cast<std::size_t>(size));
      if (text.starts_with(prefix)) return text;
    }
    return {};
  }

 private:
  sockaddr_in Address(const std::string& host) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(group_.port);
    inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    return address;
  }
  const TestGroup& group_;
  const int socket_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_MULTICAST_PLAIN_MEMBER_H_
