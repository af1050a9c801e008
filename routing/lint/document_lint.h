#ifndef FAIRLEAD_ROUTING_LINT_DOCUMENT_LINT_H_
#define FAIRLEAD_ROUTING_LINT_DOCUMENT_LINT_H_

#include <string_view>
#include <vector>

#include "fairlead/routing/lint/condition_lint.h"
#include "fairlead/routing/lint/finding.h"
#include "fairlead/rpc/compat.h"

// What is worth saying of one document of rules by itself. Each reads the text with the parser that routing uses. Linear in
// the text and what it stands for, but for the comparison of rules with each other, which is bounded. Never fails; hostile
// texts are findings. With a world also linear in its providers for each rule. Pure; thread-safe.
namespace fairlead::internal {

// Its rules that one can compare with those of other texts: none of a document that decides nothing.
std::vector<SequencedRule> LintConditionDocument(std::string_view text, Compat compat, const LintWorld& world, LintReport& report);
void LintTagDocument(std::string_view text, Compat compat, const LintWorld& world, LintReport& report);
void LintAffinityDocument(std::string_view text, const LintWorld& world, LintReport& report);
void LintScriptDocument(std::string_view text, LintReport& report);
void LintMeshDocument(std::string_view text, Compat compat, LintReport& report);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_ROUTING_LINT_DOCUMENT_LINT_H_
