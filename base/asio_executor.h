#ifndef FAIRLEAD_BASE_ASIO_EXECUTOR_H_
#define FAIRLEAD_BASE_ASIO_EXECUTOR_H_

#include <memory>
#include <string>

#include "fairlead/base/executor.h"

namespace asio {
class io_context;
}

namespace fairlead {

// An executor with one thread of its own, named `thread_name` (at most 15 bytes are shown by the kernel) and
// with all signals blocked, so that a host's signal handling never lands on it. Destroying it stops and joins
// the thread; must not be destroyed on that thread.
std::shared_ptr<Executor> MakeThreadExecutor(const std::string& thread_name);

// An executor on the host's own event loop; no thread is made. Any number of threads may run `context`: a
// strand keeps the tasks serial. `context` must outlive every task posted.
std::shared_ptr<Executor> MakeAsioExecutor(asio::io_context& context);

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_ASIO_EXECUTOR_H_
