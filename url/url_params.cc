#include "fairlead/url/url_params.h"

#include <algorithm>

namespace fairlead {
namespace {

using Item = UrlParams::value_type;

bool KeyBefore(const Item& item, std::string_view key) { return item.first < key; }

// The key `method` + '.' + `key`, compared in place.
struct MethodKey {
  std::string_view method, key;

  int CompareTo(std::string_view text) const {
    if (const int by_method = method.compare(text.substr(0, method.size())); by_method != 0) return by_method;
    text.remove_prefix(method.size());
    if (text.empty()) return 1;
    if (text.front() != '.')
      return static_cast<unsigned char>('.') < static_cast<unsigned char>(text.front()) ? -1 : 1;
    return key.compare(text.substr(1));
  }
};

bool MethodKeyBefore(const Item& item, const MethodKey& key) { return key.CompareTo(item.first) > 0; }

template <class Range>
auto LowerBound(Range& items, std::string_view key) {
  return std::lower_bound(items.begin(), items.end(), key, KeyBefore);
}

const std::string* FindIn(const std::vector<Item>& items, std::string_view key) {
  const auto at = LowerBound(items, key);
  return at != items.end() && at->first == key ? &at->second : nullptr;
}

const std::string* FindIn(const std::vector<Item>& items, const MethodKey& key) {
  const auto at = std::lower_bound(items.begin(), items.end(), key, MethodKeyBefore);
  return at != items.end() && key.CompareTo(at->first) == 0 ? &at->second : nullptr;
}

}  // namespace

UrlParams::UrlParams(std::initializer_list<value_type> items) {
  Items reversed(std::make_reverse_iterator(items.end()), std::make_reverse_iterator(items.begin()));
  *this = From(std::move(reversed));
}

UrlParams UrlParams::From(std::vector<value_type> items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.first < b.first; });
  // std::unique keeps the first of a run; the last one is wanted.
  auto out = items.begin();
  for (auto at = items.begin(); at != items.end(); ++at) {
    const auto next = at + 1;
    if (next != items.end() && next->first == at->first) continue;
    if (out != at) *out = std::move(*at);
    ++out;
  }
  items.erase(out, items.end());
  UrlParams params;
  if (!items.empty()) params.shared_ = std::make_shared<Items>(std::move(items));
  return params;
}

UrlParams UrlParams::Joined(std::vector<value_type> own) const {
  UrlParams joined = *this;
  joined.own_ = std::move(own);
  return joined;
}

UrlParams::const_iterator UrlParams::begin() const {
  const value_type* shared = shared_ == nullptr ? nullptr : shared_->data();
  return {shared, shared + shared_size(), own_.data(), own_.data() + own_.size()};
}

UrlParams::const_iterator UrlParams::end() const {
  const value_type* shared_end = shared_ == nullptr ? nullptr : shared_->data() + shared_->size();
  const value_type* own_end = own_.data() + own_.size();
  return {shared_end, shared_end, own_end, own_end};
}

UrlParams::const_iterator UrlParams::find(std::string_view key) const {
  const_iterator at = begin();
  if (shared_ != nullptr) at.shared_ += LowerBound(*shared_, key) - shared_->begin();
  at.own_ += LowerBound(own_, key) - own_.begin();
  return at != end() && at->first == key ? at : end();
}

const std::string* UrlParams::Find(std::string_view key) const {
  if (shared_ != nullptr) {
    if (const std::string* value = FindIn(*shared_, key)) return value;
  }
  return own_.empty() ? nullptr : FindIn(own_, key);
}

const std::string* UrlParams::Find(std::string_view method, std::string_view key) const {
  const MethodKey whole{method, key};
  if (shared_ != nullptr) {
    if (const std::string* value = FindIn(*shared_, whole)) return value;
  }
  return own_.empty() ? nullptr : FindIn(own_, whole);
}

UrlParams::Items& UrlParams::Writable() {
  // A count of one means that nobody else can reach the content: only this object could hand it out.
  if (own_.empty() && shared_ != nullptr && shared_.use_count() == 1) return *shared_;
  auto flat = std::make_shared<Items>(begin(), end());
  own_.clear();
  shared_ = std::move(flat);
  return *shared_;
}

std::string& UrlParams::operator[](std::string_view key) {
  Items& items = Writable();
  auto at = LowerBound(items, key);
  if (at == items.end() || at->first != key) at = items.emplace(at, std::string(key), std::string());
  return at->second;
}

void UrlParams::insert_or_assign(std::string_view key, std::string_view value) {
  const std::string copy(value);  // `value` may be a view of what Writable replaces
  const std::string key_copy(key);
  (*this)[key_copy] = copy;
}

bool UrlParams::emplace(std::string_view key, std::string_view value) {
  if (contains(key)) return false;
  insert_or_assign(key, value);
  return true;
}

std::size_t UrlParams::erase(std::string_view key) {
  if (!contains(key)) return 0;
  const std::string copy(key);
  Items& items = Writable();
  items.erase(LowerBound(items, copy));
  return 1;
}

UrlParams::const_iterator UrlParams::erase(const_iterator at) {
  const std::string key = at->first;
  Items& items = Writable();
  const auto next = items.erase(LowerBound(items, key));
  const value_type* end = items.data() + items.size();
  return {items.data() + (next - items.begin()), end, own_.data(), own_.data()};
}

void UrlParams::clear() {
  shared_.reset();
  own_.clear();
}

void UrlParams::Overlay(const UrlParams& over) {
  if (over.empty()) return;
  auto merged = std::make_shared<Items>();
  merged->reserve(size() + over.size());
  const_iterator below = begin();
  for (const value_type& item : over) {
    while (below != end() && below->first < item.first) merged->push_back(*below++);
    if (below != end() && below->first == item.first) ++below;
    merged->push_back(item);
  }
  merged->insert(merged->end(), below, end());
  own_.clear();
  shared_ = std::move(merged);
}

bool operator==(const UrlParams& a, const UrlParams& b) {
  if (a.shared_ == b.shared_ && a.own_ == b.own_) return true;
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace fairlead
