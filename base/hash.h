#ifndef FAIRLEAD_BASE_HASH_H_
#define FAIRLEAD_BASE_HASH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "fairlead/base/random.h"

namespace fairlead {

// A stable, fast, unkeyed hash of bytes, the same in every process and version of one machine type. For
// in-memory tables; never for anything a peer computes too (rings use MD5). Linear in the text.
inline std::uint64_t HashBytes(std::string_view text, std::uint64_t seed = 0) {
  std::uint64_t hash = seed ^ Mix64(text.size());
  const char* at = text.data();
  std::size_t left = text.size();
  while (left >= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    const auto product = static_cast<internal::Uint128>(hash ^ word) * 0x9e3779b97f4a7c15u;
    hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    at += 8;
    left -= 8;
  }
  std::uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, at, left);
  return Mix64(hash ^ tail);
}

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_HASH_H_
