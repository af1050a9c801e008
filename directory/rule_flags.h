#ifndef FAIRLEAD_DIRECTORY_RULE_FLAGS_H_
#define FAIRLEAD_DIRECTORY_RULE_FLAGS_H_

#include <string>
#include <vector>

#include "fairlead/url/url_parts.h"

namespace fairlead::internal {

// Is this url of category `routers` a condition rule, by its `router` or else its protocol?
bool IsConditionRule(const UrlParts& url);

// A line for each flag of a condition rule or an override that cannot be read, naming what it is taken for:
// "force=maybe: expected true or false; false holds instead". Of one that is not enabled, for `enabled` alone.
std::vector<std::string> UnreadableFlags(const UrlParts& url);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_RULE_FLAGS_H_
