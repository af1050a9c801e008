#include "fairlead/directory/directory_core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/host_call.h"
#include "fairlead/base/read_domain.h"
#include "fairlead/base/strings.h"

namespace fairlead::internal {
namespace {

// How often a snapshot that a slow reader still holds is looked at again.
constexpr auto kPollPeriod = std::chrono::milliseconds(10);

}  // namespace

DirectoryCore::DirectoryCore(std::shared_ptr<Executor> executor, const Clock& clock, std::uint64_t seed,
                             Url consumer, absl::Status not_ready)
    : executor_(std::move(executor)), clock_(clock) {
  // Made here, not by a first pick, which may run on a thread beside one that forks.
  ReadDomain::Global();
  for (std::size_t i = 0; i < kThreadCells; ++i) cells_[i].state.store(Mix64(seed + i), std::memory_order_relaxed);
  current_.store(NothingYet(std::move(consumer), std::move(not_ready), clock.SteadyNow()).release(),
                 std::memory_order_release);
}

std::unique_ptr<DirectorySnapshot> DirectoryCore::NothingYet(Url consumer, absl::Status why, Clock::SteadyTime now) {
  auto snapshot = std::make_unique<DirectorySnapshot>();
  snapshot->status = std::move(why);
  snapshot->service = Shortened(consumer.ServiceKey());
  snapshot->consumer = consumer;
  snapshot->consumer_as_given = std::move(consumer);
  snapshot->built_at = now;
  return snapshot;
}

DirectoryCore::~DirectoryCore() { delete current_.load(std::memory_order_relaxed); }

DirectoryStats DirectoryCore::Stats() const {
  DirectoryStats stats;
  for (const Cell& cell : cells_) {
    stats.walked += cell.walked.load(std::memory_order_relaxed);
    stats.wishes_dropped += cell.wishes_dropped.load(std::memory_order_relaxed);
    stats.redrawn += cell.redrawn.load(std::memory_order_relaxed);
  }
  stats.plans_built = plans_built_.load(std::memory_order_relaxed);
  stats.plans_refused = plans_refused_.load(std::memory_order_relaxed);
  const ReadSection section;
  const DirectorySnapshot& now = Current();
  stats.providers = now.table->by_rank.size();
  stats.valid = now.valid.count();
  stats.scripts = now.scripts;
  stats.version = now.version;
  stats.age = clock_.SteadyNow() - now.built_at;
  if (const auto& held = now.protection) stats.protected_for = held->Age(clock_.SteadyNow());
  return stats;
}

MethodId DirectoryCore::Method(std::string_view name) {
  bool added = false;
  const MethodId id = methods_.Intern(name, added);
  if (added) {
    executor_->Post([this, alive = weak_from_this()] {
      const auto self = alive.lock();
      if (self != nullptr && on_new_method_) on_new_method_();
    });
  }
  return id;
}

void DirectoryCore::ClearProtection() {
  if (clear_queued_.exchange(true)) return;
  executor_->Post([this, alive = weak_from_this()] {
    const auto self = alive.lock();
    if (self == nullptr) return;
    clear_queued_ = false;
    if (on_clear_protection_) on_clear_protection_();
  });
}

void DirectoryCore::Publish(std::unique_ptr<DirectorySnapshot> snapshot,
                            const std::function<absl::AnyInvocable<void()>()>& swapped) {
  const bool closed = absl::IsCancelled(snapshot->status);
  Swap(std::move(snapshot), swapped);
  ready_ = true;
  for (auto& [id, waiter] : std::exchange(waiters_, {})) {
    executor_->Post([self = shared_from_this(), done = std::move(waiter.done), closed]() mutable {
      self->Answer(std::move(done), closed ? absl::CancelledError("the directory was closed") : absl::OkStatus());
    });
  }
}

void DirectoryCore::SetNotReady(absl::Status status) {
  if (ready_ || Mutable().status == status) return;
  Swap(NothingYet(Mutable().consumer_as_given, std::move(status), clock_.SteadyNow()), [] { return nullptr; });
}

void DirectoryCore::Swap(std::unique_ptr<DirectorySnapshot> snapshot,
                         const std::function<absl::AnyInvocable<void()>()>& swapped) {
  DirectorySnapshot* old = current_.exchange(snapshot.release(), std::memory_order_acq_rel);
  ReadDomain::Global().Retire([old, executor = executor_, unseen = swapped()]() mutable {
    delete old;
    // Another runtime's executor may be the one that polls.
    if (unseen) executor->Post(std::move(unseen));
  });
  if (ReadDomain::Global().Poll() > 0) PollLater();
}

void DirectoryCore::Answer(Directory::Done done, absl::Status status) const {
  CallHost([&] { done(std::move(status)); },
           [this](std::string_view text) {
             if (on_host_threw_) on_host_threw_(text);
           });
}

void DirectoryCore::PollLater() {
  poll_ = executor_->After(kPollPeriod, [this, alive = weak_from_this()] {
    const auto self = alive.lock();
    if (self != nullptr && ReadDomain::Global().Poll() > 0) PollLater();
  });
}

void DirectoryCore::AwaitReady(std::chrono::nanoseconds timeout, Directory::Done done) {
  if (done == nullptr) return;
  // An executor that has ended throws the task away; whoever waits is told all the same.
  struct Told {
    std::shared_ptr<DirectoryCore> core;
    Directory::Done done;
    ~Told() {
      if (done) core->Answer(std::move(done), absl::CancelledError("the runtime of the directory has ended"));
    }
  };
  auto told = std::make_unique<Told>();
  told->core = shared_from_this();
  told->done = std::move(done);
  timeout = std::max(timeout, std::chrono::nanoseconds::zero());
  executor_->Post([told = std::move(told), timeout]() mutable {
    const std::shared_ptr<DirectoryCore> self = told->core;
    Directory::Done waiting = std::exchange(told->done, nullptr);
    if (self->ready_) {
      self->Answer(std::move(waiting), absl::IsCancelled(self->Mutable().status) ? self->Mutable().status : absl::OkStatus());
      return;
    }
    const std::uint64_t id = self->next_waiter_++;
    Waiter& waiter = self->waiters_[id];
    waiter.done = std::move(waiting);
    waiter.timer = self->executor_->After(timeout, [raw = self.get(), alive = self->weak_from_this(), id, timeout] {
      const auto core = alive.lock();
      if (core == nullptr) return;
      const auto at = raw->waiters_.find(id);
      if (at == raw->waiters_.end()) return;
      Directory::Done late = std::move(at->second.done);
      raw->waiters_.erase(at);
      raw->Answer(std::move(late), absl::DeadlineExceededError(
          absl::StrCat("no list of ", raw->Mutable().service, " within ",
                       std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count(), " ms: ",
                       raw->Mutable().status.message())));
    });
  });
}

}  // namespace fairlead::internal
