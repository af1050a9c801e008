#include "fairlead/routing/condition/condition_rule.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/routing/rule_place.h"
#include "fairlead/url/redact.h"

namespace fairlead {
namespace {

bool IsSeparator(char c) { return c == '&' || c == '!' || c == '=' || c == ','; }
// The blanks of a Java regular expression; other white space is part of a word.
bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

constexpr std::string_view kPrefixes[] = {"consumer.", "provider."};

// `text` without every occurrence of one word, and where it was cut out, so that an error can name the offset
// in what the user wrote.
class Erased {
 public:
  Erased(std::string_view text, std::string_view word) : word_size_(word.size()) {
    std::size_t from = 0;
    for (std::size_t at; (at = text.find(word, from)) != text.npos; from = at + word.size()) {
      text_.append(text.substr(from, at - from));
      cuts_.push_back(text_.size());
    }
    text_.append(text.substr(from));
  }
  const std::string& text() const { return text_; }
  std::size_t Original(std::size_t offset) const {
    const auto cuts = std::upper_bound(cuts_.begin(), cuts_.end(), offset) - cuts_.begin();
    return offset + static_cast<std::size_t>(cuts) * word_size_;
  }

 private:
  std::string text_;
  std::vector<std::size_t> cuts_;  // ascending offsets in text_
  std::size_t word_size_;
};

// What becomes of the prefixes: Java erases them everywhere in a rule, also within values, and leaves them where they are
// in a side that a document keeps apart; kFixed takes them off where they begin a key.
enum class Prefixes : std::uint8_t { kErased, kTakenOff, kKept };

Prefixes OfRule(Compat compat) { return compat == Compat::kStrict ? Prefixes::kErased : Prefixes::kTakenOff; }

// The rule's text without the prefixes that are erased, knowing its way back.
class ConditionText {
 public:
  ConditionText(std::string_view given, Prefixes prefixes)
      : given_(given),
        prefixes_(prefixes),
        first_(erased() ? given : "", kPrefixes[0]),
        second_(first_.text(), kPrefixes[1]) {}
  ConditionText(const ConditionText&) = delete;

  std::string_view view() const { return erased() ? std::string_view(second_.text()) : given_; }
  Prefixes prefixes() const { return prefixes_; }
  // Where `part`, a piece of view(), stands in the text as given.
  std::size_t OffsetOf(std::string_view part) const {
    const auto offset = static_cast<std::size_t>(part.data() - view().data());
    return erased() ? first_.Original(second_.Original(offset)) : offset;
  }
  absl::Status Error(std::string_view part, std::string_view what) const {
    const std::size_t offset = OffsetOf(part);
    RulePlace place;
    place.byte = offset;
    place.code = "condition-syntax";
    return WithPlace(absl::InvalidArgumentError(absl::StrCat("condition rule \"", Redacted(given_), "\": at byte ",
                                                             offset, ": ", ToAbsl(what))),
                     place);
  }

 private:
  bool erased() const { return prefixes_ == Prefixes::kErased; }

  const std::string_view given_;
  const Prefixes prefixes_;
  const Erased first_, second_;
};

// Splits a side into (separators, word) pairs and builds the keys from them.
class SideParser {
 public:
  SideParser(const ConditionText& rule, RuleSide side, std::vector<ConditionWord>* words)
      : rule_(rule), side_(side), words_(words) {}

  absl::StatusOr<Conditions> Parse(std::string_view side) {
    std::size_t at = 0;
    while (true) {
      const std::size_t begin = at;
      while (at < side.size() && IsSeparator(side[at])) ++at;
      const std::string_view separators = side.substr(begin, at - begin);
      while (at < side.size() && IsBlank(side[at])) ++at;
      if (at == side.size()) break;
      // Separators that no word follows mean nothing, in the middle as at the end.
      if (IsSeparator(side[at])) continue;
      const std::size_t word = at;
      while (at < side.size() && !IsSeparator(side[at]) && !IsBlank(side[at])) ++at;
      FAIRLEAD_RETURN_IF_ERROR(Add(separators, side.substr(word, at - word)));
    }
    Conditions result;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (latest_.find(keys_[i].key)->second == i) result.push_back(std::move(keys_[i]));
    }
    return result;
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  absl::Status Add(std::string_view separators, std::string_view word) {
    if (separators.empty()) {
      Begin(word, /*replace=*/true);
    } else if (separators == "&") {
      Begin(word, /*replace=*/false);
    } else if (separators == "=" || separators == "!=") {
      if (key_ == kNone) {
        return rule_.Error(separators, absl::StrCat("expected a key before '", ToAbsl(separators), "'"));
      }
      values_of_ = key_;
      values_are_matches_ = separators == "=";
      AddValue(word);
    } else if (separators == ",") {
      if (values_of_ == kNone) return rule_.Error(separators, "expected '=' or '!=' and a value before ','");
      AddValue(word);
    } else {
      return rule_.Error(separators, absl::StrCat("expected one of '&', '=', '!=', ',' but found '",
                                                  ToAbsl(separators.substr(0, 16)), "'"));
    }
    return absl::OkStatus();
  }

  // The values stay where they are: in `a=1&b,c` the `c` is one more value of a.
  void Begin(std::string_view key, bool replace) {
    const std::string_view written = key;
    if (rule_.prefixes() == Prefixes::kTakenOff) {
      for (const std::string_view prefix : kPrefixes) {
        if (key.starts_with(prefix) && key.size() > prefix.size()) {
          key.remove_prefix(prefix.size());
          break;
        }
      }
    }
    const auto known = latest_.find(key);
    if (words_ != nullptr) {
      words_->push_back({side_, ConditionWord::Role::kKey, rule_.OffsetOf(written), std::string(written), std::string(key),
                         replace && known != latest_.end(), false});
    }
    if (known != latest_.end() && !replace) {
      key_ = known->second;
      return;
    }
    key_ = keys_.size();
    keys_.push_back({std::string(key), {}, {}});
    if (known != latest_.end()) {
      known->second = key_;
    } else {
      latest_.emplace(key, key_);
    }
  }

  void AddValue(std::string_view word) {
    KeyPatterns& key = keys_[values_of_];
    (values_are_matches_ ? key.matches : key.mismatches).emplace_back(word);
    if (words_ == nullptr) return;
    words_->push_back({side_, values_are_matches_ ? ConditionWord::Role::kMatch : ConditionWord::Role::kMismatch,
                       rule_.OffsetOf(word), std::string(word), key.key, false, values_of_ != key_});
  }

  const ConditionText& rule_;
  const RuleSide side_;
  std::vector<ConditionWord>* const words_;
  Conditions keys_;                                         // replaced ones included
  std::map<std::string, std::size_t, std::less<>> latest_;  // key to its place in keys_
  std::size_t key_ = kNone;
  std::size_t values_of_ = kNone;
  bool values_are_matches_ = true;
};

}  // namespace

std::string_view JavaTrim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= 0x20) text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= 0x20) text.remove_suffix(1);
  return text;
}

bool IsJavaBlank(std::string_view text) {
  // The three-byte ones, U+1680 to U+3000, without the no-break ones.
  static constexpr std::string_view kUnicodeBlanks[] = {"\u1680", "\u2000", "\u2001", "\u2002", "\u2003",
                                                        "\u2004", "\u2005", "\u2006", "\u2008", "\u2009",
                                                        "\u200a", "\u2028", "\u2029", "\u205f", "\u3000"};
  while (!text.empty()) {
    const char c = text.front();
    if (IsBlank(c) || (c >= 0x1c && c <= 0x1f)) {
      text.remove_prefix(1);
    } else if (std::any_of(std::begin(kUnicodeBlanks), std::end(kUnicodeBlanks),
                           [text](std::string_view blank) { return text.starts_with(blank); })) {
      text.remove_prefix(3);
    } else {
      return false;
    }
  }
  return true;
}

absl::StatusOr<Conditions> ParseConditions(std::string_view side, std::vector<ConditionWord>* words, RuleSide which) {
  const ConditionText rule(side, Prefixes::kKept);
  return SideParser(rule, which, words).Parse(rule.view());
}

absl::StatusOr<ConditionRule> ParseConditionRule(std::string_view text, Compat compat, std::vector<ConditionWord>* words) {
  if (JavaTrim(text).empty()) {
    RulePlace place;
    place.byte = 0;
    place.code = "condition-syntax";
    return WithPlace(absl::InvalidArgumentError("condition rule is blank: expected \"when => then\", for example "
                                                "\"method=get* => region=hangzhou\""),
                     place);
  }
  const ConditionText rule(text, OfRule(compat));
  const std::string_view all = rule.view();
  const std::size_t arrow = all.find("=>");
  const std::string_view when = arrow == all.npos ? std::string_view() : JavaTrim(all.substr(0, arrow));
  const std::string_view then = JavaTrim(arrow == all.npos ? all : all.substr(arrow + 2));

  ConditionRule result{std::string(text), {}, std::nullopt, compat};
  if (!IsJavaBlank(when) && when != "true") {
    FAIRLEAD_ASSIGN_OR_RETURN(result.when, SideParser(rule, RuleSide::kWhen, words).Parse(when));
  }
  if (!IsJavaBlank(then) && then != "false") {
    FAIRLEAD_ASSIGN_OR_RETURN(result.then, SideParser(rule, RuleSide::kThen, words).Parse(then));
  }
  return result;
}

}  // namespace fairlead
