#ifndef FAIRLEAD_BASE_STRINGS_H_
#define FAIRLEAD_BASE_STRINGS_H_

#include <cstddef>
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

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_STRINGS_H_
