#include "fairlead/tests/support/server_process.h"

#include <signal.h>
#include <sys/wait.h>

#include "fairlead/tests/support/eventually.h"

namespace fairlead {

using std::chrono::milliseconds;

void ServerProcess::Reap(milliseconds patience) {
  if (!Eventually([this] { return waitpid(process_, nullptr, WNOHANG) != 0; }, patience)) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  process_ = 0;
}

void ServerProcess::Stop() {
  if (!running()) return;
  Thaw();
  kill(process_, SIGTERM);
  Reap(milliseconds(10000));
}

void ServerProcess::Kill() {
  if (running()) Reap(milliseconds(0));
}

void ServerProcess::Freeze() {
  if (!running()) return;
  kill(process_, SIGSTOP);
  siginfo_t stopped;
  waitid(P_PID, static_cast<id_t>(process_), &stopped, WSTOPPED | WEXITED | WNOWAIT);
}

void ServerProcess::Thaw() {
  if (running()) kill(process_, SIGCONT);
}

}  // namespace fairlead
