#include "fairlead/base/asio_executor.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "fairlead/base/signals_blocked.h"

namespace fairlead {
namespace {

using Task = absl::AnyInvocable<void()>;
using TimePoint = asio::steady_timer::time_point;

// A strand that owns its tasks, which asio::strand does not: Close destroys them at once, a cancelled timer
// takes its task out wherever it waits, and handlers left in a host's event loop hold nothing of ours but
// this object, which after Close touches no io_context.
class Strand : public std::enable_shared_from_this<Strand> {
 public:
  explicit Strand(asio::io_context& context) : context_(context), wake_(std::in_place, context) {}

  void Post(Task task) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    ready_.push_back(std::move(task));
    Schedule();
  }

  Timer After(std::chrono::nanoseconds delay, Task task) {
    const TimePoint now = asio::steady_timer::clock_type::now();
    delay = std::clamp(delay, std::chrono::nanoseconds::zero(), TimePoint::max() - now);
    auto entry = std::make_shared<Entry>();
    entry->task = std::move(task);
    const std::lock_guard lock(mutex_);
    if (closed_) return Timer();
    entry->at = timers_.emplace(now + delay, entry);
    entry->waits = true;
    if (entry->at == timers_.begin()) Arm();
    return Timer([weak = weak_from_this(), weak_entry = std::weak_ptr(entry)] {
      const auto strand = weak.lock();
      if (const auto waiting = weak_entry.lock(); strand && waiting) strand->Cancel(*waiting);
    });
  }

  bool RunsHere() const { return runner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

  void Close() {
    std::deque<Task> ready;
    Timers timers;
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      ready.swap(ready_);
      timers.swap(timers_);
      wake_.reset();
    }
  }

 private:
  // What waits in the context. Destroyed without having been called, it tells that the context is gone and
  // will never run what waits here; those tasks may hold the executor itself, so they must not wait for its
  // end.
  class Handler {
   public:
    Handler(std::shared_ptr<Strand> strand, void (*run)(Strand&)) : strand_(std::move(strand)), run_(run) {}
    Handler(Handler&&) = default;
    ~Handler() {
      if (strand_ != nullptr) strand_->Close();
    }
    void operator()() { run_(*std::exchange(strand_, nullptr)); }
    void operator()(const asio::error_code& error) {
      const auto strand = std::exchange(strand_, nullptr);
      if (error != asio::error::operation_aborted) run_(*strand);
    }

   private:
    std::shared_ptr<Strand> strand_;
    void (*run_)(Strand&);
  };

  struct Entry;
  using Timers = std::multimap<TimePoint, std::shared_ptr<Entry>>;  // equal times keep the order of After
  struct Entry {
    Task task;           // empty once it started or was cancelled
    bool waits = false;  // `at` is valid
    Timers::iterator at;
  };

  // REQUIRES: mutex_ held
  void Schedule() {
    if (scheduled_) return;
    scheduled_ = true;
    asio::post(context_, Handler(shared_from_this(), [](Strand& self) { self.RunOne(); }));
  }

  // One task a handler, so that a busy executor does not starve the host's own handlers.
  void RunOne() {
    Task task;
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      task = std::move(ready_.front());
      ready_.pop_front();
    }
    runner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    try {
      task();
    } catch (...) {
    }
    task = nullptr;
    runner_.store(std::thread::id(), std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    scheduled_ = false;
    if (!closed_ && !ready_.empty()) Schedule();
  }

  // REQUIRES: mutex_ held, timers_ not empty
  void Arm() {
    wake_->expires_at(timers_.begin()->first);
    wake_->async_wait(Handler(shared_from_this(), [](Strand& self) { self.CollectDue(); }));
  }

  void CollectDue() {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    const TimePoint now = asio::steady_timer::clock_type::now();
    while (!timers_.empty() && timers_.begin()->first <= now) {
      std::shared_ptr<Entry> entry = std::move(timers_.begin()->second);
      timers_.erase(timers_.begin());
      entry->waits = false;
      ready_.push_back([this, entry = std::move(entry)] { RunTimer(*entry); });
      Schedule();
    }
    if (!timers_.empty()) Arm();
  }

  void RunTimer(Entry& entry) {
    Task task;
    {
      const std::lock_guard lock(mutex_);
      task = std::exchange(entry.task, nullptr);
    }
    if (task) task();
  }

  void Cancel(Entry& entry) {
    Task task;  // destroyed without the lock: a destructor may call anything of ours
    const std::lock_guard lock(mutex_);
    task = std::exchange(entry.task, nullptr);
    if (!std::exchange(entry.waits, false) || closed_) return;
    timers_.erase(entry.at);
    // A wait without a timer would keep the host's run() from returning.
    if (timers_.empty()) wake_->cancel();
  }

  asio::io_context& context_;
  std::atomic<std::thread::id> runner_{};
  std::mutex mutex_;
  std::optional<asio::steady_timer> wake_;  // waits for the first of timers_; gone after Close
  std::deque<Task> ready_;
  Timers timers_;
  bool scheduled_ = false;  // a RunOne is in the context or running
  bool closed_ = false;
};

class AsioExecutor final : public Executor {
 public:
  explicit AsioExecutor(asio::io_context& context) : strand_(std::make_shared<Strand>(context)) {}
  ~AsioExecutor() override { strand_->Close(); }

  void Post(Task task) override { strand_->Post(std::move(task)); }
  Timer After(std::chrono::nanoseconds delay, Task task) override {
    return strand_->After(delay, std::move(task));
  }
  bool RunsHere() const override { return strand_->RunsHere(); }

 private:
  const std::shared_ptr<Strand> strand_;
};

class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(const std::string& name) : loop_(std::make_shared<Loop>()) {
    const SignalsBlocked blocked;
    thread_ = std::thread([loop = loop_] { loop->context.run(); });
    pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
  }

  ~ThreadExecutor() override { Stop(); }

  void Stop() override {
    if (stopped_.exchange(true)) return;
    if (getpid() != owner_) {
      // In a forked child there is no thread to join, and a lock may be held for ever by one that is not
      // here. The reference of the vanished thread keeps the loop from being destroyed.
      thread_.detach();
      return;
    }
    const bool here = RunsHere();
    loop_->strand->Close();
    loop_->context.stop();
    if (here) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }

  void Post(Task task) override { loop_->strand->Post(std::move(task)); }
  Timer After(std::chrono::nanoseconds delay, Task task) override {
    return loop_->strand->After(delay, std::move(task));
  }
  bool RunsHere() const override { return loop_->strand->RunsHere(); }

 private:
  struct Loop {
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    std::shared_ptr<Strand> strand = std::make_shared<Strand>(context);
  };

  const std::shared_ptr<Loop> loop_;
  std::thread thread_;
  std::atomic<bool> stopped_{false};
  const pid_t owner_ = getpid();
};

template <class Made, class Argument>
std::shared_ptr<Executor> MakeOrNull(Argument&& argument) {
  try {
    return std::make_shared<Made>(std::forward<Argument>(argument));
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

std::shared_ptr<Executor> MakeThreadExecutor(const std::string& thread_name) {
  return MakeOrNull<ThreadExecutor>(thread_name);
}

std::shared_ptr<Executor> MakeAsioExecutor(asio::io_context& context) {
  return MakeOrNull<AsioExecutor>(context);
}

}  // namespace fairlead
