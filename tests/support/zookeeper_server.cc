#include "fairlead/tests/support/zookeeper_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>
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

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

// The manifest of zookeeper.jar names every other jar the server needs; the second one keeps it quiet.
constexpr std::string_view kServerJar = "/usr/share/java/zookeeper.jar";
constexpr std::string_view kQuietJar = "/usr/share/java/slf4j-nop.jar";
constexpr milliseconds kPollEvery{10};
constexpr milliseconds kStartLimit{60000};  // a sanitized build beside a full compile is slow
constexpr int kPortAttempts = 8;

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

std::uint16_t ZookeeperServer::FreePort(bool ipv6) {
  Address address = Loopback(0, ipv6);
  const int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool bound = fd >= 0 && bind(fd, &address.any, address.size) == 0 &&
                     getsockname(fd, &address.any, &address.size) == 0;
  if (fd >= 0) close(fd);
  if (!bound) {
    if (ipv6) return 0;
    std::abort();
  }
  return ntohs(ipv6 ? address.v6.sin6_port : address.v4.sin_port);
}

ZookeeperServer::~ZookeeperServer() { Kill(); }

absl::Status ZookeeperServer::Start() {
  if (running()) return absl::OkStatus();
  for (const std::string_view jar : {kServerJar, kQuietJar}) {
    if (!std::filesystem::exists(jar)) {
      return absl::NotFoundError(
          absl::StrCat(std::string(jar), " is missing: install the package zookeeper"));
    }
  }
  for (int attempt = 0; attempt < kPortAttempts; ++attempt) {
    if (!port_proved_) port_ = FreePort(ipv6_);
    Launch();
    if (!running()) break;
    // Ends early when the process ends, which is what a port taken by somebody else in the meantime leads to.
    if (WaitUntilServing(kStartLimit)) {
      port_proved_ = true;
      return absl::OkStatus();
    }
    Kill();
  }
  return absl::UnavailableError(absl::StrCat("no ZooKeeper server on port ", port_, ": ", Output()));
}

void ZookeeperServer::Launch() {
  directory_.Mkdir("data");
  const std::string config = directory_ / "zoo.cfg";
  std::ofstream(config) << "tickTime=200\n"
                        << "dataDir=" << directory_ / "data" << "\n"
                        << "clientPortAddress=" << (ipv6_ ? "::1" : "127.0.0.1") << "\n"
                        << "clientPort=" << port_ << "\n"
                        << "maxClientCnxns=0\n"
                        << "admin.enableServer=false\n"
                        << "4lw.commands.whitelist=ruok,conf,cons,dump\n";
  const std::string output = directory_ / "output";
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
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const pid_t parent = getpid();
  process_ = fork();
  if (process_ != 0) return;
  // The child of a threaded process: only async-signal-safe calls until exec.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int fd = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd >= 0) {
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
  }
  // The test's sockets, its connections to other servers among them, must not live on in this one.
  close_range(STDERR_FILENO + 1, ~0u, 0);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

bool ZookeeperServer::WaitUntilServing(milliseconds limit) {
  const auto deadline = SteadyClock::now() + limit;
  while (SteadyClock::now() < deadline) {
    // On a port that another test took meanwhile another server answers; the directory tells them apart.
    if (Ask("conf").find(directory_.path()) != std::string::npos && Ask("ruok") == "imok")
      return true;
    if (waitpid(process_, nullptr, WNOHANG) == process_) {
      process_ = 0;
      return false;
    }
    std::this_thread::sleep_for(kPollEvery);
  }
  return false;
}

std::string ZookeeperServer::Ask(std::string_view command) const {
  return AskAt(Loopback(port_, ipv6_), command);
}

void ZookeeperServer::Wipe() { directory_.Remove("data"); }

std::string ZookeeperServer::Output() const {
  const std::string text = directory_.Read("output");
  return text.empty() ? "it printed nothing (is java installed?)" : text;
}

}  // namespace fairlead
