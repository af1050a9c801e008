#ifndef FAIRLEAD_DIRECTORY_METHOD_TABLE_H_
#define FAIRLEAD_DIRECTORY_METHOD_TABLE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fairlead/base/strings.h"
#include "fairlead/rpc/invocation.h"

namespace fairlead::internal {

// Method names and their numbers, append only. Intern takes a mutex; Name and size are lock-free and may run in
// a pick. Thread-safe.
class MethodTable {
 public:
  static constexpr std::size_t kMost = 4096;

  // kAny for an empty name and once kMost names are known; `added` tells whether the name is new.
  MethodId Intern(std::string_view name, bool& added) {
    added = false;
    const std::lock_guard lock(mutex_);
    const auto known = ids_.find(name);
    if (known != ids_.end()) return known->second;
    const std::uint32_t next = size_.load(std::memory_order_relaxed);
    if (name.empty() || next > kMost) return MethodId::kAny;
    const auto id = static_cast<MethodId>(next);
    const auto stored = ids_.emplace(std::string(name), id).first;
    std::unique_ptr<Block>& block = blocks_[next / kBlock];
    if (block == nullptr) {
      block = std::make_unique<Block>();
      names_[next / kBlock].store(block.get(), std::memory_order_release);
    }
    (*block)[next % kBlock].store(&stored->first, std::memory_order_release);
    size_.store(next + 1, std::memory_order_release);
    added = true;
    return id;
  }
  // "" for kAny.
  std::string_view Name(MethodId id) const {
    const auto index = static_cast<std::size_t>(id);
    if (index == 0 || index > kMost) return {};
    const Block* block = names_[index / kBlock].load(std::memory_order_acquire);
    const std::string* name = block == nullptr ? nullptr : (*block)[index % kBlock].load(std::memory_order_acquire);
    return name == nullptr ? std::string_view() : std::string_view(*name);
  }
  // Names known, kAny included.
  std::size_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  // Most services have a few methods; room for kMost at once would be 32 KB a directory.
  static constexpr std::size_t kBlock = 128;
  using Block = std::array<std::atomic<const std::string*>, kBlock>;

  std::mutex mutex_;
  // Keys of an unordered_map never move, so names_ can point at them.
  std::unordered_map<std::string, MethodId, StringHash, std::equal_to<>> ids_;
  std::array<std::unique_ptr<Block>, kMost / kBlock + 1> blocks_;
  std::array<std::atomic<const Block*>, kMost / kBlock + 1> names_{};  // the same, for picks
  std::atomic<std::uint32_t> size_{1};
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_METHOD_TABLE_H_
