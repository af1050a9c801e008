#include "java_answers.h"

#include <stdexcept>

#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"

namespace fairlead::conformance {

Json JavaError(const absl::Status& status) {
  const std::string_view text = FromAbsl(status.message());
  const auto says = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  const char* name = "IllegalArgumentException";
  if (says("expected a decimal")) {
    name = "NumberFormatException";
  } else if (says("expected a protocol")) {
    name = "IllegalStateException";
  }
  return {{"error", name}};
}

Json OrNull(const std::optional<std::string>& text) { return text.has_value() ? Json(*text) : Json(); }
Json NullIfEmpty(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json ParamOrNull(const UrlParts& url, std::string_view key) {
  const std::string* value = url.Find(key);
  return value == nullptr ? Json() : Json(*value);
}

Json ParamsJson(const UrlParams& params) {
  Json object = Json::object();
  for (const auto& [key, value] : params) object[key] = value;
  return object;
}

UrlParams ParamsOf(const Json& object) {
  UrlParams params;
  for (const auto& [key, value] : object.items()) params.insert_or_assign(key, value.get<std::string>());
  return params;
}

bool HasInterface(const UrlParts& url) {
  return url.path.has_value() || !url.Param(names::kInterface).empty();
}

Json KeyOrNull(const UrlParts& url, const std::string& key) { return HasInterface(url) ? Json(key) : Json(); }

std::string JavaColonKey(const UrlParts& url) { return (HasInterface(url) ? "" : "null") + url.ColonKey(); }

Json AnswerOr(const absl::StatusOr<UrlParts>& url, const std::function<Json(const UrlParts&)>& describe) {
  return url.ok() ? describe(*url) : JavaError(url.status());
}

UrlParts MustParse(const std::string& text) {
  absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
  if (!url.ok()) throw std::runtime_error(std::string(FromAbsl(url.status().message())));
  return *std::move(url);
}

}  // namespace fairlead::conformance
