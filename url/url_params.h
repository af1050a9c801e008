#ifndef FAIRLEAD_URL_URL_PARAMS_H_
#define FAIRLEAD_URL_URL_PARAMS_H_

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {

// The parameters of a url: a map from key to value, sorted by bytes of the key, with the interface of a
// std::map as far as urls need it. Copies share their content until one of them is written, so a copy costs
// two counted references at most; the urls of one service share the parameters they have in common.
//
// Find: logarithmic. Insert and erase: linear in the number of parameters; From builds n of them in n log n.
// Iterators give const pairs and are invalidated by every write. Reading is thread-safe, also of objects that
// share content.
class UrlParams {
 public:
  using value_type = std::pair<std::string, std::string>;
  class const_iterator;
  using iterator = const_iterator;

  UrlParams() = default;
  // The first of equal keys wins, as for a std::map.
  UrlParams(std::initializer_list<value_type> items);
  // Of equal keys the last wins, as when each was assigned in turn.
  static UrlParams From(std::vector<value_type> items);

  // These and `own`, whose keys are sorted and not among these. The content of both is shared from then on but for `own`.
  // REQUIRES: these come from From or from a write.
  UrlParams Joined(std::vector<value_type> own) const;

  const_iterator begin() const;
  const_iterator end() const;
  std::size_t size() const { return shared_size() + own_.size(); }
  bool empty() const { return size() == 0; }

  const_iterator find(std::string_view key) const;
  bool contains(std::string_view key) const { return Find(key) != nullptr; }
  std::size_t count(std::string_view key) const { return contains(key) ? 1 : 0; }
  // nullptr when absent. Valid until the next write.
  const std::string* Find(std::string_view key) const;
  // The value of `method` + '.' + `key`, without building that text.
  const std::string* Find(std::string_view method, std::string_view key) const;

  // Inserts an empty value when absent.
  std::string& operator[](std::string_view key);
  void insert_or_assign(std::string_view key, std::string_view value);
  // False when the key was there; its value then stays.
  bool emplace(std::string_view key, std::string_view value);
  std::size_t erase(std::string_view key);
  const_iterator erase(const_iterator at);
  void clear();
  // Every parameter of `over` assigned, as by insert_or_assign. Linear.
  void Overlay(const UrlParams& over);
  // Erases where `predicate(key, value)`. Linear.
  template <class Predicate>
  void EraseIf(Predicate predicate);

  friend bool operator==(const UrlParams& a, const UrlParams& b);

 private:
  using Items = std::vector<value_type>;

  std::size_t shared_size() const { return shared_ == nullptr ? 0 : shared_->size(); }
  Items& Writable();

  // Disjoint keys, each sorted. `own_` is what an interned url does not share with its neighbours.
  std::shared_ptr<Items> shared_;
  Items own_;
};

class UrlParams::const_iterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = UrlParams::value_type;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = const value_type&;

  const_iterator() = default;
  reference operator*() const { return InOwn() ? *own_ : *shared_; }
  pointer operator->() const { return &**this; }
  const_iterator& operator++() {
    ++(InOwn() ? own_ : shared_);
    return *this;
  }
  const_iterator operator++(int) {
    const_iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const const_iterator& a, const const_iterator& b) {
    return a.shared_ == b.shared_ && a.own_ == b.own_;
  }

 private:
  friend class UrlParams;
  const_iterator(pointer shared, pointer shared_end, pointer own, pointer own_end)
      : shared_(shared), shared_end_(shared_end), own_(own), own_end_(own_end) {}
  bool InOwn() const {
    if (own_ == own_end_) return false;
    return shared_ == shared_end_ || own_->first < shared_->first;
  }

  pointer shared_ = nullptr;
  pointer shared_end_ = nullptr;
  pointer own_ = nullptr;
  pointer own_end_ = nullptr;
};

template <class Predicate>
void UrlParams::EraseIf(Predicate predicate) {
  bool any = false;
  for (const value_type& item : *this) {
    if (predicate(std::string_view(item.first), std::string_view(item.second))) {
      any = true;
      break;
    }
  }
  if (any) {
    std::erase_if(Writable(), [&](const value_type& item) {
      return predicate(std::string_view(item.first), std::string_view(item.second));
    });
  }
}

}  // namespace fairlead

#endif  // FAIRLEAD_URL_URL_PARAMS_H_
