#ifndef FAIRLEAD_URL_PERCENT_H_
#define FAIRLEAD_URL_PERCENT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace fairlead {

// application/x-www-form-urlencoded in UTF-8, byte for byte as java.net.URLEncoder writes znode names:
// unchanged are a-z A-Z 0-9 . - * _, a space becomes '+', every other byte upper-case %XX. Linear.
std::string PercentEncode(std::string_view text);

// What becomes of escapes that give malformed UTF-8: java.net.URLDecoder replaces each piece by U+FFFD,
// Dubbo's parser of znode names refuses the text.
enum class MalformedUtf8 : std::uint8_t { kReplace, kReject };

// The inverse; accepts lower-case hex. kInvalidArgument names the offset of a truncated or malformed escape.
// Bytes that are not escaped pass through as they are. Linear.
absl::StatusOr<std::string> PercentDecode(std::string_view text,
                                          MalformedUtf8 malformed = MalformedUtf8::kReplace);

// The value of a hex digit of either case, -1 for any other character.
int HexDigit(char c);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_PERCENT_H_
