#ifndef FAIRLEAD_URL_URL_PARTS_H_
#define FAIRLEAD_URL_URL_PARTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace fairlead {

// A url taken apart: Dubbo's URL as a plain value, exact to the byte in parsing and printing. It is what code
// edits and what Url (the interned, shared form) is made from. Not thread-safe to write; no limits on sizes,
// every operation is linear in the text.
//
// An absent string field differs from an empty one (`dubbo://h:1` has no path, `dubbo://h:1/` an empty one).
struct UrlParts {
  using Params = std::map<std::string, std::string, std::less<>>;  // code-unit order is the printing order

  std::optional<std::string> protocol, username, password, host, path;
  std::int32_t port = 0;  // 0 = absent
  Params params;

  // Decoded text, `dubbo://10.0.0.1:20880/a.B?x=1`, by the rules of Dubbo 3.3's URL.valueOf. Values are not
  // percent-decoded. kInvalidArgument names the text (without its password) and what was expected.
  static absl::StatusOr<UrlParts> Parse(std::string_view text);
  // Percent-encoded text as found in znode names; keys and values are decoded once, each on its own.
  static absl::StatusOr<UrlParts> ParseEncoded(std::string_view text);

  // A parameter's text; `fallback` when absent or empty (Dubbo's getParameter).
  std::string_view Param(std::string_view key, std::string_view fallback = {}) const;
  // nullptr when absent; an empty value is present.
  const std::string* Find(std::string_view key) const;
  // `method.key` when non-empty (and, if a `methods` parameter exists, its text contains the method), else
  // Param(key, fallback).
  std::string_view MethodParam(std::string_view method, std::string_view key, std::string_view fallback = {}) const;

  std::string ServiceInterface() const;  // `interface`, else the path
  std::string ServiceKey() const;        // [group/]interface[:version]; empty without an interface
  std::string ColonKey() const;          // interface:version:group, both colons always there
  std::string Address() const;           // host or host:port

  std::string ToString() const;      // no credentials, parameters sorted
  std::string ToFullString() const;  // with credentials: for the registry only, never for logs
  std::string ToIdentityString() const;  // credentials, no parameters

  bool operator==(const UrlParts&) const = default;
};

}  // namespace fairlead

#endif  // FAIRLEAD_URL_URL_PARTS_H_
