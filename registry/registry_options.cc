#include "fairlead/registry/registry_options.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

// No Java int, so it can only be the fallback.
constexpr std::int64_t kUnreadable = std::numeric_limits<std::int64_t>::min();

absl::StatusOr<std::int64_t> ReadInt(const Url& registry, std::string_view key, std::int64_t fallback,
                                     std::int64_t least) {
  const std::string_view text = registry.Param(key);
  if (text.empty()) return fallback;
  const std::int64_t value = registry.IntParam(key, kUnreadable);
  if (value == kUnreadable || value < least) {
    return absl::InvalidArgumentError(absl::StrCat("registry parameter ", ToAbsl(key), "=", ToAbsl(text),
                                                   ": expected a whole number, at least ", least));
  }
  return value;
}

absl::Status ReadMillis(const Url& registry, std::string_view key, std::int64_t least,
                        std::chrono::milliseconds& value) {
  FAIRLEAD_ASSIGN_OR_RETURN(const std::int64_t read, ReadInt(registry, key, value.count(), least));
  value = std::chrono::milliseconds(read);
  return absl::OkStatus();
}

// Dubbo's comma list: commas in a row are one, with the blanks around them; outer blanks stay, and so does an
// empty first element.
std::vector<std::string> SplitCommaList(std::string_view text) {
  std::vector<std::string> elements;
  constexpr std::string_view kBlanks = " \t\n\r\f\v";
  std::size_t begin = 0;
  while (true) {
    const std::size_t comma = text.find(',', begin);
    if (comma == std::string_view::npos) break;
    std::string_view element = text.substr(begin, comma - begin);
    const std::size_t last = element.find_last_not_of(kBlanks);
    elements.emplace_back(element.substr(0, last == std::string_view::npos ? 0 : last + 1));
    begin = text.find_first_not_of(',', comma);
    if (begin != std::string_view::npos) begin = text.find_first_not_of(kBlanks, begin);
    if (begin == std::string_view::npos) return elements;
  }
  elements.emplace_back(text.substr(begin));
  return elements;
}

}  // namespace

absl::StatusOr<RegistryOptions> RegistryOptions::Parse(const Url& registry) {
  RegistryOptions options;
  options.address = absl::StrCat(ToAbsl(registry.protocol()), "://", registry.parts().Address());
  if (const std::string_view backup = registry.Param("backup"); !backup.empty()) {
    absl::StrAppend(&options.address, ",", ToAbsl(backup));
  }
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "timeout", 1, options.timeout));
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "session", 1, options.session));
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "retry.period", 1, options.retry_period));
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "missing.grace", 0, options.missing_grace));
  constexpr std::int64_t kLeastInt = std::numeric_limits<std::int32_t>::min();
  FAIRLEAD_ASSIGN_OR_RETURN(const std::int64_t times, ReadInt(registry, "retry.times", -1, kLeastInt));
  options.retry_times = static_cast<int>(times);
  if (!registry.Param("delay-notification").empty()) {
    std::chrono::milliseconds window{0};
    FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "delay-notification", 0, window));
    options.burst = BurstWindow::Limits::Fixed(window);
  }
  options.check = registry.BoolParam("check", true);
  options.simplified = registry.BoolParam("simplified", false);
  if (const std::string_view accepts = registry.Param("accepts"); !accepts.empty()) {
    options.accepts = SplitCommaList(accepts);
  }
  options.group = std::string(registry.Param("group", "dubbo"));
  return options;
}

bool RegistryOptions::Accepts(std::string_view protocol) const {
  bool names_some = false;
  bool named = false;
  bool refused = false;
  for (const std::string& element : accepts) {
    if (element.starts_with('-')) {
      refused = refused || std::string_view(element).substr(1) == protocol;
    } else {
      names_some = true;
      named = named || element == protocol;
    }
  }
  return names_some ? named : !refused;
}

}  // namespace fairlead
