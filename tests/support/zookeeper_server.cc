#include "fairlead/tests/support/zookeeper_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

// The library forgets, and so leaks, requests that are under way when a handle is closed (ZOOKEEPER-2894).
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libzookeeper_mt.so";
}
// The library formats addresses and times in static buffers that all its handles share (ZOOKEEPER-4810).
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race_top:vsprintf";
}

namespace fairlead {
namespace {

// The manifest of zookeeper.jar names every other jar the server needs; the second one keeps it quiet.
constexpr std::string_view kServerJar = "/usr/share/java/zookeeper.jar";
constexpr std::string_view kQuietJar = "/usr/share/java/slf4j-nop.jar";

struct Address {
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  };
  socklen_t size;
};

Address Loopback(std::uint16_t port, bool ipv6) {
  Address address{};
  if (ipv6) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(port);
    address.v6.sin6_addr = in6addr_loopback;
    address.size = sizeof(address.v6);
  } else {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(port);
    address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.size = sizeof(address.v4);
  }
  return address;
}

// What the server says to one of its four-letter commands; empty when it does not answer.
std::string AskAt(const Address& address, std::string_view command) {
  const int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return {};
  std::string answer;
  if (connect(fd, &address.any, address.size) == 0 &&
      send(fd, command.data(), command.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(command.size())) {
    pollfd readable{fd, POLLIN, 0};
    std::array<char, 512> buffer;
    while (poll(&readable, 1, 1000) == 1) {
      const ssize_t got = recv(fd, buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  close(fd);
  return answer;
}

}  // namespace

ZookeeperServer::~ZookeeperServer() { Kill(); }

absl::Status ZookeeperServer::Launch() {
  for (const std::string_view jar : {kServerJar, kQuietJar}) {
    if (!std::filesystem::exists(jar)) {
      return absl::NotFoundError(absl::StrCat(std::string(jar), " is missing: install the package zookeeper"));
    }
  }
  directory_.Mkdir("data");
  const std::string config = directory_ / "zoo.cfg";
  std::ofstream(config) << "tickTime=200\n"
                        << "dataDir=" << directory_ / "data" << "\n"
                        << "clientPortAddress=" << (ipv6() ? "::1" : "127.0.0.1") << "\n"
                        << "clientPort=" << port() << "\n"
                        << "maxClientCnxns=0\n"
                        << "admin.enableServer=false\n"
                        << "4lw.commands.whitelist=ruok,conf,cons,dump\n";
  std::vector<std::string> words = {"java",
                                    "-Xmx512m",
                                    "-XX:+UseSerialGC",
                                    "-XX:TieredStopAtLevel=1",
                                    "-Dzookeeper.forceSync=no",
                                    "-Dzookeeper.preAllocSize=1024",
                                    "-cp",
                                    absl::StrCat(std::string(kServerJar), ":", std::string(kQuietJar))};
  words.insert(words.end(), options_.begin(), options_.end());
  words.insert(words.end(), {"org.apache.zookeeper.server.ZooKeeperServerMain", config});
  return Run(std::move(words), directory_ / "output");
}

// The directory tells it from another server.
bool ZookeeperServer::Answers() const {
  return Ask("conf").find(directory_.path()) != std::string::npos && Ask("ruok") == "imok";
}

std::string ZookeeperServer::Ask(std::string_view command) const {
  return AskAt(Loopback(port(), ipv6()), command);
}

void ZookeeperServer::Wipe() { directory_.Remove("data"); }

std::string ZookeeperServer::Output() const {
  const std::string text = directory_.Read("output");
  return text.empty() ? "it printed nothing (is java installed?)" : text;
}

}  // namespace fairlead
