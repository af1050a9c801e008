#ifndef FAIRLEAD_TESTS_SUPPORT_SERVER_PROCESS_H_
#define FAIRLEAD_TESTS_SUPPORT_SERVER_PROCESS_H_

#include <sys/types.h>

#include <chrono>

namespace fairlead {

// The life of a server's process, whichever server it is: the fixture starts it and sets process_. Not thread-safe.
class ServerProcess {
 public:
  // SIGTERM, then waits for the end. What the server keeps lives on in its files.
  void Stop();
  // SIGKILL, as by a lost machine.
  void Kill();
  // The process hangs (SIGSTOP) with all connections open, from before Freeze returns, and goes on (SIGCONT).
  void Freeze();
  void Thaw();
  bool running() const { return process_ > 0; }

 protected:
  ~ServerProcess() = default;

  pid_t process_ = 0;

 private:
  // Waits for the end, and kills when it does not come.
  void Reap(std::chrono::milliseconds patience);
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_SERVER_PROCESS_H_
