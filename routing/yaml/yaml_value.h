#ifndef FAIRLEAD_ROUTING_YAML_YAML_VALUE_H_
#define FAIRLEAD_ROUTING_YAML_YAML_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead {

// A place in a text, both from 1.
struct YamlMark {
  int line = 0, column = 0;
  std::string ToString() const;  // "line 3, column 5"
};

// One value of a YAML document, with the types that Dubbo's parser gives: those of YAML 1.1, where `yes`, `on` and `off`
// are booleans, `010` is eight and `1:30` ninety. Plain value.
class YamlValue {
 public:
  enum class Kind : std::uint8_t { kNull, kBool, kInteger, kFloat, kTimestamp, kText, kList, kMap };
  using Entry = std::pair<YamlValue, YamlValue>;

  YamlValue() = default;  // null
  static YamlValue Text(std::string text, YamlMark mark);
  // Types an unquoted scalar.
  static YamlValue Plain(std::string_view written, YamlMark mark);
  static YamlValue List(std::vector<YamlValue> items, YamlMark mark);
  // REQUIRES: no two equal keys
  static YamlValue Map(std::vector<Entry> entries, YamlMark mark);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  YamlMark mark() const { return mark_; }
  // "a list", "the number 5", "the text \"x\"": what stands here, in an error.
  std::string Description() const;

  // What Java's String.valueOf makes of it: of scalars the value, not the spelling ("true" for yes, "8" for 010).
  std::string JavaText() const;
  // The text, when that is what it is.
  const std::string* text() const { return kind_ == Kind::kText ? &scalar_ : nullptr; }
  // A decimal integer of 32 bits, also from a text, as Java's Integer.parseInt(String.valueOf(...)) reads it.
  std::optional<std::int32_t> AsJavaInt() const;

  const std::vector<YamlValue>& items() const { return items_; }
  const std::vector<Entry>& entries() const { return entries_; }
  // The value of a text key of a map; nullptr when there is none, or this is no map. Linear.
  const YamlValue* Find(std::string_view key) const;

  // Values in it, itself too.
  std::size_t size() const;

 private:
  Kind kind_ = Kind::kNull;
  YamlMark mark_;
  std::string scalar_;  // JavaText of a scalar
  std::vector<YamlValue> items_;
  std::vector<Entry> entries_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_YAML_YAML_VALUE_H_
