#ifndef FAIRLEAD_DIRECTORY_CONFIGURATOR_LINT_H_
#define FAIRLEAD_DIRECTORY_CONFIGURATOR_LINT_H_

#include <string_view>

#include "fairlead/directory/rule_lint.h"
#include "fairlead/routing/lint/finding.h"
#include "fairlead/url/url_parts.h"

namespace fairlead::internal {

// What is worth saying of an `override://` or `absent://` url, or of a document of configurators.
void LintConfiguratorUrl(const UrlParts& url, const LintOptions& options, LintReport& report);
void LintConfiguratorDocument(std::string_view text, std::string_view owner, const LintOptions& options, LintReport& report);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_CONFIGURATOR_LINT_H_
