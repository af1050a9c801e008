#include "fairlead/tests/support/server_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "absl/strings/str_cat.h"

#include "fairlead/tests/support/eventually.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kPollEvery{4};
constexpr milliseconds kStartLimit{60000};  // a sanitized build beside a full compile is slow
constexpr int kPortAttempts = 8;

}  // namespace

absl::Status ChildProcess::Run(std::vector<std::string> words, const std::string& output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) {
    process_ = 0;
    return absl::ResourceExhaustedError(absl::StrCat("no process for ", words.front()));
  }
  if (process_ != 0) return absl::OkStatus();
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

void ChildProcess::Reap(milliseconds patience) {
  if (!Eventually([this] { return waitpid(process_, nullptr, WNOHANG) != 0; }, patience)) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  process_ = 0;
  frozen_ = false;
}

bool ChildProcess::HasEnded() {
  if (!running() || waitpid(process_, nullptr, WNOHANG) != process_) return false;
  process_ = 0;
  return true;
}

void ChildProcess::Stop() {
  if (!running()) return;
  Thaw();
  kill(process_, SIGTERM);
  Reap(milliseconds(10000));
}

void ChildProcess::Kill() {
  if (running()) Reap(milliseconds(0));
}

void ChildProcess::Freeze() {
  if (!running()) return;
  frozen_ = true;
  kill(process_, SIGSTOP);
  siginfo_t stopped;
  waitid(P_PID, static_cast<id_t>(process_), &stopped, WSTOPPED | WEXITED | WNOWAIT);
}

void ChildProcess::Thaw() {
  frozen_ = false;
  if (running()) kill(process_, SIGCONT);
}

std::uint16_t ServerProcess::FreePort(bool ipv6) {
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } address{};
  socklen_t size = ipv6 ? sizeof(address.v6) : sizeof(address.v4);
  if (ipv6) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_addr = in6addr_loopback;
  } else {
    address.v4.sin_family = AF_INET;
    address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  }
  const int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool bound = fd >= 0 && bind(fd, &address.any, size) == 0 && getsockname(fd, &address.any, &size) == 0;
  if (fd >= 0) close(fd);
  if (!bound) {
    if (ipv6) return 0;
    std::abort();
  }
  return ntohs(ipv6 ? address.v6.sin6_port : address.v4.sin_port);
}

absl::Status ServerProcess::Start() {
  if (running()) return absl::OkStatus();
  for (int attempt = 0; attempt < kPortAttempts; ++attempt) {
    if (!port_proved_) port_ = FreePort(ipv6_);
    if (absl::Status launched = Launch(); !launched.ok()) return launched;
    // Ends early when the process ends, which is what a port taken by somebody else in the meantime leads to.
    if (WaitUntilServing()) {
      port_proved_ = true;
      return absl::OkStatus();
    }
    Kill();
  }
  return absl::UnavailableError(absl::StrCat("no server on port ", port_, ": ", Output()));
}

bool ServerProcess::WaitUntilServing() {
  const auto deadline = SteadyClock::now() + kStartLimit;
  while (SteadyClock::now() < deadline) {
    if (Answers()) return true;
    if (HasEnded()) return false;
    std::this_thread::sleep_for(kPollEvery);
  }
  return false;
}

}  // namespace fairlead
