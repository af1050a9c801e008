#include "fairlead/routing/condition/condition_rule.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

constexpr std::size_t kShownText = 200;

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsOperator(char c) { return c == '&' || c == '!' || c == '=' || c == ','; }

// String.trim of Java: everything up to the blank.
std::string_view Trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

struct Token {
  std::string_view separator, content;
  std::size_t offset = 0;  // of the separator
};

// The next content and the operators right in front of it (blanks may stand between). Operators that no content
// follows are passed over. Each character is looked at a bounded number of times.
bool NextToken(std::string_view text, std::size_t& at, Token& token) {
  std::size_t content = at;
  while (content < text.size() && (IsSpace(text[content]) || IsOperator(text[content]))) ++content;
  if (content == text.size()) return false;
  std::size_t end = content;
  while (end < text.size() && !IsSpace(text[end]) && !IsOperator(text[end])) ++end;
  std::size_t separator_end = content;
  while (separator_end > at && IsSpace(text[separator_end - 1])) --separator_end;
  std::size_t separator = separator_end;
  while (separator > at && IsOperator(text[separator - 1])) --separator;
  token = {text.substr(separator, separator_end - separator), text.substr(content, end - content), separator};
  at = end;
  return true;
}

// "arguments[3].x" -> 3. The part up to the first dot must contain `name[digits]`.
std::optional<std::size_t> ArgumentIndex(std::string_view key) {
  key = key.substr(0, key.find('.'));
  for (std::size_t at = key.find("arguments["); at != std::string_view::npos; at = key.find("arguments[", at + 1)) {
    const std::size_t begin = at + 10;
    std::size_t end = begin;
    std::size_t value = 0;
    bool too_large = false;
    while (end < key.size() && key[end] >= '0' && key[end] <= '9') {
      value = value * 10 + static_cast<std::size_t>(key[end] - '0');
      too_large |= value > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
      if (too_large) value = 0;
      ++end;
    }
    if (end > begin && end < key.size() && key[end] == ']') {
      return too_large ? std::nullopt : std::optional<std::size_t>(value);
    }
  }
  return std::nullopt;
}

// "attachments[user]" -> user. A dot cuts the key, so a dotted name is unreadable, as in Java.
std::optional<std::string> AttachmentName(std::string_view key) {
  key = key.substr(0, key.find('.'));
  const std::size_t at = key.find("attachments[");
  const std::size_t close = key.rfind(']');
  if (at == std::string_view::npos || close == std::string_view::npos || close <= at + 12) return std::nullopt;
  return std::string(key.substr(at + 12, close - at - 12));
}

KeyCondition MakeKey(std::string_view key, bool when) {
  KeyCondition made;
  made.key = key;
  if (key.starts_with("attachments")) {
    made.source = KeyCondition::Source::kAttachment;
    made.attachment = AttachmentName(key);
  } else if (key.starts_with("arguments")) {
    made.source = KeyCondition::Source::kArgument;
    made.argument = ArgumentIndex(key);
  } else if (when && (key == "method" || key == "methods")) {
    made.source = KeyCondition::Source::kMethod;
  }
  return made;
}

std::string_view WithoutPrefix(std::string_view key) {
  for (const std::string_view prefix : {std::string_view("consumer."), std::string_view("provider.")}) {
    if (key.starts_with(prefix)) return key.substr(prefix.size());
  }
  return key;
}

absl::Status Reject(std::string_view side, const Token& token, std::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "condition rule '", ToAbsl(side.substr(0, kShownText)), side.size() > kShownText ? "..." : "", "': at offset ",
      token.offset, ", before '", ToAbsl(token.content.substr(0, kShownText)), "', '",
      ToAbsl(token.separator.substr(0, 20)), "' is not ", ToAbsl(expected)));
}

absl::StatusOr<std::vector<KeyCondition>> ParseSide(std::string_view side, bool when, Compat compat) {
  // A key written again replaces the earlier one, but a comma list may still go on filling what was replaced.
  std::deque<KeyCondition> made;
  std::map<std::string_view, KeyCondition*> by_key;
  KeyCondition* current = nullptr;
  std::vector<ValuePattern>* values = nullptr;
  std::size_t at = 0;
  Token token;
  while (NextToken(side, at, token)) {
    if (token.separator.empty() || token.separator == "&") {
      const std::string_view key = compat == Compat::kFixed ? WithoutPrefix(token.content) : token.content;
      KeyCondition*& known = by_key[key];
      if (known == nullptr || token.separator.empty()) {
        made.push_back(MakeKey(key, when));
        known = &made.back();
      }
      current = known;
    } else if (token.separator == "=" || token.separator == "!=") {
      if (current == nullptr) return Reject(side, token, "expected here: a key must come first");
      values = token.separator == "=" ? &current->matches : &current->mismatches;
      values->emplace_back(token.content, when);
    } else if (token.separator == ",") {
      if (values == nullptr || values->empty()) return Reject(side, token, "expected here: a value must come first");
      values->emplace_back(token.content, when);
    } else {
      return Reject(side, token, "an operator; expected one of & = != ,");
    }
  }
  std::vector<KeyCondition> keys;
  for (const auto& [key, condition] : by_key) keys.push_back(std::move(*condition));
  return keys;
}

}  // namespace

bool KeyCondition::Holds(std::string_view value) const {
  const auto hits = [&](const ValuePattern& pattern) { return pattern.Matches(value); };
  if (matches.empty() && mismatches.empty()) return false;
  if (std::any_of(mismatches.begin(), mismatches.end(), hits)) return false;
  return matches.empty() || std::any_of(matches.begin(), matches.end(), hits);
}

absl::StatusOr<ConditionRule> ConditionRule::Parse(std::string_view text, Compat compat) {
  if (Trim(text).empty()) {
    return absl::InvalidArgumentError("condition rule: the text is empty; expected 'conditions => conditions'");
  }
  std::string erased(text);
  if (compat == Compat::kStrict) {
    erased = absl::StrReplaceAll(erased, {{"consumer.", ""}});
    erased = absl::StrReplaceAll(erased, {{"provider.", ""}});
  }
  const std::string_view whole = erased;
  const std::size_t arrow = whole.find("=>");
  const std::string_view when = arrow == std::string_view::npos ? std::string_view() : Trim(whole.substr(0, arrow));
  const std::string_view then = Trim(arrow == std::string_view::npos ? whole : whole.substr(arrow + 2));

  ConditionRule rule;
  rule.text = text;
  if (!when.empty() && when != "true") {
    auto side = ParseSide(when, true, compat);
    if (!side.ok()) return side.status();
    rule.when = *std::move(side);
  }
  rule.blocks = then.empty() || then == "false";
  if (!rule.blocks) {
    auto side = ParseSide(then, false, compat);
    if (!side.ok()) return side.status();
    rule.then = *std::move(side);
  }
  return rule;
}

}  // namespace fairlead
