#ifndef FAIRLEAD_ROUTING_YAML_YAML_SOURCE_H_
#define FAIRLEAD_ROUTING_YAML_YAML_SOURCE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/yaml/yaml_value.h"

namespace fairlead::internal {

// A text of YAML as yaml-cpp is given it, and what can be said of it by looking at the text alone. Where yaml-cpp's scanner
// lets something pass that Dubbo's parser (SnakeYAML) refuses, the place that yaml-cpp names is looked at here; a scanner of
// our own would be a second opinion on everything else. Positions are bytes of `text()`. Not thread-safe.
class YamlSource {
 public:
  static constexpr std::size_t kNone = std::string::npos;

  // Without a byte order mark; a carriage return that stands alone is a line's end, which yaml-cpp does not know.
  explicit YamlSource(std::string_view text);

  const std::string& text() const { return text_; }

  // Of a position whose line and column, from 0, are known; blanks that were put in do not count.
  YamlMark MarkOf(std::size_t at, int line, int column) const;
  // The same of any position. Linear in the text.
  YamlMark MarkAt(std::size_t at) const;

  // The first character that has no place in YAML: a control character. kNone when there is none.
  std::size_t FindUnprintable() const;
  // Where the text of the node that begins at `at` begins, behind its anchor and tag.
  std::size_t SkipProperties(std::size_t at) const;
  // Behind the quote that closes the one at `at`. kNone when there is none.
  std::size_t FindEndOfQuoted(std::size_t at) const;
  // Of a block scalar whose `|` or `>` is at `at`: the first character after the indicators, when it is no blank or end of
  // the line.
  std::size_t FindAfterIndicators(std::size_t at) const;
  // Whether a document that begins at `at` has a directive (`%YAML 1.1`) and no `---` behind it.
  bool LacksStart(std::size_t at) const;
  // A directive behind `from`, where none may be: yaml-cpp ends the document there. kNone when there is none.
  std::size_t FindDirective(std::size_t from) const;
  // The line before that of `at`, when it is as far in, and no colon stands in it as keys need one: its first character.
  std::size_t FindKeyWithoutColon(std::size_t at) const;
  // `a:[` in brackets or braces: there the colon ends the key, but yaml-cpp wants a blank behind it.
  bool LacksBlank(std::size_t at) const;
  // REQUIRES: `at` is not before the last one that was put in.
  void PutBlank(std::size_t at);

 private:
  char CharAt(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  std::string text_;
  std::vector<std::size_t> blanks_;  // that were put in, ascending
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_ROUTING_YAML_YAML_SOURCE_H_
