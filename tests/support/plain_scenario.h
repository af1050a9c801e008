#ifndef FAIRLEAD_TESTS_SUPPORT_PLAIN_SCENARIO_H_
#define FAIRLEAD_TESTS_SUPPORT_PLAIN_SCENARIO_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/support/plain_rules.h"

namespace fairlead {

// A random consumer, its providers, rules and calls: as the texts that a directory is told, and as data that plain rules
// are decided on.
class Scenario {
 public:
  static constexpr std::array<const char*, 4> kMethods = {"", "find", "findAll", "save"};

  explicit Scenario(std::uint64_t seed) : random_(Mix64(seed)) {}

  void Consumer() {
    consumer_text = "consumer://10.0.0.9/com.acme.Orders?application=shop";
    consumer = {{"application", "shop"}, {"host", "10.0.0.9"}, {"side", "consumer"}};
    if (Chance(60)) Parameter("region", Region(), consumer_text, consumer);
    if (Chance(30)) Parameter("level", Number(5), consumer_text, consumer);
  }
  void Providers() {
    for (std::uint64_t i = 0, n = random_.Below(8); i < n; ++i) {
      std::string text = "10.0.0." + std::to_string(i) + "?pid=1";
      PlainUrl plain{{"protocol", "dubbo"}, {"host", "10.0.0." + std::to_string(i)}, {"port", "20880"},
                     {"address", "10.0.0." + std::to_string(i) + ":20880"}, {"application", "orders"}};
      if (Chance(75)) Parameter("region", Region(), text, plain);
      if (Chance(50)) Parameter("level", Number(12), text, plain);
      if (Chance(30)) Parameter("weight", Number(9), text, plain);
      if (Chance(30)) Parameter("loadbalance", Chance(50) ? "leastactive" : "consistenthash", text, plain);
      if (Chance(20)) Parameter("find.loadbalance", "roundrobin", text, plain);
      if (Chance(20)) Parameter("save.weight", Number(4), text, plain);
      provider_texts.push_back(std::move(text));
      providers.push_back(std::move(plain));
    }
  }
  void Rules() {
    for (std::uint64_t n = random_.Below(5); n > 0; --n) rules.push_back(Rule());
    // What the registry lists, and the order in which it decides.
    listed_rules = rules;
    std::stable_sort(rules.begin(), rules.end(),
                     [](const PlainRule& a, const PlainRule& b) { return a.priority < b.priority; });
  }

  struct Call {
    std::size_t method;
    std::vector<Argument> arguments;
    std::vector<Attachment> attachments;

    std::string Describe() const {
      std::string text = "call of \"" + std::string(kMethods[method]) + "\" (";
      for (const Argument& one : arguments) {
        text += one.null ? "null, " : one.given ? '"' + std::string(one.text) + "\", " : "not given, ";
      }
      for (const Attachment& one : attachments) text += std::string(one.key) + "=" + std::string(one.value) + " ";
      return text + ")";
    }
  };
  // The texts of a call live in static arrays.
  Call AnyCall() {
    static constexpr std::array<std::string_view, 6> kTexts = {"a", "hz", "1", "4", "", "null"};
    Call call{random_.Below(kMethods.size()), {}, {}};
    for (std::uint64_t n = random_.Below(4); n > 0; --n) {
      const std::string_view text = kTexts[random_.Below(kTexts.size())];
      call.arguments.push_back({text, Chance(10), !Chance(10)});
    }
    static constexpr std::array<std::string_view, 3> kNames = {"user", "env", "other"};
    for (std::uint64_t n = Chance(40) ? 0 : random_.Below(4); n > 0; --n) {
      call.attachments.push_back({kNames[random_.Below(kNames.size())], kTexts[random_.Below(kTexts.size())]});
    }
    return call;
  }

  bool Chance(int percent) { return random_.Below(100) < static_cast<std::uint64_t>(percent); }
  std::uint64_t Below(std::uint64_t n) { return random_.Below(n); }

  std::string consumer_text;
  PlainUrl consumer;
  std::vector<std::string> provider_texts;
  std::vector<PlainUrl> providers;
  std::vector<PlainRule> rules, listed_rules;

  PlainRule::Side WhenSide() {
    static constexpr std::array<const char*, 12> kWhen = {
        "method", "method", "region", "application", "host", "nosuch", "arguments[0]", "arguments[1]", "arguments[3]",
        "attachments[user]", "attachments[env]", "level"};
    return Keys(kWhen, false);
  }
  PlainRule::Side ThenSide() {
    static constexpr std::array<const char*, 9> kThen = {"region", "region", "level", "host", "address", "port", "nosuch",
                                                         "method", "arguments[0]"};
    return Keys(kThen, true);
  }
  PlainRule Rule() {
    PlainRule rule;
    if (Chance(75)) rule.when = WhenSide();
    if (Chance(92)) rule.then = ThenSide();
    rule.force = Chance(40);
    rule.priority = static_cast<int>(random_.Below(3));
    return rule;
  }

 private:
  static void Parameter(const std::string& key, const std::string& value, std::string& text, PlainUrl& plain) {
    text += "&" + key + "=" + value;
    plain[key] = value;
  }
  template <std::size_t N>
  PlainRule::Side Keys(const std::array<const char*, N>& names, bool then) {
    static constexpr std::array<const char*, 16> kPatterns = {"hz", "sh", "h*", "*z", "*", "h*z", "a", "1",
                                                              "4", "1~5", "~3", "null", "find", "find*", "10.0.0.2", "10.0.0.*"};
    std::set<std::string> chosen;
    for (std::uint64_t n = 1 + random_.Below(2); n > 0; --n) chosen.insert(names[random_.Below(N)]);
    PlainRule::Side side;
    for (const std::string& name : chosen) {
      PlainRule::Key key{name, {}, {}};
      do {
        auto& list = Chance(65) ? key.matches : key.mismatches;
        list.push_back(then && Chance(12) ? (Chance(70) ? "$region" : "$nosuch") : kPatterns[random_.Below(kPatterns.size())]);
      } while (Chance(35));
      side.push_back(std::move(key));
    }
    return side;
  }
  std::string Number(std::uint64_t n) { return std::to_string(random_.Below(n)); }
  std::string Region() {
    static constexpr std::array<const char*, 4> kRegions = {"hz", "sh", "hangz", ""};
    return kRegions[random_.Below(kRegions.size())];
  }

  Random random_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_PLAIN_SCENARIO_H_
