// Percent-encoding.
#include "fairlead/tests/fuzz/fuzz.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/utf8.h"

namespace fairlead::fuzz {

void Try(std::string_view input) {
  const std::string text(input);
  const std::string encoded = PercentEncode(text);
  const absl::StatusOr<std::string> back = PercentDecode(encoded, MalformedUtf8::kReject);
  FUZZ_EXPECT(back.ok() == IsUtf8(text) && (!back.ok() || *back == text), encoded);
  const absl::StatusOr<std::string> replaced = PercentDecode(encoded, MalformedUtf8::kReplace);
  std::string expected;
  AppendReplacingMalformed(text, expected);
  FUZZ_EXPECT(replaced.ok() && *replaced == expected, encoded);

  for (const MalformedUtf8 malformed : {MalformedUtf8::kReplace, MalformedUtf8::kReject}) {
    const absl::StatusOr<std::string> decoded = PercentDecode(text, malformed);
    if (!decoded.ok()) {
      FUZZ_EXPECT(absl::IsInvalidArgument(decoded.status()) && decoded.status().message().size() < 600, text);
      continue;
    }
    FUZZ_EXPECT(decoded->size() <= 3 * text.size(), text);
    if (text.find('%') == text.npos && text.find('+') == text.npos) FUZZ_EXPECT(*decoded == text, text);
    if (!IsUtf8(*decoded)) continue;  // bytes that are not escaped pass through
    const absl::StatusOr<std::string> again = PercentDecode(PercentEncode(*decoded), malformed);
    FUZZ_EXPECT(again.ok() && *again == *decoded, text);
  }
}

}  // namespace fairlead::fuzz
