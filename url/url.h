#ifndef FAIRLEAD_URL_URL_H_
#define FAIRLEAD_URL_URL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "fairlead/url/url_entry.h"
#include "fairlead/url/url_parts.h"

namespace fairlead {

class UrlPool;

enum class Category : std::uint8_t { kProviders, kConsumers, kConfigurators, kRouters };
inline constexpr int kCategoryCount = 4;
// "providers", "consumers", "configurators", "routers".
std::string_view CategoryName(Category category);
// The inverse; absent for any other text.
std::optional<Category> CategoryOf(std::string_view name);

namespace internal {
// The equality of urls, of two halves each; nullptr: the empty url.
bool SameUrl(const UrlOwn* a, const UrlCommon* a_common, const UrlOwn* b, const UrlCommon* b_common);
}  // namespace internal

// What a url says: the getters of Url and of CompactUrl. Self has own() and common_half(), nullptr when it is empty.
template <class Self>
class UrlGetters {
 public:
  // Everything the text said, `pid` and `timestamp` included, put together: a few allocations, so for code that edits
  // or compares whole urls. The getters below look it up where it is.
  UrlParts parts() const;
  // All but host, port, `pid` and `timestamp`: one object for all urls of a pool that agree in it. Valid while such a
  // url lives.
  const UrlParts& common() const;

  std::string_view protocol() const;
  std::string_view host() const;  // as written; IPv6 brackets and scope are kept
  std::string_view path() const;
  std::uint16_t port() const;           // 0 when absent or above 65535
  std::int32_t port_as_written() const;  // 0 when absent or below 0
  // A parameter's text; `fallback` when absent or empty. Valid while the url lives.
  std::string_view Param(std::string_view key, std::string_view fallback = {}) const;
  // As UrlParts::MethodParam.
  std::string_view MethodParam(std::string_view method, std::string_view key,
                               std::string_view fallback = {}) const;
  bool BoolParam(std::string_view key, bool fallback) const;                 // true is "true" in any case
  std::int64_t IntParam(std::string_view key, std::int64_t fallback) const;  // fallback when not a Java int
  std::int64_t timestamp_ms() const;                                         // 0 when absent or no number
  Category category() const;  // kProviders when absent or unknown
  std::string_view Application() const { return Param("application"); }

  std::string Address() const;                                         // host or host:port
  std::string ServiceKey() const { return common().ServiceKey(); }
  std::string ServiceInterface() const { return common().ServiceInterface(); }
  std::string ToIdentityString() const;                                // credentials, no parameters
  std::string ToString() const { return parts().ToString(); }          // never with the password
  std::string ToFullString() const { return parts().ToFullString(); }  // with it: for the registry only

  bool empty() const { return own() == nullptr; }
  template <class Other>
  bool operator==(const UrlGetters<Other>& other) const {
    return internal::SameUrl(own(), common_half(), other.own(), other.common_half());
  }
  // Consistent with ==.
  std::size_t Hash() const;

 protected:
  UrlGetters() = default;  // Self alone is made

 private:
  template <class>
  friend class UrlGetters;
  const internal::UrlOwn* own() const { return static_cast<const Self*>(this)->own(); }
  const internal::UrlCommon* common_half() const { return static_cast<const Self*>(this)->common_half(); }
};

// An immutable url, cheap to copy: two counted references, to what it has in common with its neighbours (see common())
// and to what is its own, host, port, `pid` and `timestamp`. Made by a UrlPool, which shares both.
//
// Equality is Dubbo's (order of parameters, escapes, `default.` keys, leading slashes and port 0 do not
// matter) except that `pid` and `timestamp`, as whole keys, never count. Within a pool it compares a pointer, the port
// and the host; urls of different pools compare all their canonical parts. Thread-safe: all methods are const.
class Url : public UrlGetters<Url> {
 public:
  Url() = default;  // the empty url: every getter gives an empty value

  // `text` may be decoded or percent-encoded (encoded when it holds `%3A%2F%2F` and no `://`).
  // kInvalidArgument names the text (without its password) and what was expected.
  static absl::StatusOr<Url> Parse(std::string_view text, UrlPool& pool);
  // Interns parts that code has built or edited.
  static Url Of(UrlParts parts, UrlPool& pool);
  // The same for edited parts of this url, with which it shares what they left as it was.
  Url Edited(UrlParts parts, UrlPool& pool) const;

  // Made from the very same text, or a copy of such a url: everything is equal, pid and timestamp too.
  bool Is(const Url& other) const { return own_ == other.own_ && common_ == other.common_; }

 private:
  friend class UrlPool;
  friend class CompactUrl;
  friend class UrlGetters<Url>;
  Url(internal::Counted<internal::UrlOwn> own, internal::Counted<internal::UrlCommon> common)
      : own_(std::move(own)), common_(std::move(common)) {}

  const internal::UrlOwn* own() const { return own_.get(); }
  const internal::UrlCommon* common_half() const { return common_.get(); }

  // Both or none.
  internal::Counted<internal::UrlOwn> own_;
  internal::Counted<internal::UrlCommon> common_;
};

// A Url in one reference instead of two, for long lists. A url that was edited has no such form: it is made, once, with
// an own half of its own.
class CompactUrl : public UrlGetters<CompactUrl> {
 public:
  CompactUrl() = default;
  CompactUrl(const Url& url);
  operator Url() const { return empty() ? Url() : Url(own_, own_->common()); }

  // As for Url.
  bool Is(const CompactUrl& other) const { return own_ == other.own_; }
  bool Is(const Url& other) const { return own_ == other.own_ && (empty() || own_->common() == other.common_); }

 private:
  friend class UrlGetters<CompactUrl>;
  const internal::UrlOwn* own() const { return own_.get(); }
  const internal::UrlCommon* common_half() const { return empty() ? nullptr : own_->common().get(); }

  internal::Counted<internal::UrlOwn> own_;
};

extern template class UrlGetters<Url>;
extern template class UrlGetters<CompactUrl>;

// Url::Address() for code that must not allocate: up to 64 bytes are held in place.
class AddressText {
 public:
  explicit AddressText(const Url& url);
  std::string_view text() const { return long_.empty() ? std::string_view(short_.data(), size_) : long_; }

 private:
  std::array<char, 64> short_;
  std::size_t size_ = 0;
  std::string long_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_URL_URL_H_
