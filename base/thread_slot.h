#ifndef FAIRLEAD_BASE_THREAD_SLOT_H_
#define FAIRLEAD_BASE_THREAD_SLOT_H_

#include <cstddef>
#include <cstdint>

namespace fairlead {

namespace internal {

struct Reader;

// What the library knows of the calling thread. All zero, hence without a constructor or a destructor: it can
// be used before and after any other thread_local object of the thread.
struct ThreadState {
  std::uint32_t slot_plus_one = 0;
  std::uint32_t cell_offset = 0;  // ThreadCell's
  Reader* reader = nullptr;  // owned by the read domain; forgotten when the slot is given back
};
// Initial-exec: its address is an offset known at load time, so that reading it is no call, not even in a shared
// library. A library that is loaded with dlopen takes these 16 bytes from the reserve that the C library keeps.
extern constinit thread_local ThreadState thread_state [[gnu::tls_model("initial-exec")]];

std::uint32_t ClaimThreadSlot();

}  // namespace internal

// A small number for the calling thread: dense from 0 (always the smallest free one), given at a thread's
// first use, reused after the thread ended. No two threads that live at one time share a number. Works in
// destructors of thread_local objects and, after fork, in the child, where the numbers of all other threads
// are free again. The only process-wide state of the library besides the read domain; it holds nothing of any
// Runtime. Thread-safe; a few instructions after the first call of a thread, which locks and may allocate.
inline std::uint32_t ThreadSlot() {
  const std::uint32_t known = internal::thread_state.slot_plus_one;
  return known != 0 ? known - 1 : internal::ClaimThreadSlot();
}

// The same where the thread is known to have a number, as in a ReadSection: without a branch.
inline std::uint32_t ThreadSlotInSection() { return internal::thread_state.slot_plus_one - 1; }

// Which of an array of kThreadCells cache lines is a thread's own: that of its number modulo kThreadCells. Threads whose
// numbers agree there share a cell.
inline constexpr std::size_t kThreadCells = 64;
class ThreadCell {
 public:
  explicit ThreadCell(std::uint32_t slot) : offset_(slot % kThreadCells * kLine) {}
  // Of the calling thread. REQUIRES: it has a number, as in a ReadSection.
  static ThreadCell Own() {
    ThreadCell own(0);
    own.offset_ = internal::thread_state.cell_offset;
    return own;
  }
  std::uint32_t offset() const { return offset_; }
  // The cell of `cells`, which are kThreadCells. What waits for it is a pick, so it is found by one addition.
  template <class Cell>
  Cell& In(Cell* cells) const {
    static_assert(sizeof(Cell) == kLine);
    return *reinterpret_cast<Cell*>(reinterpret_cast<std::uintptr_t>(cells) + offset_);
  }

 private:
  static constexpr std::uint32_t kLine = 64;
  std::uint32_t offset_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_THREAD_SLOT_H_
