#include "fairlead/rpc/invoker_set.h"

#include <algorithm>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

// Ones of each four bits. The compiler's own count is a call on machines that may lack the instruction.
constexpr std::uint64_t NibbleCounts(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555u;
  return (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
}
constexpr std::uint64_t ByteCounts(std::uint64_t nibbles) {
  return (nibbles & 0x0f0f0f0f0f0f0f0fu) + (nibbles >> 4 & 0x0f0f0f0f0f0f0f0fu);
}
constexpr std::size_t SumOfBytes(std::uint64_t bytes) {
  const std::uint64_t pairs = (bytes & 0x00ff00ff00ff00ffu) + (bytes >> 8 & 0x00ff00ff00ff00ffu);
  return static_cast<std::size_t>(pairs * 0x0001000100010001u >> 48);
}

constexpr std::size_t CountOf(std::uint64_t word) { return SumOfBytes(ByteCounts(NibbleCounts(word))); }

// `word(i)` gives each word, once.
template <class Word>
std::size_t CountOf(std::size_t size, Word word) {
  std::size_t count = 0, i = 0;
  while (size - i >= 3) {
    // Three words count up to 12 in four bits, and ten times that up to 240 in a byte.
    std::uint64_t bytes = 0;
    for (const std::size_t end = i + std::min<std::size_t>((size - i) / 3 * 3, 30); i < end; i += 3) {
      bytes += ByteCounts(NibbleCounts(word(i)) + NibbleCounts(word(i + 1)) + NibbleCounts(word(i + 2)));
    }
    count += SumOfBytes(bytes);
  }
  for (; i < size; ++i) count += CountOf(word(i));
  return count;
}

}  // namespace

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
  count_ = CountOf(words_.size(), [words = words_.data()](std::size_t i) { return words[i]; });
}

bool InvokerSet::Intersects(const InvokerSet& other) const {
  const std::size_t common = std::min(words_.size(), other.words_.size());
  for (std::size_t i = 0; i < common; ++i) {
    if ((words_[i] & other.words_[i]) != 0) return true;
  }
  return false;
}

std::size_t InvokerSet::CountCommon(const InvokerSet& other) const {
  return CountOf(std::min(words_.size(), other.words_.size()),
                 [a = words_.data(), b = other.words_.data()](std::size_t i) { return a[i] & b[i]; });
}

void InvokerSet::AssignCommon(const InvokerSet& a, const InvokerSet& b) {
  words_.resize(std::min(a.words_.size(), b.words_.size()));
  std::uint64_t* const to = words_.data();
  count_ = CountOf(words_.size(), [to, from_a = a.words_.data(), from_b = b.words_.data()](std::size_t i) {
    return to[i] = from_a[i] & from_b[i];
  });
}

void InvokerSet::AssignCommon(const InvokerSet& a, std::span<const InvokerSet* const> any_of) {
  words_.assign(a.words_.size(), 0);
  for (const InvokerSet* set : any_of) {
    const std::size_t common = std::min(words_.size(), set->words_.size());
    for (std::size_t i = 0; i < common; ++i) words_[i] |= a.words_[i] & set->words_[i];
  }
  Recount();
}

void InvokerSet::AddDifference(const InvokerSet& a, const InvokerSet& b) {
  if (words_.size() < a.words_.size()) words_.resize(a.words_.size());
  const std::size_t common = std::min(a.words_.size(), b.words_.size());
  for (std::size_t i = 0; i < common; ++i) words_[i] |= a.words_[i] & ~b.words_[i];
  for (std::size_t i = common; i < a.words_.size(); ++i) words_[i] |= a.words_[i];
  Recount();
}

void InvokerSet::Clear() {
  words_.clear();
  count_ = 0;
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
    const std::size_t here = CountOf(words_[i]);
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
