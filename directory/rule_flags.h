#ifndef FAIRLEAD_DIRECTORY_RULE_FLAGS_H_
#define FAIRLEAD_DIRECTORY_RULE_FLAGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "fairlead/url/url_parts.h"

namespace fairlead::internal {

// Which router a url of category `routers` is for.
std::string_view RouterName(const UrlParts& url);
// Is a router of this name one that runs scripts? Dubbo's `file` is given a file with one.
bool IsScript(std::string_view router);

// Is this url of category `routers` a condition rule, by its `router` or else its protocol?
bool IsConditionRule(const UrlParts& url);

bool IsScriptRule(const UrlParts& url);

// A line for each flag of a condition rule or an override that cannot be read, naming what it is taken for:
// "force=maybe: expected true or false; false holds instead". Of one that is not enabled, for `enabled` alone.
std::vector<std::string> UnreadableFlags(const UrlParts& url);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_RULE_FLAGS_H_
