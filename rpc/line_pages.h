#ifndef FAIRLEAD_RPC_LINE_PAGES_H_
#define FAIRLEAD_RPC_LINE_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace fairlead::internal {

// Memory for objects of one cache line each. An allocator that is asked for 64 aligned bytes spends 80 to 112 on them;
// here they stand side by side in pages of 64. A page that nobody uses any more is freed at once, and lines are taken
// from the page with the lowest address, so that others empty.
//
// Thread-safe (a mutex; picks never come here). Take and Give are logarithmic in pages.
class LinePages {
 public:
  static constexpr std::size_t kLine = 64;

  LinePages() = default;
  LinePages(const LinePages&) = delete;
  LinePages& operator=(const LinePages&) = delete;

  // Never destroyed: what is in it may be given back by any thread, however late.
  static LinePages& Global();

  // kLine bytes, aligned to as many.
  void* Take();
  // REQUIRES: from Take of these pages, and not given back yet.
  void Give(void* line);

  std::size_t pages() const;

 private:
  static constexpr std::size_t kLines = 64;

  mutable std::mutex mutex_;
  std::map<std::byte*, std::uint64_t, std::less<>> used_;  // by the page's first byte: a bit for each line
  std::set<std::byte*, std::less<>> with_room_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_RPC_LINE_PAGES_H_
