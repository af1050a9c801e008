#ifndef FAIRLEAD_ROUTING_LINT_FINDING_H_
#define FAIRLEAD_ROUTING_LINT_FINDING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "fairlead/base/log.h"
#include "fairlead/routing/yaml/yaml_parser.h"
#include "fairlead/url/url.h"

namespace fairlead {

// One thing worth saying of a text of rules. Plain value.
struct Finding {
  // kError: the text, or all that it says, counts for nothing. kWarning: it counts, and does what its author can hardly
  // mean. kInfo: worth knowing.
  Severity severity = Severity::kInfo;
  std::string_view code;     // stable, one of LintCodes(): "never-holds"
  std::size_t rule = 0;      // which of the texts given
  int line = 1, column = 1;  // of the text as given, from 1; columns count bytes
  std::string text;          // what is so; foreign texts in it are shortened, passwords are not shown
  std::string remedy;        // what to do about it

  // "3:7 warning never-holds: text; remedy"
  std::string ToString() const;
};

// A kind of finding.
struct LintCode {
  std::string_view code;
  Severity severity;        // unless a finding says otherwise
  std::string_view remedy;
};
// All of them, sorted. docs/rules.md says what each means.
std::span<const LintCode> LintCodes();

namespace internal {

// Whom rules are compared with, when that is known.
struct LintWorld {
  std::vector<Url> providers;  // as registered; none: not known
  Url consumer;                // empty: not known
};

// Collects the findings of one text, at most kMost of each severity, so that no error is left out for warnings; a last one
// then says how many more there are.
class LintReport {
 public:
  static constexpr std::size_t kMost = 1000;

  explicit LintReport(std::size_t rule = 0) : rule_(rule) {}

  // REQUIRES: LintCodes() has `code`. Says nothing twice of one place with one code and text.
  void Add(std::string_view code, YamlMark at, std::string text);
  void Add(std::string_view code, YamlMark at, std::string text, Severity severity);
  // An error of a parser. `otherwise`: its place, when it names no line itself.
  void AddError(const absl::Status& error, YamlMark otherwise);
  void AddRemarks(const std::vector<YamlRemark>& remarks);

  // Ordered by place, and in one place by gravity.
  std::vector<Finding> Take();

 private:
  const std::size_t rule_;
  std::size_t dropped_ = 0;
  std::array<std::size_t, 3> count_{};  // by severity
  std::vector<Finding> findings_;
};

// A text by lines. The text outlives it.
class TextLines {
 public:
  explicit TextLines(std::string_view text);

  // Logarithmic.
  YamlMark MarkOf(std::size_t byte) const;
  // Places of bytes of a scalar of this text that begins at `begin` and has the value `value`: `begin` itself for those
  // behind an escape or a line's end, after which the two differ. Linear in the value once; the result, which is constant
  // time, needs neither.
  std::function<YamlMark(std::size_t byte)> InScalar(YamlMark begin, std::string_view value) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> begins_;  // of each line
};

}  // namespace internal
}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_LINT_FINDING_H_
