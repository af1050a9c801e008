#include "fairlead/tests/support/slow_condition.h"

#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <stdexcept>

namespace fairlead {
namespace {

using Text = std::optional<std::string>;  // nullopt = null

struct Patterns {
  std::set<std::string> matches, mismatches;
};
using Side = std::map<std::string, Patterns>;

constexpr char kNotFound[] = "dubbo_internal_not_found_argument_condition_value";

void Erase(std::string& text, const std::string& word) {
  std::size_t at = 0;
  while ((at = text.find(word, at)) != text.npos) text.erase(at, word.size());
}

std::string Trimmed(const std::string& text) {
  const auto is_blank = [](char c) { return c >= 0 && c <= ' '; };
  std::size_t begin = 0, end = text.size();
  while (begin < end && is_blank(text[begin])) ++begin;
  while (end > begin && is_blank(text[end - 1])) --end;
  return text.substr(begin, end - begin);
}

// What Java calls blank: more than it trims.
bool Blank(const std::string& text) {
  static const std::regex blank("([\\t-\\r\\x1c-\\x20]|\xE1\x9A\x80|\xE2\x80[\x80-\x86\x88-\x8A\xA8\xA9]|\xE2\x81\x9F|\xE3\x80\x80)*");
  return std::regex_match(text, blank);
}

// Throws std::invalid_argument when rejected.
Side Tokenised(const std::string& text) {
  // A replaced key's patterns stay alive here: a comma list may go on filling them.
  std::vector<std::unique_ptr<Patterns>> all;
  std::map<std::string, Patterns*> side;
  Patterns* key = nullptr;
  std::set<std::string>* values = nullptr;
  static const std::regex pair("([&!=,]*)[ \\t\\n\\v\\f\\r]*([^&!=, \\t\\n\\v\\f\\r]+)");
  for (std::sregex_iterator hit(text.begin(), text.end(), pair), end; hit != end; ++hit) {
    const std::string separator = (*hit)[1], content = (*hit)[2];
    if (separator.empty() || (separator == "&" && side.count(content) == 0)) {
      all.push_back(std::make_unique<Patterns>());
      key = side[content] = all.back().get();
    } else if (separator == "&") {
      key = side[content];
    } else if (separator == "=" || separator == "!=") {
      if (key == nullptr) throw std::invalid_argument("no key");
      values = separator == "=" ? &key->matches : &key->mismatches;
      values->insert(content);
    } else if (separator == ",") {
      if (values == nullptr || values->empty()) throw std::invalid_argument("no values");
      values->insert(content);
    } else {
      throw std::invalid_argument("separator");
    }
  }
  Side result;
  for (const auto& [name, patterns] : side) result[name] = *patterns;
  return result;
}

Text UrlValue(const UrlParts& url, const std::string& key) {
  if (key == "protocol" && url.protocol) return url.protocol;
  if (key == "username" && url.username) return url.username;
  if (key == "password" && url.password) return url.password;
  if (key == "host" && url.host) return url.host;
  if (key == "port" && url.port > 0) return std::to_string(url.port);
  if (key == "path" && url.path) return url.path;
  if (key == "address" && url.host) {
    return url.port > 0 ? *url.host + ":" + std::to_string(url.port) : *url.host;
  }
  if (const std::string* parameter = url.Find(key)) return *parameter;
  return std::nullopt;
}

Text Reference(const UrlParts& consumer, const std::string& key) {
  if (key == "protocol") return consumer.protocol;
  if (key == "username") return consumer.username;
  if (key == "password") return consumer.password;
  if (key == "host") return consumer.host;
  if (key == "port") return std::to_string(consumer.port);
  if (key == "path") return consumer.path;
  if (const std::string* parameter = consumer.Find(key)) return *parameter;
  return std::nullopt;
}

// `call` is nullptr on the then side.
Text Value(const std::string& key, const UrlParts& url, const RouteCall* call) {
  const std::string before_dot = key.substr(0, key.find('.'));
  std::smatch part;
  if (key.rfind("attachments", 0) == 0) {
    if (call == nullptr || !std::regex_search(before_dot, part, std::regex("attachments\\[(.+)\\]")))
      return kNotFound;
    Text value;
    for (const Attachment& attachment : call->invocation.attachments) {
      if (attachment.key == part[1].str()) value = std::string(attachment.value);
    }
    return value;
  }
  if (key.rfind("arguments", 0) == 0) {
    if (call == nullptr || !std::regex_search(before_dot, part, std::regex("arguments\\[([0-9]+)\\]")))
      return kNotFound;
    if (part[1].length() > 9 || std::stoul(part[1].str()) >= call->invocation.arguments.size())
      return kNotFound;
    const Argument& argument = call->invocation.arguments[std::stoul(part[1].str())];
    if (argument.null) return "null";
    if (!argument.given) return kNotFound;
    return std::string(argument.text);
  }
  if (call != nullptr && (key == "method" || key == "methods")) return std::string(call->method);
  return UrlValue(url, key);
}

bool GlobMatches(const Text& pattern, const std::string& value) {
  if (pattern == "*") return true;
  const std::string text = pattern.value_or("");
  if (text.empty() || value.empty()) return text.empty() && value.empty();
  const std::size_t star = text.rfind('*');
  if (star == text.npos) return text == value;
  const std::string prefix = text.substr(0, star), suffix = text.substr(star + 1);
  return value.size() >= prefix.size() && value.compare(0, prefix.size(), prefix) == 0 &&
         value.size() >= suffix.size() &&
         value.compare(value.size() - suffix.size(), suffix.size(), suffix) == 0;
}

// Throws std::out_of_range as Integer.parseInt throws.
long JavaNumber(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return 0;
  const long number = std::stol(text);
  if (number > 2147483647) throw std::out_of_range(text);
  return number;
}

bool RangeMatches(const std::string& pattern, const std::string& value, bool when) {
  const bool otherwise = !when;
  std::vector<std::string> parts(1);
  for (const char c : pattern) {
    if (c == '~') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  while (!parts.empty() && parts.back().empty()) parts.pop_back();
  if (parts.size() < 2 || (parts[0].empty() && parts[1].empty())) return otherwise;
  try {
    const long number = JavaNumber(value);
    const long low = parts[0].empty() ? 0 : JavaNumber(parts[0]);
    const long high = parts[1].empty() ? 2147483647 : JavaNumber(parts[1]);
    return low <= number && number <= high;
  } catch (const std::out_of_range&) {
    return otherwise;
  }
}

bool Hits(const std::string& pattern, const std::string& value, const UrlParts* consumer) {
  if (pattern.find('~') != pattern.npos) return RangeMatches(pattern, value, consumer == nullptr);
  if (consumer != nullptr && pattern[0] == '$')
    return GlobMatches(Reference(*consumer, pattern.substr(1)), value);
  return GlobMatches(pattern, value);
}

// `consumer` is what references read, on the then side only; `call` exists on the when side only.
bool Holds(const Side& side, const UrlParts& url, const RouteCall* call, const UrlParts* consumer) {
  for (const auto& [key, patterns] : side) {
    const Text value = Value(key, url, call);
    if (!value) return false;
    bool matched = false, mismatched = false;
    for (const std::string& pattern : patterns.matches) matched = matched || Hits(pattern, *value, consumer);
    for (const std::string& pattern : patterns.mismatches)
      mismatched = mismatched || Hits(pattern, *value, consumer);
    if (patterns.matches.empty() && patterns.mismatches.empty()) return false;
    if (mismatched) return false;
    if (!patterns.matches.empty() && !matched) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::size_t>> SlowCondition::Route(const UrlParts& consumer,
                                                             const std::vector<UrlParts>& providers,
                                                             const RouteCall& call) const {
  if (Trimmed(rule).empty()) return std::nullopt;
  std::string text = rule;
  Erase(text, "consumer.");
  Erase(text, "provider.");
  const std::size_t arrow = text.find("=>");
  const std::string when = arrow == text.npos ? "" : Trimmed(text.substr(0, arrow));
  const std::string then = Trimmed(arrow == text.npos ? text : text.substr(arrow + 2));
  const bool every_call = Blank(when) || when == "true", nobody = Blank(then) || then == "false";

  std::vector<std::size_t> input(providers.size()), kept;
  std::iota(input.begin(), input.end(), std::size_t{0});
  try {
    const Side when_side = every_call ? Side() : Tokenised(when);
    const Side then_side = nobody ? Side() : Tokenised(then);
    if (input.empty() || !Holds(when_side, consumer, &call, nullptr)) return input;
    if (nobody) return kept;
    for (const std::size_t i : input) {
      if (!then_side.empty() && Holds(then_side, providers[i], nullptr, &consumer)) kept.push_back(i);
    }
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  return kept.empty() && !force ? input : kept;
}

}  // namespace fairlead
