#ifndef FAIRLEAD_URL_PERCENT_H_
#define FAIRLEAD_URL_PERCENT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fairlead {

// application/x-www-form-urlencoded in UTF-8, byte for byte as java.net.URLEncoder writes znode names:
// unchanged are a-z A-Z 0-9 . - * _, a space becomes '+', every other byte upper-case %XX. Linear.
std::string PercentEncode(std::string_view text);

// The inverse; accepts lower-case hex. kInvalidArgument names the offset of a truncated or malformed escape.
// Malformed UTF-8 is replaced by U+FFFD as Java does. Linear.
absl::StatusOr<std::string> PercentDecode(std::string_view text);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_PERCENT_H_
