#include "fairlead/tests/support/plain_rules.h"

#include <algorithm>
#include <utility>

namespace fairlead {
namespace {

constexpr std::string_view kNoOnes = "dubbo_internal_not_found_argument_condition_value";

std::int64_t Number(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return 0;
  return std::stoll(std::string(text));
}

bool InRange(std::string_view pattern, std::string_view value) {
  const std::size_t at = pattern.find('~');
  const std::int64_t number = Number(value);
  return Number(pattern.substr(0, at)) <= number && number <= Number(pattern.substr(at + 1));
}

bool Glob(std::string_view pattern, std::string_view value) {
  if (pattern == "*") return true;
  if (pattern.empty() || value.empty()) return pattern.empty() && value.empty();
  const std::size_t star = pattern.rfind('*');
  if (star == pattern.npos) return pattern == value;
  return value.starts_with(pattern.substr(0, star)) && value.ends_with(pattern.substr(star + 1));
}

// `consumer`: whose parameters `$x` stands for; nullptr in `when`, where it is a plain text.
bool Hits(std::string_view pattern, std::string_view value, const PlainUrl* consumer) {
  if (pattern.find('~') != pattern.npos) return InRange(pattern, value);
  if (consumer != nullptr && pattern.front() == '$') {
    const auto at = consumer->find(pattern.substr(1));
    return Glob(at == consumer->end() ? std::string_view() : at->second, value);
  }
  return Glob(pattern, value);
}

bool Holds(const PlainRule::Key& key, std::optional<std::string_view> value, const PlainUrl* consumer) {
  if (!value) return false;
  const auto hits = [&](const std::string& pattern) { return Hits(pattern, *value, consumer); };
  if (std::any_of(key.mismatches.begin(), key.mismatches.end(), hits)) return false;
  return key.matches.empty() || std::any_of(key.matches.begin(), key.matches.end(), hits);
}

std::optional<std::string_view> Find(const PlainUrl& url, std::string_view key) {
  const auto at = url.find(key);
  if (at == url.end()) return std::nullopt;
  return at->second;
}

std::string_view InBrackets(std::string_view key) {
  const std::size_t open = key.find('[');
  return key.substr(open + 1, key.size() - open - 2);
}

std::optional<std::string_view> CallValue(std::string_view key, const PlainUrl& consumer, const RouteCall& call) {
  if (key == "method") {
    if (call.method.empty()) return std::nullopt;  // MethodId::kAny, which no rule about methods is about
    return call.method;
  }
  if (key.starts_with("arguments[")) {
    const auto index = static_cast<std::size_t>(Number(InBrackets(key)));
    if (index >= call.invocation.arguments.size()) return kNoOnes;
    const Argument& argument = call.invocation.arguments[index];
    if (argument.null) return "null";
    return argument.given ? argument.text : kNoOnes;
  }
  if (key.starts_with("attachments[")) {
    std::optional<std::string_view> last;
    for (const Attachment& one : call.invocation.attachments) {
      if (one.key == InBrackets(key)) last = one.value;
    }
    return last;
  }
  return Find(consumer, key);
}

void Append(std::string& text, std::string_view sign, const std::vector<std::string>& patterns) {
  for (std::size_t i = 0; i < patterns.size(); ++i) text += (i == 0 ? std::string(sign) : ",") + patterns[i];
}

}  // namespace

std::string PlainRule::Text(const Side& side) {
  std::string text;
  for (const Key& key : side) {
    if (!text.empty()) text += " & ";
    text += key.name;
    Append(text, "=", key.matches);
    Append(text, "!=", key.mismatches);
  }
  return text;
}

std::string PlainRule::Text() const {
  return (when ? Text(*when) : "true") + " => " + (then ? Text(*then) : "");
}

bool CallHolds(const PlainRule& rule, const PlainUrl& consumer, const RouteCall& call) {
  if (!rule.when) return true;
  return std::all_of(rule.when->begin(), rule.when->end(), [&](const PlainRule::Key& key) {
    return Holds(key, CallValue(key.name, consumer, call), nullptr);
  });
}

bool ProviderHolds(const PlainRule& rule, const PlainUrl& consumer, const PlainUrl& provider) {
  return std::all_of(rule.then->begin(), rule.then->end(), [&](const PlainRule::Key& key) {
    const bool of_call = key.name.starts_with("arguments[") || key.name.starts_with("attachments[");
    return Holds(key, of_call ? kNoOnes : Find(provider, key.name), &consumer);
  });
}

std::vector<std::size_t> RouteByPlainRules(const std::vector<PlainRule>& rules, const PlainUrl& consumer,
                                           const std::vector<PlainUrl>& providers, std::vector<std::size_t> input,
                                           const RouteCall& call) {
  for (const PlainRule& rule : rules) {
    if (input.empty() || !CallHolds(rule, consumer, call)) continue;
    if (!rule.then) return {};
    std::vector<std::size_t> kept;
    for (const std::size_t one : input) {
      if (ProviderHolds(rule, consumer, providers[one])) kept.push_back(one);
    }
    if (!kept.empty() || rule.force) input = std::move(kept);
  }
  return input;
}

}  // namespace fairlead
