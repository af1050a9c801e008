#include "fairlead/registry/java_properties.h"

#include <cstddef>
#include <optional>

#include "absl/strings/str_cat.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/utf8.h"

namespace fairlead::internal {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\f'; }
bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

void AppendUtf8(char32_t c, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | (c >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// Puts UTF-16 units, as they come, together to UTF-8.
class Utf16Reader {
 public:
  explicit Utf16Reader(std::string& out) : out_(out) {}
  ~Utf16Reader() { EndPair(); }

  void Add(char32_t unit) {
    if (high_ != 0 && unit >= 0xDC00 && unit < 0xE000) {
      AppendUtf8(0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00), out_);
      high_ = 0;
      return;
    }
    EndPair();
    if (unit >= 0xD800 && unit < 0xDC00) {
      high_ = unit;
    } else {
      AppendUtf8(unit >= 0xDC00 && unit < 0xE000 ? kReplacement : unit, out_);
    }
  }

 private:
  void EndPair() {
    if (high_ != 0) AppendUtf8(kReplacement, out_);
    high_ = 0;
  }

  std::string& out_;
  char32_t high_ = 0;
};

// Joins natural lines to logical ones: without comments, line ends, and blanks at the beginning.
class LogicalLines {
 public:
  explicit LogicalLines(std::string_view text) : text_(text) {}

  std::optional<std::string> Next() {
    std::string line;
    bool at_start = true;    // of a natural line: blanks are skipped
    bool continued = false;  // ... of one that continues a logical line: a line end is none to skip
    bool escapes = false;    // after an odd number of backslashes
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (at_start) {
        if (IsBlank(c) || (!continued && IsLineEnd(c))) continue;
        at_start = continued = false;
      }
      if (line.empty() && (c == '#' || c == '!')) {
        while (at_ < text_.size() && !IsLineEnd(text_[at_])) ++at_;
        at_start = true;
      } else if (!IsLineEnd(c)) {
        line += c;
        escapes = c == '\\' && !escapes;
      } else if (line.empty()) {
        at_start = true;
      } else if (escapes) {
        line.pop_back();
        escapes = false;
        at_start = continued = true;
        // At the very end of the text a line that is only continued still counts, even if it is empty.
        if (at_ == text_.size()) return line;
        if (c == '\r' && text_[at_] == '\n') ++at_;
      } else {
        return line;
      }
    }
    if (line.empty()) return std::nullopt;
    if (escapes) line.pop_back();
    return line;
  }

  std::size_t offset() const { return at_; }

 private:
  const std::string_view text_;
  std::size_t at_ = 0;
};

// False: an incomplete \u.
bool Unescape(std::string_view text, std::string& out) {
  Utf16Reader units(out);
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c != '\\' || i + 1 == text.size()) {
      units.Add(static_cast<unsigned char>(c));
      continue;
    }
    c = text[++i];
    if (c == 'u') {
      if (text.size() - i <= 4) return false;
      char32_t unit = 0;
      for (int digit = 0; digit < 4; ++digit) {
        const int value = HexDigit(text[++i]);
        if (value < 0) return false;
        unit = unit * 16 + static_cast<char32_t>(value);
      }
      units.Add(unit);
      continue;
    }
    units.Add(c == 't'   ? '\t'
              : c == 'r' ? '\r'
              : c == 'n' ? '\n'
              : c == 'f' ? '\f'
                         : static_cast<unsigned char>(c));
  }
  return true;
}

// Where the key ends and where the value begins.
struct Split {
  std::size_t key_end = 0, value = 0;
};

Split SplitLine(std::string_view line) {
  const auto separates = [](char c) { return c == '=' || c == ':'; };
  Split split;
  bool escapes = false;
  while (split.key_end < line.size()) {
    const char c = line[split.key_end];
    if (!escapes && (separates(c) || IsBlank(c))) break;
    escapes = c == '\\' && !escapes;
    ++split.key_end;
  }
  split.value = split.key_end;
  bool separated = false;
  while (split.value < line.size()) {
    const char c = line[split.value];
    if (!IsBlank(c)) {
      if (separated || !separates(c)) break;
      separated = true;
    }
    ++split.value;
  }
  return split;
}

void AppendEscaped(std::string_view text, bool is_key, std::string& out) {
  constexpr char kHex[] = "0123456789ABCDEF";
  const auto append_unit = [&](char32_t unit) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(unit >> shift) & 15];
  };
  std::string repaired;
  if (!IsUtf8(text)) {
    AppendReplacingMalformed(text, repaired);
    text = repaired;
  }
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      const int more = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
      char32_t point = c & (0x3fu >> more);
      for (int k = 1; k <= more; ++k)
        point = (point << 6) | (static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]) & 0x3fu);
      if (point < 0x10000) {
        append_unit(point);
      } else {
        append_unit(0xD800 + ((point - 0x10000) >> 10));
        append_unit(0xDC00 + ((point - 0x10000) & 0x3ff));
      }
      i += static_cast<std::size_t>(more) + 1;
      continue;
    }
    switch (c) {
      case ' ':
        if (is_key || i == 0) out += '\\';
        out += ' ';
        break;
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\\':
      case '=':
      case ':':
      case '#':
      case '!':
        out += '\\';
        out += static_cast<char>(c);
        break;
      default:
        if (c < 0x20 || c > 0x7e) {
          append_unit(c);
        } else {
          out += static_cast<char>(c);
        }
    }
    ++i;
  }
}

}  // namespace

absl::StatusOr<Properties> ParseProperties(std::string_view latin1) {
  Properties all;
  LogicalLines lines(latin1);
  while (const std::optional<std::string> line = lines.Next()) {
    const std::string_view text = *line;
    const Split split = SplitLine(text);
    std::string key, value;
    if (!Unescape(text.substr(0, split.key_end), key) || !Unescape(text.substr(split.value), value)) {
      return absl::InvalidArgumentError(absl::StrCat("properties: the line that ends at offset ",
                                                     lines.offset(), " has a \\u without four hex digits"));
    }
    all.insert_or_assign(std::move(key), std::move(value));
  }
  return all;
}

void AppendProperty(std::string_view key, std::string_view value, std::string& out) {
  AppendEscaped(key, true, out);
  out += '=';
  AppendEscaped(value, false, out);
  out += '\n';
}

}  // namespace fairlead::internal
