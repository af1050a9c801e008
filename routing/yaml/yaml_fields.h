#ifndef FAIRLEAD_ROUTING_YAML_YAML_FIELDS_H_
#define FAIRLEAD_ROUTING_YAML_YAML_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/routing/yaml/yaml_parser.h"
#include "fairlead/routing/yaml/yaml_value.h"

namespace fairlead {

// kInvalidArgument with a place: "conditions[1], line 3, column 7: " and `text`.
absl::Status YamlError(const YamlValue& at, std::string_view what, std::string_view text);
// An error of a value's own text, with where that stands; what the error says of the place within the text stays.
absl::Status YamlError(const YamlValue& at, std::string_view what, const absl::Status& error);

// Reads the fields of one map of a rule document as Dubbo reads them, and knows afterwards which nobody asked for.
// The map must outlive it.
class YamlFields {
 public:
  // kInvalidArgument when `value` is no map. `what` names it in errors: "the document", "conditions[1]".
  static absl::StatusOr<YamlFields> Of(const YamlValue& value, std::string what);

  // nullptr when the field is absent or null.
  const YamlValue* Value(std::string_view name);
  // Any value whose text is `true`, in any case, is true; any other is false.
  bool Flag(std::string_view name, bool when_absent);
  // A number or the text of one.
  absl::StatusOr<std::int32_t> Int(std::string_view name, std::int32_t when_absent);
  // What Java casts to a string: a number or boolean without quotes is an error.
  absl::StatusOr<std::optional<std::string>> Text(std::string_view name);
  // The text of a number, a boolean or a text; a list or map is an error.
  absl::StatusOr<std::optional<std::string>> Scalar(std::string_view name);
  // nullptr when absent; what is no list is an error.
  absl::StatusOr<const YamlValue*> List(std::string_view name);
  // The text of any value; nullopt when absent.
  std::optional<std::string> AnyText(std::string_view name);

  // "the document, line 3, column 7: enabled: ..."
  absl::Status Error(const YamlValue& at, std::string_view text) const;
  // The same of an error that a part of the field gave, with its kind.
  absl::Status Error(const YamlValue& at, const absl::Status& error) const;
  // A remark for each field that none of the above was asked for.
  void RemarkUnknown(std::vector<YamlRemark>* remarks) const;

 private:
  YamlFields(const YamlValue& map, std::string what)
      : map_(&map), what_(std::move(what)), asked_(map.entries().size(), false) {}

  const YamlValue* map_;
  std::string what_;
  std::vector<bool> asked_;  // by entry
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_YAML_FIELDS_H_
