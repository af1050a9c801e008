#include "fairlead/rpc/invoker_set.h"

#include <algorithm>

#include "fairlead/base/random.h"

namespace fairlead {

void InvokerSet::Add(Slot slot) {
  if (slot / 64 >= words_.size()) words_.resize(slot / 64 + 1);
  std::uint64_t& word = words_[slot / 64];
  const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
  count_ += (word & bit) == 0;
  word |= bit;
}

void InvokerSet::Remove(Slot slot) {
  if (!Contains(slot)) return;
  words_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  --count_;
}

void InvokerSet::Recount() {
  count_ = 0;
  for (const std::uint64_t word : words_) count_ += static_cast<std::size_t>(__builtin_popcountll(word));
}

InvokerSet& InvokerSet::operator&=(const InvokerSet& other) {
  if (words_.size() > other.words_.size()) words_.resize(other.words_.size());
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  Recount();
  return *this;
}

InvokerSet& InvokerSet::operator|=(const InvokerSet& other) {
  if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
  for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  Recount();
  return *this;
}

InvokerSet& InvokerSet::operator-=(const InvokerSet& other) {
  const std::size_t common = std::min(words_.size(), other.words_.size());
  for (std::size_t i = 0; i < common; ++i) words_[i] &= ~other.words_[i];
  Recount();
  return *this;
}

bool operator==(const InvokerSet& a, const InvokerSet& b) {
  if (a.count_ != b.count_) return false;
  // Equal counts and equal common words leave nothing for the longer tail.
  return std::equal(a.words_.begin(), a.words_.begin() + static_cast<std::ptrdiff_t>(std::min(a.words_.size(), b.words_.size())),
                    b.words_.begin());
}

std::uint64_t InvokerSet::Hash() const {
  std::uint64_t hash = count_;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] != 0) hash ^= Mix64(words_[i] + Mix64(i));
  }
  return hash;
}

Slot InvokerSet::Nth(std::size_t k) const {
  if (k >= count_) return kNoSlot;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const auto here = static_cast<std::size_t>(__builtin_popcountll(words_[i]));
    if (k >= here) {
      k -= here;
      continue;
    }
    std::uint64_t word = words_[i];
    for (; k > 0; --k) word &= word - 1;
    return static_cast<Slot>(i * 64 + static_cast<unsigned>(__builtin_ctzll(word)));
  }
  return kNoSlot;
}

}  // namespace fairlead
