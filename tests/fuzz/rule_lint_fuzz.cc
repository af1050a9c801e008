// What lint says of texts of rules: each kind by itself, and two rule urls with each other. Script rules in the form of urls,
// which no parser of their own reads, come this way too.
#include "fairlead/directory/rule_lint.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "fairlead/routing/yaml/affinity_document.h"
#include "fairlead/routing/yaml/configurator_document.h"
#include "fairlead/routing/yaml/mesh_document.h"
#include "fairlead/routing/yaml/script_document.h"
#include "fairlead/routing/yaml/tag_document.h"
#include "fairlead/tests/fuzz/document.h"

namespace fairlead::fuzz {
namespace {

LintOptions InUsualWorld() {
  LintOptions options;
  const RoutedWorld& world = RoutedWorld::Usual();
  for (const Slot slot : world.by_rank) options.providers.push_back(world.providers[slot].original);
  options.consumer = world.consumer;
  return options;
}

bool Known(std::string_view code) {
  static const std::set<std::string_view> codes = [] {
    std::set<std::string_view> all;
    for (const LintCode& one : LintCodes()) all.insert(one.code);
    return all;
  }();
  return codes.contains(code);
}

// Places are of the text, in their order; nothing is too long to be read.
void CheckFindings(const std::vector<Finding>& findings, const std::vector<RuleText>& rules) {
  std::vector<int> lines;
  for (const RuleText& rule : rules) lines.push_back(1 + static_cast<int>(std::count(rule.text.begin(), rule.text.end(), '\n')));
  for (const Finding& one : findings) {
    const std::string said = one.ToString() + "\nof\n" + rules[std::min(one.rule, rules.size() - 1)].text;
    FUZZ_EXPECT(one.rule < rules.size() && Known(one.code), said);
    FUZZ_EXPECT(one.line >= 1 && one.column >= 1, said);
    FUZZ_EXPECT(one.text.size() < 2000, said);
    // YAML knows more ends of lines than one, and what is missing at the end is there.
    const int ends = static_cast<int>(std::count(rules[one.rule].text.begin(), rules[one.rule].text.end(), '\r'));
    const bool plain = rules[one.rule].text.find('\xC2') == std::string::npos && rules[one.rule].text.find('\xE2') == std::string::npos;
    FUZZ_EXPECT(!plain || one.line <= lines[one.rule] + ends + 1, said);
  }
  const auto before = [](const Finding& a, const Finding& b) {
    return a.rule != b.rule ? a.rule < b.rule : a.line != b.line ? a.line < b.line : a.column < b.column;
  };
  FUZZ_EXPECT(findings.size() > 1000 || std::is_sorted(findings.begin(), findings.end(), before), rules.front().text);
}

// Lint says error of what the parser refuses.
template <class Parsed>
void CheckError(const Parsed& parsed, RuleTextKind kind, const std::string& text) {
  if (parsed.ok()) return;
  const std::vector<Finding> findings = LintRule({"", text, kind});
  const bool error = std::any_of(findings.begin(), findings.end(), [](const Finding& one) { return one.severity == Severity::kError; });
  FUZZ_EXPECT(error, text + "\n" + parsed.status().ToString());
}

}  // namespace

void Try(std::string_view input) {
  static const LintOptions world = InUsualWorld();
  const std::string text(input);
  constexpr RuleTextKind kKinds[] = {RuleTextKind::kGuess,        RuleTextKind::kUrl,  RuleTextKind::kCondition,
                                     RuleTextKind::kConditions,   RuleTextKind::kTags, RuleTextKind::kAffinity,
                                     RuleTextKind::kConfigurators, RuleTextKind::kMesh, RuleTextKind::kScript};
  for (const RuleTextKind kind : kKinds) {
    const std::vector<RuleText> rules{{"orders.tag-router", text, kind}, {"", text, kind}};
    CheckFindings(LintRules(rules), rules);
    CheckFindings(LintRules(rules, world), rules);
  }
  CheckError(ParseTagDocument(text, Compat::kStrict), RuleTextKind::kTags, text);
  CheckError(ParseAffinityDocument(text), RuleTextKind::kAffinity, text);
  CheckError(ParseConfiguratorDocument(text, Compat::kStrict), RuleTextKind::kConfigurators, text);
  CheckError(ParseMeshDocument(text, Compat::kStrict), RuleTextKind::kMesh, text);
  CheckError(ParseScriptDocument(text), RuleTextKind::kScript, text);
}

}  // namespace fairlead::fuzz
