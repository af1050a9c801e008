#ifndef FAIRLEAD_URL_TYPED_H_
#define FAIRLEAD_URL_TYPED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fairlead/url/url_parts.h"

// Parameter values as numbers, booleans and lists, by the rules Dubbo reads them with. A peer that writes
// `1.5` or `yes` is understood, or refused, exactly as a Java consumer would.
namespace fairlead {

// Java's Integer.parseInt: an optional sign, then decimal digits only; no blanks; -2^31 .. 2^31-1.
std::optional<std::int32_t> ParseJavaInt(std::string_view text);
// Java's Long.parseLong, the same with 64 bits.
std::optional<std::int64_t> ParseJavaLong(std::string_view text);
// Java's Boolean.parseBoolean: "true" in any case is true, everything else is false.
bool ParseJavaBool(std::string_view text);

// `fallback` when absent or empty; kInvalidArgument, naming key and value, when it is no Java int.
absl::StatusOr<std::int32_t> IntParam(const UrlParts& url, std::string_view key, std::int32_t fallback);
// The same; also `fallback` when the value is zero or negative.
absl::StatusOr<std::int32_t> PositiveParam(const UrlParts& url, std::string_view key, std::int32_t fallback);
absl::StatusOr<std::int32_t> MethodIntParam(const UrlParts& url, std::string_view method,
                                            std::string_view key, std::int32_t fallback);
absl::StatusOr<std::int32_t> MethodPositiveParam(const UrlParts& url, std::string_view method,
                                                 std::string_view key, std::int32_t fallback);
bool BoolParam(const UrlParts& url, std::string_view key, bool fallback);
bool MethodBoolParam(const UrlParts& url, std::string_view method, std::string_view key, bool fallback);

// A comma list as Dubbo splits it: at blanks, commas, blanks. `a,,b` is [a, b]; a leading comma gives a first
// empty element; trailing empty elements vanish; blanks outside of the first and the last element stay. Views
// of `text`.
std::vector<std::string_view> SplitCommaList(std::string_view text);

// The same, element by element, without memory of its own.
class CommaList {
 public:
  explicit CommaList(std::string_view text) : rest_(text) {}
  // nullopt after the last.
  std::optional<std::string_view> Next();

 private:
  // The next element as it stands, trailing empty ones included. REQUIRES: !ended_
  std::string_view Split();

  std::string_view rest_, held_;
  std::size_t empty_ = 0;  // elements that come before `held_`
  bool holds_ = false, ended_ = false;
};

}  // namespace fairlead

#endif  // FAIRLEAD_URL_TYPED_H_
