#include "java_answers.h"

#include <stdexcept>

#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/service_key.h"
#include "fairlead/url/typed.h"

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

std::string TextOrEmpty(const Json& text) { return text.is_null() ? std::string() : text.get<std::string>(); }

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

Json KeyOrNull(const UrlParts& url, const std::string& key) { return HasInterface(url) ? Json(key) : Json(); }

std::string JavaColonKey(const UrlParts& url) { return (HasInterface(url) ? "" : "null") + url.ColonKey(); }

std::string JavaCompatibleColonKey(const UrlParts& url) {
  return (HasInterface(url) ? "" : "null") + CompatibleColonKey(url);
}

Json JavaAddress(const UrlParts& url) {
  if (!url.host.has_value() && url.port <= 0) return nullptr;
  return (url.host.has_value() ? "" : "null") + url.Address();
}

Json JavaDisplayKey(const UrlParts& url) {
  if (HasInterface(url)) return DisplayKey(url);
  const std::string_view version = url.Param(names::kVersion);
  return version.empty() ? Json() : Json("null:" + std::string(version));
}

Json JavaProtocolServiceKey(const UrlParts& url) {
  if (url.protocol == "consumer") return KeyOrNull(url, ServiceKeyWithProtocol(url));
  std::string key = HasInterface(url) ? ServiceKeyWithProtocol(url) : "null:" + url.protocol.value_or("");
  if (!url.protocol.has_value()) key += HasInterface(url) ? ":null" : "null";
  return key;
}

Json AnyMethodParameter(const UrlParts& url, const std::string& key) {
  if (const std::string_view methods = url.Param(names::kMethods); !methods.empty()) {
    for (const std::string_view method : SplitCommaList(methods)) {
      const std::string* value = url.params.Find(method, key);
      if (value != nullptr && !value->empty()) return *value;
    }
    return nullptr;
  }
  for (const auto& [name, value] : url.params) {
    const std::size_t dot = name.find('.');
    if (dot != std::string::npos && dot > 0 && name.substr(dot + 1) == key) return value;
  }
  return nullptr;
}

Json AnswerOr(const absl::StatusOr<UrlParts>& url, const std::function<Json(const UrlParts&)>& describe) {
  return url.ok() ? describe(*url) : JavaError(url.status());
}

UrlParts MustParse(const std::string& text) {
  absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
  if (!url.ok()) throw std::runtime_error(std::string(FromAbsl(url.status().message())));
  return *std::move(url);
}

}  // namespace fairlead::conformance
