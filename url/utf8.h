#ifndef FAIRLEAD_URL_UTF8_H_
#define FAIRLEAD_URL_UTF8_H_

#include <string>
#include <string_view>

namespace fairlead {

// Shortest forms only, no surrogates, at most U+10FFFF. Linear.
bool IsUtf8(std::string_view text);

// Appends `text` with U+FFFD for each malformed piece, cut into pieces as Java's String does it. Linear.
void AppendReplacingMalformed(std::string_view text, std::string& out);

// Order by UTF-16 code units, which is how Java sorts strings: it differs from the order of bytes only where
// a character above U+FFFF meets one of U+E000..U+FFFF. Linear.
bool Utf16Less(std::string_view a, std::string_view b);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_UTF8_H_
