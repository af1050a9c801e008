#include "fairlead/routing/yaml/yaml_fields.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/rule_place.h"
#include "fairlead/url/redact.h"

namespace fairlead {

absl::Status YamlError(const YamlValue& at, std::string_view what, const absl::Status& error) {
  // A value that nobody wrote has no mark.
  const YamlMark mark = at.mark();
  const std::string where = mark.line > 0 ? absl::StrCat(ToAbsl(what), ", ", mark.ToString()) : std::string(what);
  return WithPlace(Reworded(error, absl::StrCat(where, ": ", error.message())), {mark.line, mark.column, std::nullopt, ""});
}

absl::Status YamlError(const YamlValue& at, std::string_view what, std::string_view text) {
  RulePlace kind;
  kind.code = "unreadable";
  return YamlError(at, what, WithPlace(absl::InvalidArgumentError(ToAbsl(text)), kind));
}

absl::StatusOr<YamlFields> YamlFields::Of(const YamlValue& value, std::string what) {
  if (value.kind() == YamlValue::Kind::kMap) return YamlFields(value, std::move(what));
  return YamlError(value, what, absl::StrCat("expected a map, found ", value.Description()));
}

const YamlValue* YamlFields::Value(std::string_view name) {
  const YamlValue* found = nullptr;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const auto& [key, value] = map_->entries()[i];
    if (key.text() == nullptr || *key.text() != name) continue;
    asked_[i] = true;
    if (!value.is_null()) found = &value;
  }
  return found;
}

bool YamlFields::Flag(std::string_view name, bool when_absent) {
  const YamlValue* value = Value(name);
  return value == nullptr ? when_absent : absl::EqualsIgnoreCase(value->JavaText(), "true");
}

absl::StatusOr<std::int32_t> YamlFields::Int(std::string_view name, std::int32_t when_absent) {
  const YamlValue* value = Value(name);
  if (value == nullptr) return when_absent;
  if (const std::optional<std::int32_t> number = value->AsJavaInt()) return *number;
  return Error(*value, absl::StrCat(ToAbsl(name), ": expected a number, found ", value->Description()));
}

absl::StatusOr<std::optional<std::string>> YamlFields::Text(std::string_view name) {
  const YamlValue* value = Value(name);
  if (value == nullptr) return std::nullopt;
  if (value->text() != nullptr) return *value->text();
  return Error(*value, absl::StrCat(ToAbsl(name), ": expected a text, found ", value->Description(),
                                    "; put it in quotes"));
}

absl::StatusOr<std::optional<std::string>> YamlFields::Scalar(std::string_view name) {
  const YamlValue* value = Value(name);
  if (value == nullptr) return std::nullopt;
  if (value->kind() == YamlValue::Kind::kList || value->kind() == YamlValue::Kind::kMap) {
    return Error(*value, absl::StrCat(ToAbsl(name), ": expected a text, found ", value->Description()));
  }
  return value->JavaText();
}

absl::StatusOr<const YamlValue*> YamlFields::List(std::string_view name) {
  const YamlValue* value = Value(name);
  if (value == nullptr || value->kind() == YamlValue::Kind::kList) return value;
  return Error(*value, absl::StrCat(ToAbsl(name), ": expected a list, found ", value->Description()));
}

std::optional<std::string> YamlFields::AnyText(std::string_view name) {
  const YamlValue* value = Value(name);
  if (value == nullptr) return std::nullopt;
  return value->JavaText();
}

absl::Status YamlFields::Error(const YamlValue& at, std::string_view text) const {
  return YamlError(at, what_, text);
}

absl::Status YamlFields::Error(const YamlValue& at, const absl::Status& error) const { return YamlError(at, what_, error); }

void YamlFields::RemarkUnknown(std::vector<YamlRemark>* remarks) const {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    if (asked_[i]) continue;
    const YamlValue& key = map_->entries()[i].first;
    remarks->push_back({key.mark(), absl::StrCat("the field ", Shortened(Redacted(key.JavaText()), 80), " of ", what_,
                                                 " is unknown and changes nothing"),
                        "unknown-field"});
  }
}

}  // namespace fairlead
