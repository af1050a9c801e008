#include "fairlead/tests/support/manual_executor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace fairlead {
namespace {

using Task = absl::AnyInvocable<void()>;
using TimePoint = Clock::SteadyTime;

constexpr std::size_t kEndless = 1'000'000;

[[noreturn]] void Fail(const char* text) {
  std::fprintf(stderr, "ManualExecutor: %s\n", text);
  std::abort();
}

}  // namespace

struct ManualExecutor::Shared {
  struct Entry;
  using Timers = std::multimap<TimePoint, std::shared_ptr<Entry>>;
  struct Entry {
    Task task;
    bool waits = true;  // `at` is valid
    Timers::iterator at;
  };

  void Cancel(Entry& entry) {
    Task task;  // destroyed without the lock
    const std::lock_guard lock(mutex);
    task = std::exchange(entry.task, nullptr);
    if (std::exchange(entry.waits, false)) timers.erase(entry.at);
  }

  // REQUIRES: mutex held
  void CollectDue(TimePoint now) {
    while (!timers.empty() && timers.begin()->first <= now) {
      std::shared_ptr<Entry> entry = std::move(timers.begin()->second);
      timers.erase(timers.begin());
      entry->waits = false;
      ready.push_back(std::move(entry));
    }
  }

  mutable std::mutex mutex;
  std::deque<std::shared_ptr<Entry>> ready;
  Timers timers;
};

ManualExecutor::ManualExecutor(FakeClock& clock) : clock_(clock), shared_(std::make_shared<Shared>()) {}

ManualExecutor::~ManualExecutor() {
  std::deque<std::shared_ptr<Shared::Entry>> ready;
  Shared::Timers timers;
  const std::lock_guard lock(shared_->mutex);
  ready.swap(shared_->ready);
  timers.swap(shared_->timers);
  for (auto& timer : timers) timer.second->waits = false;
}

void ManualExecutor::Post(Task task) {
  auto entry = std::make_shared<Shared::Entry>();
  entry->task = std::move(task);
  entry->waits = false;
  const std::lock_guard lock(shared_->mutex);
  shared_->ready.push_back(std::move(entry));
}

Timer ManualExecutor::After(std::chrono::nanoseconds delay, Task task) {
  const TimePoint now = clock_.SteadyNow();
  delay = std::clamp(delay, std::chrono::nanoseconds::zero(), TimePoint::max() - now);
  auto entry = std::make_shared<Shared::Entry>();
  entry->task = std::move(task);
  const std::lock_guard lock(shared_->mutex);
  entry->at = shared_->timers.emplace(now + delay, entry);
  return Timer([weak = std::weak_ptr(shared_), weak_entry = std::weak_ptr(entry)] {
    const auto shared = weak.lock();
    if (const auto waiting = weak_entry.lock(); shared && waiting) shared->Cancel(*waiting);
  });
}

bool ManualExecutor::RunsHere() const { return runner_.load() == std::this_thread::get_id(); }

std::size_t ManualExecutor::RunReady() {
  if (RunsHere()) Fail("RunReady or Advance called by a task");
  std::size_t ran = 0;
  while (true) {
    Task task;
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->CollectDue(clock_.SteadyNow());
      if (shared_->ready.empty()) return ran;
      task = std::exchange(shared_->ready.front()->task, nullptr);
      shared_->ready.pop_front();
    }
    if (!task) continue;  // cancelled after it fell due
    if (++ran > kEndless)
      Fail("a million tasks ran at one point in time; one of them must be posting itself again");
    struct Running {
      explicit Running(std::atomic<std::thread::id>& at) : runner(at) { runner = std::this_thread::get_id(); }
      ~Running() { runner = std::thread::id(); }
      std::atomic<std::thread::id>& runner;
    } running(runner_);
    task();
    task = nullptr;
  }
}

std::size_t ManualExecutor::Advance(std::chrono::nanoseconds by) {
  const TimePoint target = clock_.SteadyNow() + by;
  std::size_t ran = RunReady();
  while (true) {
    TimePoint next = target;
    {
      const std::lock_guard lock(shared_->mutex);
      if (!shared_->timers.empty()) next = std::min(next, shared_->timers.begin()->first);
    }
    const TimePoint now = clock_.SteadyNow();
    if (next > now) clock_.Advance(next - now);
    ran += RunReady();
    if (next >= target) return ran;
  }
}

std::size_t ManualExecutor::pending_posts() const {
  const std::lock_guard lock(shared_->mutex);
  return static_cast<std::size_t>(std::count_if(shared_->ready.begin(), shared_->ready.end(),
                                                [](const auto& entry) { return entry->task != nullptr; }));
}

std::size_t ManualExecutor::pending_timers() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->timers.size();
}

}  // namespace fairlead
