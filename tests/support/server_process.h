#ifndef FAIRLEAD_TESTS_SUPPORT_SERVER_PROCESS_H_
#define FAIRLEAD_TESTS_SUPPORT_SERVER_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace fairlead {

// A program of a test's own. It dies with the thread that started it (in tests the main thread). Not thread-safe.
class ChildProcess {
 public:
  ChildProcess() = default;
  // Kills it.
  ~ChildProcess() { Kill(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // What it prints goes to the file `output`. OK says nothing about whether there is such a program: a process that ends
  // at once is none that runs. REQUIRES: not running
  absl::Status Run(std::vector<std::string> words, const std::string& output);

  // SIGTERM, then waits for the end. What a server keeps lives on in its files.
  void Stop();
  // SIGKILL, as by a lost machine.
  void Kill();
  // The process hangs (SIGSTOP) with all connections open, from before Freeze returns, and goes on (SIGCONT).
  void Freeze();
  void Thaw();
  bool running() const { return process_ > 0; }
  // Running and not frozen.
  bool awake() const { return running() && !frozen_; }

 protected:
  pid_t process() const { return process_; }
  // Notices an end that nobody asked for.
  bool HasEnded();

 private:
  // Waits for the end, and kills when it does not come.
  void Reap(std::chrono::milliseconds patience);

  pid_t process_ = 0;
  bool frozen_ = false;
};

// A server on a free port of the loopback interface, whichever server it is.
class ServerProcess : public ChildProcess {
 public:
  virtual ~ServerProcess() = default;

  // Returns when the server answers. The first Start picks the port, later ones use it, and the data, again.
  // kUnavailable tells what the server printed, kNotFound what to install.
  absl::Status Start();
  absl::Status Restart() {
    Stop();
    return Start();
  }
  // Deletes all data. REQUIRES: not running
  virtual void Wipe() = 0;

  std::uint16_t port() const { return port_; }
  std::string address() const { return (ipv6_ ? "[::1]:" : "127.0.0.1:") + std::to_string(port_); }

  // A port of the loopback interface that nothing listens on; 0: the machine has no IPv6.
  static std::uint16_t FreePort(bool ipv6 = false);

 protected:
  bool ipv6() const { return ipv6_; }
  // Listens on [::1] instead of 127.0.0.1. Before the first Start.
  void set_ipv6(bool on) { ipv6_ = on; }

 private:
  virtual absl::Status Launch() = 0;
  // Does this process, not another one that took the port meanwhile, answer on port()?
  virtual bool Answers() const = 0;
  virtual std::string Output() const = 0;
  bool WaitUntilServing();

  bool ipv6_ = false;
  std::uint16_t port_ = 0;
  bool port_proved_ = false;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_SERVER_PROCESS_H_
