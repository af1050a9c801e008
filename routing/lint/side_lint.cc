#include "fairlead/routing/lint/side_lint.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"
#include "fairlead/routing/lint/field_lint.h"
#include "fairlead/routing/lint/pattern_sets.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/typed.h"

namespace fairlead::internal {
namespace {

using Role = ConditionWord::Role;

// No method of Java has more parameters.
constexpr std::int32_t kMostArguments = 255;
// Of one key's values; of more, only duplicates are looked for.
constexpr std::size_t kMostValues = 64;
constexpr std::int32_t kMostPort = 65535;

// What is worth saying of one side of a rule. n log n in its words.
class SideLint {
 public:
  SideLint(const Conditions& conditions, const std::vector<ConditionWord>& words, RuleSide side,
           const ConditionFrame& frame, LintReport& report)
      : conditions_(conditions), words_(words), side_(side), of_{side, frame.compat}, frame_(frame), report_(report) {
    for (const ConditionWord& word : words_) {
      if (word.side != side_) continue;
      if (word.role == Role::kKey) {
        keys_[word.key] = word.offset;
      } else {
        values_.try_emplace({word.key, word.text}, word.offset);
      }
    }
  }

  void Run() {
    std::set<std::tuple<std::string_view, Role, std::string_view>> seen;
    for (const ConditionWord& word : words_) {
      if (word.side != side_) continue;
      LintWord(word);
      if (word.role != Role::kKey && !seen.insert({word.key, word.role, word.text}).second) {
        report_.Add("value-repeated", MarkOf(word.offset), absl::StrCat("the value ", QuotedWord(word.text), " of ", QuotedWord(word.key),
                                                                        " stands there already"));
      }
    }
    for (const KeyPatterns& key : conditions_) LintKey(key);
    LintTogether();
  }

 private:
  bool when() const { return side_ == RuleSide::kWhen; }
  std::string Holds() const { return when() ? ", so the rule is about no call" : ", so no provider satisfies the rule"; }

  YamlMark MarkOf(std::size_t offset) const { return frame_.mark(offset); }
  YamlMark MarkOfKey(std::string_view key) const {
    const auto at = keys_.find(key);
    return MarkOf(at == keys_.end() ? 0 : at->second);
  }
  YamlMark MarkOfValue(const KeyPatterns& key, std::string_view value) const {
    const auto at = values_.find({key.key, value});
    return at == values_.end() ? MarkOfKey(key.key) : MarkOf(at->second);
  }

  void LintWord(const ConditionWord& word) {
    const YamlMark mark = MarkOf(word.offset);
    if (word.role == Role::kKey) {
      if (word.replaces) {
        report_.Add("key-replaced", mark, absl::StrCat("the key ", QuotedWord(word.key), " begins anew without `&` before it, so its "
                                                       "earlier values count no more"));
      }
      if (word.text.ends_with('<') || word.text.ends_with('>')) {
        report_.Add("no-operator", mark, absl::StrCat("the key is ", QuotedWord(word.text), ", with the `", word.text.substr(word.text.size() - 1),
                                                      "`: there is no such operator"));
      }
      return;
    }
    if (word.of_earlier) {
      report_.Add("value-of-earlier-key", mark, absl::StrCat("the value ", QuotedWord(word.text), " goes to the key ",
                                                             QuotedWord(word.key), ", not to the one before it"));
    }
    if (word.text.starts_with('>')) {
      report_.Add("second-arrow", mark, absl::StrCat("the first `=>` divides the rule; this one makes the value ",
                                                     QuotedWord(word.text)));
    } else if (word.text.starts_with('<')) {
      report_.Add("no-operator", mark, absl::StrCat("the value is ", QuotedWord(word.text), ", with the `<`: there is no such operator"));
    }
    LintPattern(word, mark);
  }

  void LintPattern(const ConditionWord& word, YamlMark mark) {
    const std::string& text = word.text;
    if (text.find('~') != text.npos) {
      const ValuePattern range = ValuePattern::Compile(text, side_, frame_.compat);
      if (range.range().has_value()) {
        LintRange(text, *range.range(), mark);
      } else if (range.constant().has_value()) {
        report_.Add("range-unreadable", mark, absl::StrCat("the range ", QuotedWord(text), " cannot be understood and hits ",
                                                           *range.constant() ? "everything" : "nothing", " here"));
      }
      return;
    }
    if (text.starts_with('$')) {
      if (when()) {
        report_.Add("reference-literal", mark, absl::StrCat(QuotedWord(text), " is compared as it is; a reference to the consumer ",
                                                            "is one only after `=>`"));
      } else if (text == "$address" || text == "$") {
        report_.Add("reference-empty", mark, absl::StrCat(QuotedWord(text), " refers to nothing that a consumer has"));
      }
    }
    if (std::count(text.begin(), text.end(), '*') > 1) {
      report_.Add("one-star", mark, absl::StrCat("only the last `*` of ", QuotedWord(text), " stands for any text; those before it "
                                                 "are compared as they are"));
    }
  }

  void LintRange(std::string_view text, const ValuePattern::Bounds& bounds, YamlMark mark) {
    const std::size_t tilde = text.find('~'), second = std::min(text.find('~', tilde + 1), text.size());
    for (const std::string_view bound : {text.substr(0, tilde), text.substr(tilde + 1, second - tilde - 1)}) {
      if (bound.find_first_not_of("0123456789") == bound.npos) continue;
      return report_.Add("range-unreadable", mark, absl::StrCat(QuotedWord(bound), " of the range ", QuotedWord(text), " is no number and "
                                                                "counts as 0, as does every value that is none"));
    }
    if (second < text.size()) {
      report_.Add("range-unreadable", mark, absl::StrCat("the range ", QuotedWord(text), " ends at its second `~`; what follows is not looked at"));
    }
    if (bounds.low > bounds.high) report_.Add("range-empty", mark, absl::StrCat("the range ", QuotedWord(text), " ends before it begins"));
  }

  void LintKey(const KeyPatterns& key) {
    const YamlMark mark = MarkOfKey(key.key);
    if (key.matches.empty() && key.mismatches.empty()) {
      const bool literal = absl::EqualsIgnoreCase(key.key, "true") || absl::EqualsIgnoreCase(key.key, "false");
      report_.Add("key-without-value", mark,
                  absl::StrCat("the key ", QuotedWord(key.key), " has no value and never holds", Holds(),
                               literal ? " (only `true` alone before `=>`, and `false` alone after it, mean something)" : ""));
      return;
    }
    LintKeyName(key, mark);
    LintValues(key);
    if (NeverHolds(key, of_)) {
      const bool not_any = std::any_of(key.mismatches.begin(), key.mismatches.end(),
                                       [&](const std::string& text) { return HitsEverything(text, of_); });
      report_.Add("never-holds", mark, absl::StrCat("the key ", QuotedWord(key.key), not_any ? " excludes every value" :
                                                    " has no value that it does not exclude itself", Holds()));
    }
  }

  void LintKeyName(const KeyPatterns& key, YamlMark mark) {
    const std::string& name = key.key;
    if (name.starts_with("arguments") || name.starts_with("attachments")) {
      if (!when()) {
        report_.Add("then-reads-call", mark, absl::StrCat(QuotedWord(name), " cannot be read of a provider: `=` never holds, `!=` and "
                                                          "`= *` always do"));
      } else {
        LintCallKey(name, mark);
      }
    } else if (!when() && (name == "method" || name == "methods")) {
      report_.Add("then-method", mark, absl::StrCat(QuotedWord(name), " after `=>` is a parameter of the provider, not the invoked method",
                                                    name == "method" ? "; providers rarely have one" :
                                                                       ": the whole list is compared as one text"));
    }
    if (name == "port" || name == "host" || name == "address") LintAddress(key);
  }

  void LintCallKey(const std::string& name, YamlMark mark) {
    const std::size_t open = name.find('['), close = name.find(']');
    if (name.starts_with("attachments")) {
      if (frame_.compat == Compat::kStrict && name.find('.') != name.npos) {
        report_.Add("dotted-attachment", mark, absl::StrCat(QuotedWord(name), " is cut at its first dot and cannot be read: `=` never "
                                                            "holds, `!=` and `= *` always do"));
      } else if (open == name.npos || close == name.npos || close <= open + 1) {
        report_.Add("unreadable-key", mark, absl::StrCat(QuotedWord(name), " names no attachment: `=` never holds, `!=` and `= *` "
                                                         "always do; write `attachments[name]`"));
      }
      return;
    }
    const std::string_view before_dot = std::string_view(name).substr(0, name.find('.'));
    const std::string_view digits = open == name.npos || close == name.npos || close < open
                                        ? std::string_view()
                                        : std::string_view(name).substr(open + 1, close - open - 1);
    const bool plain = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
    const std::optional<std::int32_t> index = plain ? ParseJavaInt(digits) : std::nullopt;
    if (!index || before_dot.size() <= close) {
      report_.Add("unreadable-key", mark, absl::StrCat(QuotedWord(name), " names no argument: `=` never holds, `!=` and `= *` always "
                                                       "do; write `arguments[0]` for the first one"));
    } else if (*index >= kMostArguments) {
      report_.Add("argument-index", mark, absl::StrCat("no method has ", static_cast<std::int64_t>(*index) + 1,
                                                       " arguments; the first one is `arguments[0]`"));
    } else if (before_dot.size() < name.size()) {
      report_.Add("argument-field", mark, absl::StrCat("what follows the dot of ", QuotedWord(name), " is not looked at: the whole "
                                                       "argument is compared"));
    }
  }

  // Values of parts of urls that no url can have.
  void LintAddress(const KeyPatterns& key) {
    for (const auto* values : {&key.matches, &key.mismatches}) {
      for (const std::string& value : *values) {
        if (IsReferenceOn(value, side_)) continue;
        const bool excludes = values == &key.mismatches;
        const auto say = [&](std::string_view why, bool hits) {
          report_.Add("no-such-address", MarkOfValue(key, value),
                      absl::StrCat(QuotedWord(value), " ", ToAbsl(why), ": ", hits ? excludes ? "it excludes everybody" : "it always hits"
                                                                                 : excludes ? "it excludes nobody" : "it never hits"));
        };
        if (value.find('~') != value.npos) {
          const auto bounds = ValuePattern::Compile(value, side_, frame_.compat).range();
          // That nothing can be read of it has been said, as has that it is empty.
          if (key.key == "port" || !bounds.has_value() || bounds->low > bounds->high) continue;
          say("is a range of numbers, and what is no number counts as 0", bounds->low <= 0);
        } else if (const char* why = WhyNever(key.key, value); why != nullptr) {
          say(why, false);
        }
      }
    }
  }

  // A host or an address without `~`, or a port.
  const char* WhyNever(std::string_view key, std::string_view value) const {
    if (key == "port") {
      const std::optional<std::int32_t> port = ParseJavaInt(value);
      const bool plain = port && *port >= 1 && *port <= kMostPort && std::to_string(*port) == value;
      return plain || value.find('*') != value.npos ? nullptr : "is no port as urls have them";
    }
    if (value.find('*') != value.npos) {
      if (value.find('/') != value.npos) return "has a `/`, and no host has one";
      const bool may_be_v6 = value.starts_with('[') || value.starts_with('*') || value.ends_with(']');
      return key == "host" && value.find(':') != value.npos && !may_be_v6 ? "has a port, and a host has none" : nullptr;
    }
    if (key == "host") return WhyNoHost(value);
    const bool has_port = value.find(':', value.starts_with('[') ? value.find(']') : 0) != value.npos;
    return !when() && !has_port ? "has no port, and a provider's address has one" : WhyNoAddress(value);
  }

  void LintValues(const KeyPatterns& key) {
    if (key.matches.size() + key.mismatches.size() > kMostValues) return;
    const bool never = NeverHolds(key, of_);
    for (const std::string& value : key.matches) {
      const auto excluded = std::find_if(key.mismatches.begin(), key.mismatches.end(),
                                         [&](const std::string& no) { return fairlead::internal::Covers(no, value, of_); });
      if (excluded != key.mismatches.end() && !never) {
        report_.Add("value-excluded", MarkOfValue(key, value), absl::StrCat("the value ", QuotedWord(value), " of ", QuotedWord(key.key),
                                                                              " is excluded by `!= `", QuotedWord(*excluded)));
      }
    }
    for (std::size_t i = 0; i < key.matches.size(); ++i) {
      for (std::size_t j = 0; j < key.matches.size(); ++j) {
        const std::string &part = key.matches[i], &whole = key.matches[j];
        if (part == whole || HitsNothing(part, of_) || !fairlead::internal::Covers(whole, part, of_)) continue;
        report_.Add("value-covered", MarkOfValue(key, part),
                    absl::StrCat("the value ", QuotedWord(part), " of ", QuotedWord(key.key), " adds nothing to ", QuotedWord(whole)));
        break;
      }
    }
  }

  // Keys that read the same thing and leave each other nothing.
  void LintTogether() {
    const auto find = [&](std::string_view name) {
      const auto at = std::find_if(conditions_.begin(), conditions_.end(), [&](const KeyPatterns& key) { return key.key == name; });
      return at == conditions_.end() ? nullptr : &*at;
    };
    const KeyPatterns *method = find("method"), *methods = find("methods");
    if (when() && method != nullptr && methods != nullptr && Disjoint(*method, *methods, of_)) {
      report_.Add("never-holds", MarkOfKey("methods"), absl::StrCat("`method` and `methods` both ask for the invoked method, and no ",
                                                                    "method satisfies both", Holds()));
    }
    const KeyPatterns *address = find("address"), *host = find("host"), *port = find("port");
    if (address == nullptr || address->matches.empty() || (host == nullptr && port == nullptr)) return;
    const bool plain = std::all_of(address->matches.begin(), address->matches.end(), [](const std::string& text) {
      return text.find_first_of("*~$") == text.npos && text.find(':') != text.npos;
    });
    if (!plain) return;
    const auto fits = [&](const KeyPatterns* key, std::string_view value) {
      if (key == nullptr || key->matches.empty()) return true;
      return std::any_of(key->matches.begin(), key->matches.end(), [&](const std::string& pattern) {
        return IsReferenceOn(pattern, side_) || fairlead::internal::Covers(pattern, value, of_);
      });
    };
    const bool possible = std::any_of(address->matches.begin(), address->matches.end(), [&](const std::string& text) {
      const std::size_t colon = text.rfind(':');
      return fits(host, std::string_view(text).substr(0, colon)) && fits(port, std::string_view(text).substr(colon + 1));
    });
    if (!possible) {
      report_.Add("never-holds", MarkOfKey("address"), absl::StrCat("`address` contradicts `host` or `port`", Holds()));
    }
  }

  const Conditions& conditions_;
  const std::vector<ConditionWord>& words_;
  const RuleSide side_;
  const PatternContext of_;
  const ConditionFrame& frame_;
  LintReport& report_;
  std::map<std::string_view, std::size_t> keys_;                                  // where each was written last
  std::map<std::pair<std::string_view, std::string_view>, std::size_t> values_;   // of a key, where written first
};

}  // namespace

std::string QuotedWord(std::string_view text) { return absl::StrCat("`", Shortened(Redacted(text), 80), "`"); }

void LintSide(const Conditions& conditions, const std::vector<ConditionWord>& words, RuleSide side,
              const ConditionFrame& frame, LintReport& report) {
  SideLint(conditions, words, side, frame, report).Run();
}

}  // namespace fairlead::internal
