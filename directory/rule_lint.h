#ifndef FAIRLEAD_DIRECTORY_RULE_LINT_H_
#define FAIRLEAD_DIRECTORY_RULE_LINT_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/routing/lint/finding.h"
#include "fairlead/rpc/compat.h"
#include "fairlead/url/url.h"

namespace fairlead {

// What a text of rules is.
enum class RuleTextKind : std::uint8_t {
  kGuess,          // by its name, or else by what it looks like
  kUrl,            // route://, condition://, script://, override://, absent://; plain or percent-encoded
  kCondition,      // one rule alone: method=get* => region=hz
  kConditions,     // documents: *.condition-router
  kTags,           // *.tag-router
  kAffinity,       // *.affinity-router
  kConfigurators,  // *.configurators
  kMesh,           // *.MESHAPPRULE
  kScript,         // *.script-router
};

struct RuleText {
  std::string name;  // as the config center has it, "shop.tag-router"; may be empty
  std::string text;
  RuleTextKind kind = RuleTextKind::kGuess;
};

// What kGuess is taken for; kGuess when that cannot be told.
RuleTextKind KindOf(const RuleText& rule);

struct LintOptions {
  Compat compat = Compat::kStrict;
  // Does the host have a balancer of this name? Asked for values of `loadbalance`; without it all are right.
  std::function<bool(std::string_view name)> has_policy = nullptr;
  // When given: rules that no provider satisfies now, or that are not for this consumer, are named too.
  std::vector<Url> providers = {};
  Url consumer = {};
};

// Says what is wrong with texts of rules and what in them does not do what its author may think: each by itself, and condition
// rules with those that decide before them: a document's with each other, a service's urls and applications' documents with
// the service's document. Findings come text by text, within each by place. Nothing is applied; the parsers are those that a
// Directory uses, so an error here is one there, and in Dubbo but for what docs/rules.md lists.
//
// Never fails and never throws but for want of memory: a text of any kind gives findings. Time and memory are linear in
// the texts (and, with providers, in their number for each rule), but for the comparisons of rules with each other, which
// stop after the first few hundred and say so. At most 1000 findings a text. Thread-safe; for tools, not for the data
// plane.
std::vector<Finding> LintRules(std::span<const RuleText> rules, const LintOptions& options = {});
std::vector<Finding> LintRule(const RuleText& rule, const LintOptions& options = {});

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_RULE_LINT_H_
