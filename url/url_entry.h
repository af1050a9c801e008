#ifndef FAIRLEAD_URL_URL_ENTRY_H_
#define FAIRLEAD_URL_URL_ENTRY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "fairlead/url/url_parts.h"

// The two halves of a Url. Both are immutable and counted.
namespace fairlead::internal {

// A counted reference, one pointer wide: a provider is referred to from many lists. T has a mutable member `refs` and a
// static Delete.
template <class T>
class Counted {
 public:
  Counted() = default;
  explicit Counted(const T* object) : object_(object) {
    if (object_ != nullptr) object_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Counted(const Counted& other) : Counted(other.object_) {}
  Counted(Counted&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Counted& operator=(Counted other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Counted() {
    if (object_ != nullptr && object_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) T::Delete(object_);
  }

  const T* get() const { return object_; }
  const T& operator*() const { return *object_; }
  const T* operator->() const { return object_; }
  // Nobody else holds it; stays so while nobody else can come by a reference.
  bool alone() const { return object_->refs.load(std::memory_order_acquire) == 1; }
  friend bool operator==(const Counted& a, const Counted& b) { return a.object_ == b.object_; }

 private:
  const T* object_ = nullptr;
};

// What the urls of a service mostly have in common: everything but host, port, `pid` and `timestamp`, which are absent
// in `parts`. One per content within a pool.
struct UrlCommon {
  static void Delete(const UrlCommon* common) { delete common; }

  UrlParts parts;
  std::uint64_t hash = 0;
  mutable std::atomic<std::uint32_t> refs{0};
};

// A 96-bit fingerprint of a text: two hashes of it with seeds that are drawn for each pool.
struct Fingerprint {
  std::uint64_t high = 0;
  std::uint32_t low = 0;
  bool operator==(const Fingerprint&) const = default;
};

// What a url has of its own. One allocation, because there is one per provider: the texts stand behind the numbers,
// each with its size in front.
class UrlOwn {
 public:
  struct Texts {
    std::optional<std::string_view> host, timestamp, pid;
    bool operator==(const Texts&) const = default;
  };
  // `common`: of the url that it is made for; others that have it may have another. `print`: of the text that it is a
  // pool's entry for, if it is one.
  static Counted<UrlOwn> Create(const Texts& texts, std::int32_t port, Fingerprint print, Counted<UrlCommon> common);
  static void Delete(const UrlOwn* own);

  std::int32_t port() const { return port_; }
  // Absent is not empty.
  std::optional<std::string_view> host() const { return Next(texts()).first; }
  std::optional<std::string_view> timestamp() const { return Next(Next(texts()).second).first; }
  std::optional<std::string_view> pid() const { return Next(Next(Next(texts()).second).second).first; }
  Texts all() const { return {host(), timestamp(), pid()}; }

  Fingerprint print() const { return {print_high_, print_low_}; }
  const Counted<UrlCommon>& common() const { return common_; }

 private:
  using Text = std::pair<std::optional<std::string_view>, const char*>;

  UrlOwn(std::int32_t port, Fingerprint print, Counted<UrlCommon> common)
      : print_high_(print.high), common_(std::move(common)), print_low_(print.low), port_(port) {}
  ~UrlOwn() = default;

  const char* texts() const { return reinterpret_cast<const char*>(&port_) + sizeof port_; }
  // The text that begins at `at`, and where it ends.
  static Text Next(const char* at);

  const std::uint64_t print_high_;
  const Counted<UrlCommon> common_;
  const std::uint32_t print_low_;

 public:
  mutable std::atomic<std::uint32_t> refs{0};

 private:
  const std::int32_t port_;  // the last: the texts follow
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_URL_URL_ENTRY_H_
