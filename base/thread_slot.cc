#include "fairlead/base/thread_slot.h"

#include <pthread.h>

#include <bit>
#include <mutex>
#include <vector>

namespace fairlead {
namespace internal {

constinit thread_local ThreadState thread_state;

namespace {

// A pthread key rather than a thread_local guard gives the slot back: key destructors run after the
// destructors of all thread_local objects, and they run again when a later one of them claims anew.
class SlotTable {
 public:
  // Never destroyed: threads may outlive the static objects.
  static SlotTable& Get() {
    static SlotTable* const table = new SlotTable;
    static const struct Unload {
      ~Unload() { table->StopRecycling(); }
    } unload;
    return *table;
  }

  std::uint32_t Claim() {
    const std::lock_guard lock(mutex_);
    std::size_t word = 0;
    while (word < taken_.size() && taken_[word] == ~std::uint64_t{0}) ++word;
    if (word == taken_.size()) taken_.push_back(0);
    const auto bit = static_cast<std::uint32_t>(std::countr_one(taken_[word]));
    taken_[word] |= std::uint64_t{1} << bit;
    const std::uint32_t slot = static_cast<std::uint32_t>(word) * 64 + bit;
    thread_state.slot_plus_one = slot + 1;
    thread_state.cell_offset = ThreadCell(slot).offset();
    // Any value but null makes the destructor run. Without a key (a process has 1 024) slots are not reused.
    if (has_key_) pthread_setspecific(key_, &thread_state);
    return slot;
  }

  // A module that is unloaded must not leave a pointer to its code with threads that live on.
  void StopRecycling() {
    const std::lock_guard lock(mutex_);
    if (has_key_) pthread_key_delete(key_);
    has_key_ = false;
  }

 private:
  SlotTable() {
    has_key_ = pthread_key_create(&key_, [](void*) { Get().Release(); }) == 0;
    pthread_atfork([] { Get().mutex_.lock(); }, [] { Get().mutex_.unlock(); }, [] { Get().InForkedChild(); });
  }

  void Release() {
    const std::lock_guard lock(mutex_);
    const std::uint32_t slot = thread_state.slot_plus_one - 1;
    thread_state = {};
    taken_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
  }

  void InForkedChild() {
    for (std::uint64_t& word : taken_) word = 0;
    if (const std::uint32_t own = thread_state.slot_plus_one; own != 0) {
      taken_[(own - 1) / 64] |= std::uint64_t{1} << (own - 1) % 64;
    }
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::vector<std::uint64_t> taken_;  // one bit a slot
  pthread_key_t key_;
  bool has_key_ = false;
};

}  // namespace

std::uint32_t ClaimThreadSlot() { return SlotTable::Get().Claim(); }

}  // namespace internal
}  // namespace fairlead
