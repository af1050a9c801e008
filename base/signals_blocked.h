#ifndef FAIRLEAD_BASE_SIGNALS_BLOCKED_H_
#define FAIRLEAD_BASE_SIGNALS_BLOCKED_H_

#include <pthread.h>
#include <signal.h>

namespace fairlead {

// Blocks, while it lives, every signal on the calling thread but those that a fault raises on the faulting
// thread itself (SIGSEGV and its like: crash handlers keep working). A new thread inherits the mask of its
// maker, so threads made meanwhile never run a host's signal handlers. Cheap: two system calls.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
      sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_SIGNALS_BLOCKED_H_
