#include "fairlead/tests/purity/interposed.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

// The C library's own entries, which stand whatever is interposed.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

// Constant-initialised: the loader allocates before anything else of this program runs.
constinit std::atomic<std::uint64_t> allocations{0}, locks{0};

template <class Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Counts, then does what the C library does. Resolved at the first call, long before any test.
template <class Lock>
int CountedLock(std::atomic<int (*)(Lock*)>& real, const char* name, Lock* lock) {
  locks.fetch_add(1, std::memory_order_relaxed);
  auto* function = real.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = Next<int (*)(Lock*)>(name);
    real.store(function, std::memory_order_relaxed);
  }
  return function(lock);
}

}  // namespace

#define FAIRLEAD_COUNTED_LOCK(name, type)                 \
  extern "C" __attribute__((visibility("default"))) int name(type* lock) { \
    static constinit std::atomic<int (*)(type*)> real{nullptr};            \
    return CountedLock(real, #name, lock);                                 \
  }
FAIRLEAD_COUNTED_LOCK(pthread_mutex_lock, pthread_mutex_t)
FAIRLEAD_COUNTED_LOCK(pthread_mutex_trylock, pthread_mutex_t)
FAIRLEAD_COUNTED_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
FAIRLEAD_COUNTED_LOCK(pthread_rwlock_tryrdlock, pthread_rwlock_t)
FAIRLEAD_COUNTED_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
FAIRLEAD_COUNTED_LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t)
#undef FAIRLEAD_COUNTED_LOCK

#define FAIRLEAD_EXPORT extern "C" __attribute__((visibility("default")))

// pthread_spinlock_t is volatile int.
FAIRLEAD_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  locks.fetch_add(1, std::memory_order_relaxed);
  return Next<int (*)(pthread_spinlock_t*)>("pthread_spin_lock")(lock);
}

FAIRLEAD_EXPORT void* malloc(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
FAIRLEAD_EXPORT void* calloc(std::size_t count, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
FAIRLEAD_EXPORT void* realloc(void* block, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(block, size);
}
FAIRLEAD_EXPORT void* memalign(std::size_t alignment, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}
FAIRLEAD_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }
FAIRLEAD_EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
FAIRLEAD_EXPORT void free(void* block) {
  if (block != nullptr) allocations.fetch_add(1, std::memory_order_relaxed);
  __libc_free(block);
}

namespace fairlead {

std::uint64_t Allocations() { return allocations.load(std::memory_order_relaxed); }
std::uint64_t Locks() { return locks.load(std::memory_order_relaxed); }

}  // namespace fairlead
