#include "fairlead/bench/count_memory.h"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

constinit thread_local std::int64_t live_bytes = 0;

void* Counted(void* memory) {
  if (memory != nullptr) live_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
void* OrThrow(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return Counted(memory);
}
void Free(void* memory) {
  if (memory == nullptr) return;
  live_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void* Aligned(std::size_t size, std::align_val_t align) {
  const auto to = static_cast<std::size_t>(align);
  return std::aligned_alloc(to, (size + to - 1) / to * to);
}

}  // namespace

// Not inlined, or the compiler sees free() meet memory of operator new and warns.
[[gnu::noinline]] void* operator new(std::size_t size) { return OrThrow(std::malloc(size)); }
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return Counted(std::malloc(size)); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t align) { return OrThrow(Aligned(size, align)); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { Free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { Free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { Free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { Free(memory); }

namespace fairlead::bench {

std::int64_t LiveBytes() { return live_bytes; }

}  // namespace fairlead::bench
