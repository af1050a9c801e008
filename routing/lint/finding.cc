#include "fairlead/routing/lint/finding.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/rule_place.h"

namespace fairlead {
namespace {

// A code that is not in the catalogue is one that a parser has and lint does not know yet; it is a remark then.
const LintCode& Known(std::string_view code) {
  const auto find = [](std::string_view name) {
    const auto codes = LintCodes();
    const auto at = std::lower_bound(codes.begin(), codes.end(), name,
                                     [](const LintCode& one, std::string_view wanted) { return one.code < wanted; });
    return at != codes.end() && at->code == name ? &*at : nullptr;
  };
  const LintCode* known = find(code);
  return known != nullptr ? *known : *find("remark");
}

const char* NameOf(Severity severity) {
  return severity == Severity::kError ? "error" : severity == Severity::kWarning ? "warning" : "info";
}

}  // namespace

std::string Finding::ToString() const {
  return absl::StrCat(line, ":", column, " ", NameOf(severity), " ", ToAbsl(code), ": ", text, remedy.empty() ? "" : "; ",
                      remedy);
}

namespace internal {

void LintReport::Add(std::string_view code, YamlMark at, std::string text) {
  Add(code, at, std::move(text), Known(code).severity);
}

void LintReport::Add(std::string_view code, YamlMark at, std::string text, Severity severity) {
  const LintCode& known = Known(code);
  std::size_t& count = count_[static_cast<std::size_t>(severity)];
  if (count == kMost) {
    ++dropped_;
    return;
  }
  ++count;
  findings_.push_back({severity, known.code, rule_, std::max(at.line, 1), std::max(at.column, 1), std::move(text),
                       std::string(known.remedy)});
}

void LintReport::AddError(const absl::Status& error, YamlMark otherwise) {
  const RulePlace place = PlaceOf(error).value_or(RulePlace());
  const YamlMark at = place.line > 0 ? YamlMark{place.line, place.column} : otherwise;
  Add(place.code.empty() ? "unreadable" : std::string_view(place.code), at, Shortened(FromAbsl(error.message())));
}

void LintReport::AddRemarks(const std::vector<YamlRemark>& remarks) {
  for (const YamlRemark& remark : remarks) Add(remark.code, remark.mark, Shortened(remark.text));
}

std::vector<Finding> LintReport::Take() {
  const auto key = [](const Finding& one) {
    return std::make_tuple(one.line, one.column, -static_cast<int>(one.severity), one.code, std::string_view(one.text));
  };
  std::sort(findings_.begin(), findings_.end(), [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
  findings_.erase(std::unique(findings_.begin(), findings_.end(),
                              [&](const Finding& a, const Finding& b) { return key(a) == key(b); }),
                  findings_.end());
  if (dropped_ > 0) {
    const std::size_t dropped = std::exchange(dropped_, 0);
    findings_.push_back({Severity::kInfo, "too-many", rule_, findings_.back().line, findings_.back().column,
                         absl::StrCat("and ", dropped, " more findings"), std::string(Known("too-many").remedy)});
  }
  return std::exchange(findings_, {});
}

TextLines::TextLines(std::string_view text) : text_(text), begins_{0} {
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos;) begins_.push_back(++at);
}

YamlMark TextLines::MarkOf(std::size_t byte) const {
  const auto line = std::upper_bound(begins_.begin(), begins_.end(), std::min(byte, text_.size())) - 1;
  return {static_cast<int>(line - begins_.begin()) + 1, static_cast<int>(std::min(byte, text_.size()) - *line) + 1};
}

std::function<YamlMark(std::size_t byte)> TextLines::InScalar(YamlMark begin, std::string_view value) const {
  const auto known = [&]() -> std::size_t {  // how many bytes of the value are written as they are
    if (begin.line < 1 || static_cast<std::size_t>(begin.line) > begins_.size()) return 0;
    const std::size_t at = begins_[static_cast<std::size_t>(begin.line - 1)] + static_cast<std::size_t>(begin.column - 1);
    if (at >= text_.size()) return 0;
    const std::string_view written = text_.substr(at + (text_[at] == '"' || text_[at] == '\'' ? 1 : 0));
    std::size_t same = 0;
    while (same < value.size() && same < written.size() && written[same] == value[same] && value[same] != '\n') ++same;
    return same;
  }();
  int first = begin.column;
  if (known > 0) {
    const std::size_t at = begins_[static_cast<std::size_t>(begin.line - 1)] + static_cast<std::size_t>(begin.column - 1);
    if (text_[at] == '"' || text_[at] == '\'') ++first;
  }
  return [begin, known, first](std::size_t byte) {
    return byte <= known && known > 0 ? YamlMark{begin.line, first + static_cast<int>(byte)} : begin;
  };
}

}  // namespace internal
}  // namespace fairlead
