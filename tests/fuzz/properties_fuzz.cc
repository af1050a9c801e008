// Files in the form of java.util.Properties: the list cache.
#include "fairlead/registry/java_properties.h"
#include "fairlead/tests/fuzz/fuzz.h"
#include "fairlead/url/utf8.h"

namespace fairlead::fuzz {

void Try(std::string_view input) {
  const std::string text(input);
  const absl::StatusOr<internal::Properties> read = internal::ParseProperties(text);
  if (!read.ok()) {
    FUZZ_EXPECT(absl::IsInvalidArgument(read.status()) && text.find("\\u") != text.npos, read.status().ToString());
  } else {
    std::string written;
    for (const auto& [key, value] : *read) {
      FUZZ_EXPECT(IsUtf8(key) && IsUtf8(value), text);
      internal::AppendProperty(key, value, written);
    }
    const absl::StatusOr<internal::Properties> again = internal::ParseProperties(written);
    FUZZ_EXPECT(again.ok() && *again == *read, text + "\nis written as\n" + written);
  }
  // Any text may be a value.
  std::string written, expected;
  internal::AppendProperty(text, text, written);
  AppendReplacingMalformed(text, expected);
  const absl::StatusOr<internal::Properties> back = internal::ParseProperties(written);
  FUZZ_EXPECT(back.ok() && *back == (internal::Properties{{expected, expected}}), written);
}

}  // namespace fairlead::fuzz
