// Files of urls, one a line.
#include <algorithm>

#include "fairlead/registry/file/file_lines.h"
#include "fairlead/tests/fuzz/fuzz.h"
#include "fairlead/url/url_pool.h"
#include "fairlead/url/utf8.h"

namespace fairlead::fuzz {

void Try(std::string_view input) {
  const std::string text(input);
  UrlPool pool;
  const internal::FileLines lines = internal::ParseFileLines(text, pool);
  std::size_t count = 0;
  std::string again;
  for (const auto& [key, urls] : lines.urls) {
    FUZZ_EXPECT(!key.service.empty() && !urls.empty(), text);
    count += urls.size();
    for (const std::string& url : urls) again += url + "\n";
  }
  FUZZ_EXPECT(count == lines.count && lines.bad.size() == std::min<std::size_t>(lines.bad_count, 100), text);
  FUZZ_EXPECT(count + lines.bad_count <= static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1, text);
  for (const internal::BadLine& line : lines.bad) FUZZ_EXPECT(line.number >= 1 && line.reason.size() < 1000, line.reason);
  // What was read is a file that says the same, unless a line's escapes stood for what no line may hold.
  if (std::any_of(again.begin(), again.end(), [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == 0x7f; })) return;
  if (!IsUtf8(again) || static_cast<std::size_t>(std::count(again.begin(), again.end(), '\n')) != count) return;
  const internal::FileLines same = internal::ParseFileLines(again, pool);
  FUZZ_EXPECT(same.count == lines.count && same.bad_count == 0, text + "\n" + again);
  for (const auto& [key, urls] : lines.urls) {
    // Blanks at the end of a parameter are not printed.
    if (key.service.find_first_of(" \t") == key.service.npos) FUZZ_EXPECT(same.urls.contains(key), text + "\n" + again);
  }
}

}  // namespace fairlead::fuzz
