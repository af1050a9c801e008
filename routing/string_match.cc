#include "fairlead/routing/string_match.h"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/rule_place.h"

namespace fairlead {
namespace {

absl::Status RegexError(const char* code, const std::string& text) {
  RulePlace kind;
  kind.code = code;
  return WithPlace(absl::InvalidArgumentError(text), kind);
}

}  // namespace

absl::StatusOr<StringMatch> StringMatch::Compile(Kinds kinds, Budget* budget) {
  StringMatch match;
  if (kinds.regex) {
    const std::string& text = *kinds.regex;
    if (text.size() > kRegexText) {
      return RegexError("regex-over-budget", absl::StrCat("the regex \"", Shortened(text, 80), "\" is longer than ",
                                                          kRegexText, " bytes"));
    }
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kRegexMemory);
    auto regex = std::make_shared<const RE2>(re2::StringPiece(text.data(), text.size()), options);
    if (!regex->ok()) {
      // Repetitions within each other whose product is above RE2's limit are refused before anything is compiled.
      const bool large = regex->error_code() == RE2::ErrorPatternTooLarge || regex->error_code() == RE2::ErrorRepeatSize;
      return RegexError(large ? "regex-over-budget" : "regex-syntax", absl::StrCat(
          "the regex \"", Shortened(text, 80), "\" ",
          large ? absl::StrCat("needs more than ", kRegexMemory, " bytes when compiled: use smaller repetitions")
                : absl::StrCat("cannot be read (", Shortened(regex->error(), 200), "); its syntax is that of RE2")));
    }
    if (budget != nullptr) {
      const std::size_t needs = static_cast<std::size_t>(std::max(regex->ProgramSize(), 0)) + Budget::kOfEach;
      if (needs > budget->left) {
        return RegexError("regex-over-budget", absl::StrCat("the regex \"", Shortened(text, 80), "\" and those before it need more than ",
                                                            Budget::kInstructions, " instructions when compiled: use fewer or "
                                                            "simpler ones"));
      }
      budget->left -= needs;
    }
    match.regex_ = std::move(regex);
  }
  match.kinds_ = std::move(kinds);
  return match;
}

bool StringMatch::Matches(std::optional<std::string_view> text) const {
  if (text) {
    if (kinds_.exact) return *text == *kinds_.exact;
    if (kinds_.prefix) return text->starts_with(*kinds_.prefix);
    if (regex_ != nullptr) return RE2::FullMatch(re2::StringPiece(text->data(), text->size()), *regex_);
    if (kinds_.wildcard) return *kinds_.wildcard == "*" || *text == *kinds_.wildcard;
  }
  if (kinds_.empty) return !text || text->empty();
  return kinds_.noempty && text && !text->empty();
}

std::string StringMatch::ToString() const {
  const std::pair<const char*, const std::optional<std::string>*> named[] = {
      {"exact", &kinds_.exact},       {"prefix", &kinds_.prefix}, {"regex", &kinds_.regex},
      {"wildcard", &kinds_.wildcard}, {"empty", &kinds_.empty},   {"noempty", &kinds_.noempty}};
  std::string text;
  for (const auto& [name, value] : named) {
    if (*value) absl::StrAppend(&text, text.empty() ? "" : ", ", name, " \"", Shortened(**value, 80), "\"");
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace fairlead
