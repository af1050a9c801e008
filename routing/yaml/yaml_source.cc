#include "fairlead/routing/yaml/yaml_source.h"

#include <algorithm>

namespace fairlead::internal {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kBlanksAndEnds = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool Has(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

}  // namespace

YamlSource::YamlSource(std::string_view text)
    : text_(text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text) {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\r' && CharAt(i + 1) != '\n') text_[i] = '\n';
  }
}

YamlMark YamlSource::MarkOf(std::size_t at, int line, int column) const {
  const auto end = std::lower_bound(blanks_.begin(), blanks_.end(), at);
  const auto begin = std::lower_bound(blanks_.begin(), end, at - std::min(at, static_cast<std::size_t>(column)));
  return {line + 1, column + 1 - static_cast<int>(end - begin)};
}

YamlMark YamlSource::MarkAt(std::size_t at) const {
  const std::string_view before = std::string_view(text_).substr(0, at);
  const std::size_t line_end = before.rfind('\n');
  const std::size_t column = line_end == kNone ? before.size() : before.size() - line_end - 1;
  return MarkOf(at, static_cast<int>(std::count(before.begin(), before.end(), '\n')), static_cast<int>(column));
}

std::size_t YamlSource::FindUnprintable() const {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const auto c = static_cast<unsigned char>(text_[i]);
    const auto next = static_cast<unsigned char>(CharAt(i + 1));
    if ((c < 0x20 && !Has("\t\r\n", text_[i])) || c == 0x7F) return i;
    if (c == 0xC2 && next >= 0x80 && next <= 0x9F && next != 0x85) return i;
  }
  // What yaml-cpp takes for the mark of UTF-16, which it would read as such.
  const bool utf16 = text_.starts_with("\xFE\xFF") || text_.starts_with("\xFF\xFE");
  return utf16 ? 0 : kNone;
}

std::size_t YamlSource::SkipProperties(std::size_t at) const {
  while (at < text_.size()) {
    if (CharAt(at) == '&' || CharAt(at) == '!') {
      at = std::min(text_.find_first_of(kBlanksAndEnds, at), text_.size());
    } else if (CharAt(at) == '#') {
      at = std::min(text_.find('\n', at), text_.size());
    } else if (Has(kBlanksAndEnds, CharAt(at))) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

std::size_t YamlSource::FindEndOfQuoted(std::size_t at) const {
  const char quote = CharAt(at);
  for (++at; at < text_.size(); ++at) {
    if (quote == '"' && text_[at] == '\\') {
      ++at;
    } else if (text_[at] == quote) {
      if (quote == '"' || CharAt(at + 1) != quote) return at + 1;
      ++at;
    }
  }
  return kNone;
}

std::size_t YamlSource::FindAfterIndicators(std::size_t at) const {
  at = text_.find_first_not_of("+-0123456789", at + 1);
  return at == kNone || Has(kBlanksAndEnds, text_[at]) ? kNone : at;
}

bool YamlSource::LacksStart(std::size_t at) const {
  if (text_.compare(at, 3, "---") == 0) return false;
  const std::size_t end_of_last = text_.rfind("\n...", at);
  const std::string_view before = std::string_view(text_).substr(0, at);
  return before.starts_with('%') || before.find("\n%", end_of_last == kNone ? 0 : end_of_last) != kNone;
}

std::size_t YamlSource::FindDirective(std::size_t from) const {
  const std::size_t at = text_.find("\n%", from);
  return at == kNone ? kNone : at + 1;
}

std::size_t YamlSource::FindKeyWithoutColon(std::size_t at) const {
  const auto begin_of_line = [this](std::size_t of) { return of == 0 ? 0 : text_.rfind('\n', of - 1) + 1; };
  std::size_t line = begin_of_line(std::min(at, text_.size()));
  const std::size_t in = text_.find_first_not_of(kBlanks, line) - line;
  while (line > 0) {
    const std::size_t end = line - 1;
    line = begin_of_line(end);
    const std::size_t first = std::min(text_.find_first_not_of(kBlanksAndEnds, line), end);
    if (first == end || text_[first] == '#') continue;
    if (first - line != in || Has("-?'\"", text_[first])) return kNone;
    for (std::size_t i = first; i < end; ++i) {
      if (text_[i] == ':' && Has(kBlanksAndEnds, text_[i + 1])) return kNone;
    }
    return first;
  }
  return kNone;
}

bool YamlSource::LacksBlank(std::size_t at) const {
  return at > 0 && CharAt(at - 1) == ':' && (CharAt(at) == '[' || CharAt(at) == '{');
}

void YamlSource::PutBlank(std::size_t at) {
  text_.insert(at, 1, ' ');
  blanks_.push_back(at);
}

}  // namespace fairlead::internal
