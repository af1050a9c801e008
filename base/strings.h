#ifndef FAIRLEAD_BASE_STRINGS_H_
#define FAIRLEAD_BASE_STRINGS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/strings/string_view.h"
#include "fairlead/base/hash.h"

namespace fairlead {

// On Debian 12 Abseil's string_view is a class of its own. These two lines are the only bridge.
inline absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view FromAbsl(absl::string_view text) { return {text.data(), text.size()}; }

// Transparent hash for maps keyed by std::string: find() takes a std::string_view without a copy.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return HashBytes(text); }
};

// a == b, quicker where texts mostly differ: by their lengths or last letters, without a call.
inline bool SameText(std::string_view a, std::string_view b) {
  return a.size() == b.size() && (a.empty() || (a.back() == b.back() && a == b));
}

// How much of a foreign text (a rule, a url, a host's error) is shown to a person.
inline constexpr std::size_t kShownBytes = 400;

// `text`, or its beginning and its length, "route://0.0.0.0/... (1048576 bytes)", when it is longer than `most`: for
// logs, statuses and Explain, where a text from a registry may be of any length. Never cuts a UTF-8 character.
inline std::string Shortened(std::string_view text, std::size_t most = kShownBytes) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  for (int i = 0; i < 3 && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80; ++i) --end;
  std::string shown(text.substr(0, end));
  return shown.append("... (").append(std::to_string(text.size())).append(" bytes)");
}

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_STRINGS_H_
