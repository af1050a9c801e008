#ifndef FAIRLEAD_URL_URL_PARTS_H_
#define FAIRLEAD_URL_URL_PARTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "fairlead/url/url_params.h"

namespace fairlead {

// A url taken apart: Dubbo's URL as a plain value, exact to the byte in parsing and printing. It is what code
// edits and what Url (the interned, shared form) is made from. Not thread-safe to write; no limits on sizes,
// every operation is linear in the text.
//
// An absent string field differs from an empty one (`dubbo://h:1` has no path, `dubbo://h:1/` an empty one).
struct UrlParts {
  using Params = UrlParams;

  std::optional<std::string> protocol, username, password, host, path;
  std::int32_t port = 0;  // 0 = absent
  Params params;

  // Decoded text, `dubbo://10.0.0.1:20880/a.B?x=1`, by the rules of Dubbo 3.3's URL.valueOf. Values are not
  // percent-decoded. kInvalidArgument names the text (without its password) and what was expected.
  static absl::StatusOr<UrlParts> Parse(std::string_view text);
  // Percent-encoded text as found in znode names; keys and values are decoded once, each on its own.
  static absl::StatusOr<UrlParts> ParseEncoded(std::string_view text);
  // Either of the two: percent-encoded when the text holds an escaped `://` and no plain one.
  static absl::StatusOr<UrlParts> ParseAny(std::string_view text);
  // The part before the `?`, decoded: what Parse reads it as, without parameters.
  static absl::StatusOr<UrlParts> ParseBody(std::string_view body);
  // `a=1&b=2`, decoded, as Parse reads the text after the first `?`: `;` separates as `&` does, the last of equal
  // keys wins, `default.k` also gives `k` unless that is there.
  static Params ParseQuery(std::string_view query);

  // A parameter's text; `fallback` when absent or empty (Dubbo's getParameter). Valid while the parameters are.
  std::string_view Param(std::string_view key, std::string_view fallback = {}) const;
  // nullptr when absent; an empty value is present.
  const std::string* Find(std::string_view key) const { return params.Find(key); }
  // `method.key` when non-empty (and, if a `methods` parameter exists, its text contains the method), else
  // Param(key, fallback).
  std::string_view MethodParam(std::string_view method, std::string_view key, std::string_view fallback = {}) const;
  // `method.key` alone, under the same condition. nullptr when absent.
  const std::string* FindMethodParam(std::string_view method, std::string_view key) const;

  // As a url that was parsed has it: without leading slashes.
  void SetPath(std::string_view text);

  std::string ServiceInterface() const;  // `interface`, else the path
  std::string ServiceKey() const;        // [group/]interface[:version]; empty without interface and path
  std::string ColonKey() const;          // interface:version:group, both colons always there
  std::string Address() const;           // host or host:port

  std::string ToString() const;          // no credentials, parameters sorted
  std::string ToFullString() const;      // with credentials: for the registry only, never for logs
  std::string ToIdentityString() const;  // credentials, no parameters
  std::string QueryString() const;       // parameters only, no '?'

  bool operator==(const UrlParts&) const = default;
};

// Chooses what Print writes. Nothing is percent-encoded; parameters are sorted as Java sorts them (by UTF-16
// code units), empty keys dropped, values trimmed.
struct UrlPrint {
  bool credentials = false;
  bool service_key_as_path = false;            // Dubbo's toServiceString: the key of a registry instance
  bool params = true;
  std::span<const std::string_view> only = {};  // when not empty, the only parameters printed
};
std::string Print(const UrlParts& url, const UrlPrint& what);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_URL_PARTS_H_
