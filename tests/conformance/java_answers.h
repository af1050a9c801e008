#ifndef FAIRLEAD_TESTS_CONFORMANCE_JAVA_ANSWERS_H_
#define FAIRLEAD_TESTS_CONFORMANCE_JAVA_ANSWERS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/url/url_parts.h"

#include "runner.h"

// How Java words its answers: absent values as null, errors as exception classes.
namespace fairlead::conformance {

// {"error": class}: the exception Dubbo throws where the library gives this status.
Json JavaError(const absl::Status& status);

// Null where the library knows only the empty text.
std::string TextOrEmpty(const Json& text);
Json OrNull(const std::optional<std::string>& text);
// Java's getParameter without a default: an absent parameter is null, an empty one is ''.
Json ParamOrNull(const UrlParts& url, std::string_view key);
// For getters that treat an empty value as absent.
Json NullIfEmpty(std::string_view text);
Json ParamsJson(const UrlParams& params);
UrlParams ParamsOf(const Json& object);

// Java concatenates a missing host, interface or protocol as the word null.
Json JavaAddress(const UrlParts& url);
// `key` if the url has an interface, else null.
Json KeyOrNull(const UrlParts& url, const std::string& key);
std::string JavaColonKey(const UrlParts& url);
std::string JavaCompatibleColonKey(const UrlParts& url);
Json JavaDisplayKey(const UrlParts& url);
Json JavaProtocolServiceKey(const UrlParts& url);

// Java answers with the method that its hash map holds first; the cases have one method a key.
Json AnyMethodParameter(const UrlParts& url, const std::string& key);

// The answer of `describe`, or the error.
Json AnswerOr(const absl::StatusOr<UrlParts>& url, const std::function<Json(const UrlParts&)>& describe);

// A url of the corpora that must parse; throws when it does not.
UrlParts MustParse(const std::string& text);

}  // namespace fairlead::conformance

#endif  // FAIRLEAD_TESTS_CONFORMANCE_JAVA_ANSWERS_H_
