// YAML as Dubbo's parser reads it: bounded, and written out again it is the same.
#include <algorithm>
#include <set>
#include <string>

#include "fairlead/routing/yaml/yaml_parser.h"
#include "fairlead/tests/fuzz/fuzz.h"
#include "fairlead/url/utf8.h"

namespace fairlead::fuzz {
namespace {

constexpr YamlLimits kLimits{.bytes = 3000, .values = 2000, .depth = 20};

std::size_t CheckShape(const YamlValue& value, std::size_t depth, const std::string& text) {
  // The innermost scalars are in a list or map, and do not count as one.
  FUZZ_EXPECT(depth <= kLimits.depth + 1, text);
  FUZZ_EXPECT(value.mark().line >= 1 && value.mark().column >= 1, text);
  FUZZ_EXPECT(!value.Description().empty(), text);
  std::size_t size = 1;
  for (const YamlValue& item : value.items()) size += CheckShape(item, depth + 1, text);
  std::set<std::pair<YamlValue::Kind, std::string>> keys;
  for (const auto& [key, mapped] : value.entries()) {
    size += CheckShape(key, depth + 1, text) + CheckShape(mapped, depth + 1, text);
    const bool scalar = key.items().empty() && key.entries().empty();
    FUZZ_EXPECT(!scalar || keys.emplace(key.kind(), key.JavaText()).second, text + "\ntwice: " + key.JavaText());
  }
  FUZZ_EXPECT(size == value.size(), text);
  return size;
}

void Quote(const std::string& text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      const auto control = static_cast<unsigned char>(text[++i]);  // U+0080 to U+009F
      out += {'\\', 'x', kHex[control >> 4], kHex[control & 15]};
    } else if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      out += c;
    } else if (byte >= 0x80) {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  out += '"';
}

// False for what has no other form than the one it was read from.
bool Write(const YamlValue& value, std::string& out) {
  switch (value.kind()) {
    case YamlValue::Kind::kNull:
      out += "null";
      return true;
    case YamlValue::Kind::kBool:
    case YamlValue::Kind::kInteger:
      out += value.JavaText();
      return true;
    case YamlValue::Kind::kText:
      Quote(*value.text(), out);
      return IsUtf8(*value.text());
    case YamlValue::Kind::kList: {
      out += "[";
      bool first = true;
      for (const YamlValue& item : value.items()) {
        if (!first) out += ", ";
        first = false;
        if (!Write(item, out)) return false;
      }
      out += "]";
      return true;
    }
    case YamlValue::Kind::kMap: {
      out += "{";
      bool first = true;
      for (const auto& [key, mapped] : value.entries()) {
        if (!first) out += ", ";
        first = false;
        out += "? ";
        if (!Write(key, out)) return false;
        out += " : ";
        if (!Write(mapped, out)) return false;
      }
      out += "}";
      return true;
    }
    case YamlValue::Kind::kFloat:
    case YamlValue::Kind::kTimestamp:
      return false;
  }
  return false;
}

bool Same(const YamlValue& a, const YamlValue& b) {
  if (a.kind() != b.kind() || a.JavaText() != b.JavaText()) return false;
  if (a.items().size() != b.items().size() || a.entries().size() != b.entries().size()) return false;
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    if (!Same(a.items()[i], b.items()[i])) return false;
  }
  for (std::size_t i = 0; i < a.entries().size(); ++i) {
    if (!Same(a.entries()[i].first, b.entries()[i].first) || !Same(a.entries()[i].second, b.entries()[i].second)) return false;
  }
  return true;
}

}  // namespace

void Try(std::string_view input) {
  const std::string text(input);
  const auto documents = ParseYaml(text, kLimits);
  const auto one = ParseYamlDocument(text, kLimits);
  if (!documents.ok()) {
    FUZZ_EXPECT(absl::IsInvalidArgument(documents.status()) && documents.status().message().size() < 1000, documents.status().ToString());
    FUZZ_EXPECT(!one.ok(), text);
    return;
  }
  FUZZ_EXPECT(text.size() <= kLimits.bytes, text);
  FUZZ_EXPECT(one.ok() == (documents->size() == 1), text);
  std::size_t values = 0;
  for (const YamlDocument& document : *documents) {
    values += CheckShape(document.root, 0, text);
    std::string written;
    if (!Write(document.root, written)) continue;
    const auto again = ParseYamlDocument(written);
    FUZZ_EXPECT(again.ok() && Same(again->root, document.root),
                text + "\nis written as\n" + written + "\n" + again.status().ToString());
  }
  FUZZ_EXPECT(values <= kLimits.values, text);
}

}  // namespace fairlead::fuzz
