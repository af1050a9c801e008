// Lint says `error` of those rule texts of the corpus, and of no other, that the incumbent refuses or ignores.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "case_reader.h"
#include "fairlead/directory/rule_lint.h"
#include "fairlead/url/percent.h"

namespace fairlead::conformance {
namespace {

// A text and whether the incumbent's answer shows that it was refused or counts for nothing as a whole.
struct Judged {
  RuleText text;
  bool refused = false;
};

// Dubbo meets a regex that cannot be read when a provider has its parameter; here it is read with the document.
constexpr std::size_t kUnmetRegexes = 2;

bool IsUnmetRegex(const std::vector<Finding>& findings) {
  bool met = false;
  for (const Finding& finding : findings) {
    if (finding.severity != Severity::kError) continue;
    if (finding.code != "regex-syntax") return false;
    met = true;
  }
  return met;
}

bool HasError(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::kError) return true;
  }
  return false;
}

// `others`: texts of which the incumbent's answer says nothing for itself.
void Collect(const Case& c, std::vector<Judged>& judged, std::vector<RuleText>& others) {
  const Json& in = c.in;
  const Json& out = c.out;
  const auto text = [&in](const char* field) { return in.at(field).get<std::string>(); };
  if (c.kind == "condition_route_v2" || c.kind == "routing.cond") {
    if (!in.at("rule").is_string()) return;
    // The text of a rule that is not enabled is not read.
    const Json params = in.value("params", Json::object());
    const RuleText rule{"", text("rule"), RuleTextKind::kCondition};
    if (params.contains("enabled") || in.contains("enabled")) {
      others.push_back(rule);
    } else {
      judged.push_back({rule, out.is_object() && out.contains("error")});
    }
    const std::string url = "route://0.0.0.0/s.A?category=routers&rule=" + PercentEncode(text("rule"));
    others.push_back({"", url, RuleTextKind::kGuess});
    others.push_back({"", PercentEncode(url), RuleTextKind::kGuess});
  } else if (c.kind == "condition_route_yaml" || c.kind == "condition_route_multi_dest") {
    const bool none = out.at("n_condition_routers") == 0 && out.at("n_multi_routers") == 0;
    judged.push_back({{"s.A::.condition-router", text("yaml"), RuleTextKind::kGuess}, none || out.contains("parse_error")});
  } else if (c.kind == "tag_route" && in.contains("yaml")) {
    const RuleText rule{"app-p.tag-router", text("yaml"), RuleTextKind::kGuess};
    const bool refused = out.contains("parse_error") || !out.value("valid", true);
    // Dubbo meets what is wrong with a tag when it looks for its providers.
    const bool looked = !in.at("providers").empty() && out.value("enabled", true);
    if (refused || looked) {
      judged.push_back({rule, refused || !out.value("applied", true)});
    } else {
      others.push_back(rule);
    }
  } else if (c.kind == "configurators_yaml") {
    judged.push_back({{"", text("yaml"), RuleTextKind::kConfigurators}, out.contains("error")});
  } else if (c.kind == "override") {
    for (const Json& url : in.at("overrides")) others.push_back({"", url.get<std::string>(), RuleTextKind::kUrl});
  } else {
    // Of the others each field that holds a text of rules.
    static const std::map<std::string, const char*> kNames = {{"yaml", ""}, {"service_yaml", "s.A::.condition-router"},
                                                              {"app_yaml", "app.condition-router"}, {"tag_yaml", "app-p.tag-router"}};
    for (const auto& [field, name] : kNames) {
      if (in.contains(field) && in.at(field).is_string()) others.push_back({name, text(field.c_str()), RuleTextKind::kGuess});
    }
    for (const char* field : {"events", "rules", "rule", "overrides", "configurators"}) {
      if (!in.contains(field)) continue;
      const Json list = in.at(field).is_structured() ? in.at(field) : Json::array({in.at(field)});
      for (const Json& one : list) {
        if (one.is_string()) others.push_back({"", one.get<std::string>(), RuleTextKind::kGuess});
      }
    }
  }
}

TEST(LintTest, SaysErrorWhereTheIncumbentRefuses) {
  std::vector<Judged> judged;
  std::vector<RuleText> others;
  ReadCases(FAIRLEAD_CASES, [&](Case c) { Collect(c, judged, others); }, [](const std::string&) {});
  EXPECT_GT(judged.size(), 10000u);
  EXPECT_GT(others.size(), 15000u);

  std::map<std::string, int> shown, differences;
  std::size_t unmet_regexes = 0;
  for (const Judged& one : judged) {
    const std::vector<Finding> findings = LintRule(one.text);
    for (const Finding& finding : findings) {
      EXPECT_GE(finding.line, 1);
      EXPECT_GE(finding.column, 1);
      EXPECT_FALSE(finding.text.empty());
    }
    if (HasError(findings) == one.refused) continue;
    if (!one.refused && IsUnmetRegex(findings)) {
      ++unmet_regexes;
      continue;
    }
    std::string all;
    for (const Finding& finding : findings) all += finding.ToString() + "\n";
    const std::string name = std::string(one.refused ? "refused, no error: " : "error, not refused: ") + one.text.name;
    ++differences[name];
    if (++shown[name] <= 8) ADD_FAILURE() << name << "\n" << one.text.text << "\n---\n" << all;
  }
  for (const auto& [name, count] : differences) ADD_FAILURE() << count << " x " << name;
  EXPECT_EQ(unmet_regexes, kUnmetRegexes);
  for (const RuleText& text : others) LintRule(text);
}

}  // namespace
}  // namespace fairlead::conformance
