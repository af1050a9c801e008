#ifndef FAIRLEAD_BASE_THREAD_SLOT_H_
#define FAIRLEAD_BASE_THREAD_SLOT_H_

#include <cstdint>

namespace fairlead {

// A small number for the calling thread: dense from 0, given at a thread's first use, reused after the thread
// ended. The only process-wide state of the library besides the read domain; it holds nothing of any
// Runtime. Thread-safe; a few instructions after the first call of a thread.
std::uint32_t ThreadSlot();

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_THREAD_SLOT_H_
