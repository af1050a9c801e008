#ifndef FAIRLEAD_BASE_ASIO_EXECUTOR_H_
#define FAIRLEAD_BASE_ASIO_EXECUTOR_H_

#include <memory>
#include <string>

#include "fairlead/base/executor.h"

namespace asio {
class io_context;
}

namespace fairlead {

// Both executors swallow what a task throws. Both are null when the system has no thread, file descriptor or
// memory left for them.

// An executor with one thread of its own, named `thread_name` (at most 15 bytes are shown by the kernel) and
// with all signals blocked, so that a host's signal handling never lands on it; only the signals that a fault
// raises on the faulting thread itself (SIGSEGV and its like) stay open for crash handlers. Destroying it
// stops the thread and waits for it. Destroyed by one of its own tasks, the thread ends by itself after that
// task. After fork the child has no such thread: its copy runs nothing, and destroying it there does nothing.
std::shared_ptr<Executor> MakeThreadExecutor(const std::string& thread_name);

// An executor on the host's own event loop; no thread is made. Any number of threads may run `context`: a
// strand keeps the tasks serial. `context` must outlive the executor. A task that runs on another thread
// while the executor is destroyed still finishes.
std::shared_ptr<Executor> MakeAsioExecutor(asio::io_context& context);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_ASIO_EXECUTOR_H_
