#ifndef FAIRLEAD_RPC_INVOKER_SET_H_
#define FAIRLEAD_RPC_INVOKER_SET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fairlead {

// A provider's place in an InvokerTable; stable while the provider lives, reused afterwards.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = 0xffffffffu;
// A provider's number; never reused within a Directory.
enum class ProviderId : std::uint64_t { kNone = 0 };

// A set of slots: a bitmap with its count. Plain value; not thread-safe to write. Set algebra is linear in
// capacity / 64; count() and Contains are constant. Trailing capacity does not count in ==.
class InvokerSet {
 public:
  InvokerSet() = default;
  explicit InvokerSet(std::size_t capacity) : words_((capacity + 63) / 64) {}

  bool Contains(Slot slot) const {
    return slot / 64 < words_.size() && (words_[slot / 64] >> (slot % 64) & 1) != 0;
  }
  void Add(Slot slot);     // grows as needed
  void Remove(Slot slot);
  std::size_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  // Slots below it fit without more memory. A set made with it holds any part of this one.
  std::size_t capacity() const { return words_.size() * 64; }

  // Whether a & b has anybody: stops at the first.
  bool Intersects(const InvokerSet& other) const;
  // How many a & b has.
  std::size_t CountCommon(const InvokerSet& other) const;
  // Becomes a & b, neither of which may be this set. Allocates nothing when this set was made with the capacity of
  // either.
  void AssignCommon(const InvokerSet& a, const InvokerSet& b);
  // The same of a and the union of several.
  void AssignCommon(const InvokerSet& a, std::span<const InvokerSet* const> any_of);
  // Takes in a - b. Allocates nothing when this set was made with the capacity of a.
  void AddDifference(const InvokerSet& a, const InvokerSet& b);
  // Keeps its memory.
  void Clear();

  InvokerSet& operator&=(const InvokerSet& other);
  InvokerSet& operator|=(const InvokerSet& other);
  InvokerSet& operator-=(const InvokerSet& other);
  friend InvokerSet operator&(InvokerSet a, const InvokerSet& b) { return a &= b; }
  friend InvokerSet operator|(InvokerSet a, const InvokerSet& b) { return a |= b; }
  friend InvokerSet operator-(InvokerSet a, const InvokerSet& b) { return a -= b; }
  friend bool operator==(const InvokerSet& a, const InvokerSet& b);
  std::uint64_t Hash() const;

  // Calls visit(Slot) in ascending order.
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(static_cast<Slot>(i * 64 + static_cast<unsigned>(__builtin_ctzll(word))));
      }
    }
  }
  // The k-th smallest member; kNoSlot when k >= count().
  Slot Nth(std::size_t k) const;

 private:
  void Recount();
  std::vector<std::uint64_t> words_;
  std::size_t count_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_INVOKER_SET_H_
