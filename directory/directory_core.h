#ifndef FAIRLEAD_DIRECTORY_DIRECTORY_CORE_H_
#define FAIRLEAD_DIRECTORY_DIRECTORY_CORE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/clock.h"
#include "fairlead/base/executor.h"
#include "fairlead/base/random.h"
#include "fairlead/base/thread_slot.h"
#include "fairlead/directory/directory.h"
#include "fairlead/directory/method_table.h"
#include "fairlead/directory/snapshot.h"

namespace fairlead::internal {

// What Explain says beside the snapshot, because it changes without a list.
struct RegistryNotes {
  std::vector<std::string> skipped;  // children of the registry that cannot be read, parameters that nobody can read
  std::string state;                 // the registry's, one line
};

// What a directory's handle (picks, any thread) and its maker (updates, executor) share.
class DirectoryCore : public std::enable_shared_from_this<DirectoryCore> {
 public:
  // `not_ready` is what picks answer until the first Publish.
  DirectoryCore(std::shared_ptr<Executor> executor, const Clock& clock, std::uint64_t seed, Url consumer,
                absl::Status not_ready);
  ~DirectoryCore();

  // Data plane; inside a ReadSection.
  const DirectorySnapshot& Current() const { return *current_.load(std::memory_order_acquire); }
  const MethodTable& methods() const { return methods_; }
  // The calling thread's generator. Threads that share a cell may now and then repeat each other's draw.
  std::uint64_t LoadRandom(ThreadCell thread) const {
    return thread.In(cells_.data()).state.load(std::memory_order_relaxed);
  }
  void StoreRandom(ThreadCell thread, std::uint64_t state) const {
    thread.In(cells_.data()).state.store(state, std::memory_order_relaxed);
  }
  // For Explain only: locks. nullptr while there are none.
  std::shared_ptr<const RegistryNotes> notes() const {
    const std::lock_guard lock(notes_mutex_);
    return notes_;
  }
  // The plan is not built yet: the maker is told through its next tick. False when it cannot be told now.
  bool Want(const PlanKey& key) const { return wanted_.Offer(key); }
  // Counts what is rare enough to be counted.
  void CountWalk(std::uint32_t thread, bool wish_dropped) const {
    Cell& cell = ThreadCell(thread).In(cells_.data());
    cell.walked.fetch_add(1, std::memory_order_relaxed);
    if (wish_dropped) cell.wishes_dropped.fetch_add(1, std::memory_order_relaxed);
  }
  void CountRedraw(std::uint32_t thread) const {
    ThreadCell(thread).In(cells_.data()).redrawn.fetch_add(1, std::memory_order_relaxed);
  }
  // Any thread.
  DirectoryStats Stats() const;

  // Control plane, any thread.
  MethodId Method(std::string_view name);
  void AwaitReady(std::chrono::nanoseconds timeout, Directory::Done done);
  void ClearProtection();

  // Executor only. Replaces what picks see, then calls `swapped`; the task that `swapped` returns runs on the
  // executor once no pick can see the old snapshot. A last Publish with kCancelled closes the directory.
  void Publish(std::unique_ptr<DirectorySnapshot> snapshot,
               const std::function<absl::AnyInvocable<void()>()>& swapped);
  // Before the first Publish: what picks answer instead of the constructor's `not_ready`.
  void SetNotReady(absl::Status status);
  void SetNotes(std::shared_ptr<const RegistryNotes> notes) {
    const std::lock_guard lock(notes_mutex_);
    notes_ = std::move(notes);
  }
  DirectorySnapshot& Mutable() { return *current_.load(std::memory_order_relaxed); }
  std::vector<PlanKey> TakeWanted() { return wanted_.Take(); }
  void CountPlans(std::size_t built, std::size_t refused) {
    plans_built_.fetch_add(built, std::memory_order_relaxed);
    plans_refused_.fetch_add(refused, std::memory_order_relaxed);
  }
  // Called on the executor when a callback of the host threw.
  void OnHostThrew(std::function<void(std::string_view text)> call) { on_host_threw_ = std::move(call); }
  // Called on the executor when the host ends empty protection.
  void OnClearProtection(std::function<void()> call) { on_clear_protection_ = std::move(call); }
  // Called on the executor when a method name is new.
  void OnNewMethod(std::function<void()> call) { on_new_method_ = std::move(call); }

  const std::shared_ptr<Executor>& executor() const { return executor_; }
  const Clock& clock() const { return clock_; }

 private:
  struct alignas(64) Cell {
    std::atomic<std::uint64_t> state;
    std::atomic<std::uint64_t> walked{0}, wishes_dropped{0}, redrawn{0};
  };
  struct Waiter {
    Directory::Done done;
    Timer timer;
  };

  static std::unique_ptr<DirectorySnapshot> NothingYet(Url consumer, absl::Status why, Clock::SteadyTime now);
  void Swap(std::unique_ptr<DirectorySnapshot> snapshot, const std::function<absl::AnyInvocable<void()>()>& swapped);
  void PollLater();
  void Answer(Directory::Done done, absl::Status status) const;

  std::atomic<DirectorySnapshot*> current_;
  mutable std::array<Cell, kThreadCells> cells_;
  mutable WantedPlans wanted_;
  std::atomic<std::uint64_t> plans_built_{0}, plans_refused_{0};
  std::atomic<bool> clear_queued_{false};  // a task that clears the protection
  MethodTable methods_;
  const std::shared_ptr<Executor> executor_;
  const Clock& clock_;

  // Executor only.
  std::function<void()> on_new_method_, on_clear_protection_;
  std::function<void(std::string_view)> on_host_threw_;
  std::map<std::uint64_t, Waiter> waiters_;
  std::uint64_t next_waiter_ = 0;
  bool ready_ = false;
  Timer poll_;

  mutable std::mutex notes_mutex_;
  std::shared_ptr<const RegistryNotes> notes_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_DIRECTORY_CORE_H_
