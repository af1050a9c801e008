#include "fairlead/rpc/line_pages.h"

#include <bit>
#include <iterator>
#include <new>

#if __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(begin, size) ((void)(begin), (void)(size))
#endif

namespace fairlead::internal {
namespace {

constexpr std::uint64_t kFull = ~std::uint64_t{0};

}  // namespace

LinePages& LinePages::Global() {
  static LinePages& pages = *new LinePages;
  return pages;
}

void* LinePages::Take() {
  const std::lock_guard lock(mutex_);
  if (with_room_.empty()) {
    auto* const page = static_cast<std::byte*>(::operator new(kLines * kLine, std::align_val_t(kLine)));
    ASAN_POISON_MEMORY_REGION(page, kLines * kLine);
    used_.emplace(page, 0);
    with_room_.insert(page);
  }
  std::byte* const page = *with_room_.begin();
  std::uint64_t& used = used_.find(page)->second;
  const auto line = static_cast<std::size_t>(std::countr_one(used));
  used |= std::uint64_t{1} << line;
  if (used == kFull) with_room_.erase(page);
  ASAN_UNPOISON_MEMORY_REGION(page + line * kLine, kLine);
  return page + line * kLine;
}

void LinePages::Give(void* line) {
  const std::lock_guard lock(mutex_);
  auto* const at = static_cast<std::byte*>(line);
  const auto found = std::prev(used_.upper_bound(at));
  auto& [page, used] = *found;
  if (used == kFull) with_room_.insert(page);
  used &= ~(std::uint64_t{1} << static_cast<std::size_t>(at - page) / kLine);
  // What still points here is found, as it would be in memory of an own allocation.
  ASAN_POISON_MEMORY_REGION(at, kLine);
  if (used != 0) return;
  with_room_.erase(page);
  ASAN_UNPOISON_MEMORY_REGION(page, kLines * kLine);
  ::operator delete(page, std::align_val_t(kLine));
  used_.erase(found);
}

std::size_t LinePages::pages() const {
  const std::lock_guard lock(mutex_);
  return used_.size();
}

}  // namespace fairlead::internal
