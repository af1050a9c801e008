#ifndef FAIRLEAD_URL_URL_H_
#define FAIRLEAD_URL_URL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "fairlead/url/url_parts.h"

namespace fairlead {

class UrlPool;
namespace internal {
struct UrlEntry;
}

enum class Category : std::uint8_t { kProviders, kConsumers, kConfigurators, kRouters };
inline constexpr int kCategoryCount = 4;
// "providers", "consumers", "configurators", "routers".
std::string_view CategoryName(Category category);
// The inverse; absent for any other text.
std::optional<Category> CategoryOf(std::string_view name);

// An immutable url, cheap to copy (one counted reference), interned in a UrlPool.
//
// Equality is Dubbo's (order of parameters, escapes, `default.` keys, leading slashes and port 0 do not
// matter) except that `pid` and `timestamp`, as whole keys, never count. Urls of one pool compare two
// pointers; urls of different pools compare their canonical parts. Thread-safe: all methods are const.
class Url {
 public:
  Url() = default;  // the empty url: every getter gives an empty value

  // `text` may be decoded or percent-encoded (encoded when it holds `%3A%2F%2F` and no `://`).
  // kInvalidArgument names the text (without its password) and what was expected.
  static absl::StatusOr<Url> Parse(std::string_view text, UrlPool& pool);
  // Interns parts that code has built or edited.
  static Url Of(UrlParts parts, UrlPool& pool);

  // Everything the text said, `pid` and `timestamp` included.
  const UrlParts& parts() const;
  std::string_view protocol() const;
  std::string_view host() const;  // as written; IPv6 brackets and scope are kept
  std::string_view path() const;
  std::uint16_t port() const;  // 0 when absent or above 65535
  std::string_view Param(std::string_view key, std::string_view fallback = {}) const {
    return parts().Param(key, fallback);
  }
  std::string_view MethodParam(std::string_view method, std::string_view key,
                               std::string_view fallback = {}) const {
    return parts().MethodParam(method, key, fallback);
  }
  bool BoolParam(std::string_view key, bool fallback) const;                 // true is "true" in any case
  std::int64_t IntParam(std::string_view key, std::int64_t fallback) const;  // fallback when not a Java int
  std::int64_t timestamp_ms() const;                                         // 0 when absent or no number
  Category category() const;  // kProviders when absent or unknown
  std::string_view Application() const { return Param("application"); }

  std::string ServiceKey() const { return parts().ServiceKey(); }
  std::string ToString() const { return parts().ToString(); }          // never with the password
  std::string ToFullString() const { return parts().ToFullString(); }  // with it: for the registry only

  bool empty() const { return entry_ == nullptr; }
  // The very same entry of the pool, so that everything is equal, pid and timestamp too; one compare.
  bool Is(const Url& other) const { return entry_ == other.entry_; }
  friend bool operator==(const Url& a, const Url& b);
  // Consistent with ==.
  std::size_t Hash() const;

 private:
  friend class UrlPool;
  explicit Url(std::shared_ptr<const internal::UrlEntry> entry) : entry_(std::move(entry)) {}
  std::shared_ptr<const internal::UrlEntry> entry_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_URL_URL_H_
