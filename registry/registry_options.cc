#include "fairlead/registry/registry_options.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/url/parameter_names.h"
#include "fairlead/url/typed.h"

namespace fairlead {
namespace {

absl::StatusOr<std::int32_t> ReadInt(const Url& registry, std::string_view key, std::int32_t fallback,
                                     std::int32_t least) {
  FAIRLEAD_ASSIGN_OR_RETURN(const std::int32_t value, IntParam(registry.parts(), key, fallback));
  if (value < least) {
    return absl::InvalidArgumentError(
        absl::StrCat("registry parameter ", ToAbsl(key), "=", value, ": expected at least ", least));
  }
  return value;
}

absl::Status ReadMillis(const Url& registry, std::string_view key, std::int32_t least,
                        std::chrono::milliseconds& value) {
  const auto fallback = static_cast<std::int32_t>(value.count());
  FAIRLEAD_ASSIGN_OR_RETURN(const std::int32_t read, ReadInt(registry, key, fallback, least));
  value = std::chrono::milliseconds(read);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RegistryOptions> RegistryOptions::Parse(const Url& registry) {
  RegistryOptions options;
  options.address = absl::StrCat(ToAbsl(registry.protocol()), "://", registry.Address());
  if (registry.host().empty() && !registry.path().empty()) {
    absl::StrAppend(&options.address, "/", ToAbsl(registry.path()));
  }
  if (const std::string_view backup = registry.Param("backup"); !backup.empty()) {
    for (const std::string_view server : SplitCommaList(backup)) {
      absl::StrAppend(&options.address, ",", ToAbsl(server.substr(server.rfind('@') + 1)));
    }
  }
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "timeout", 1, options.timeout));
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "session", 1, options.session));
  options.session = std::max(options.session, kShortestSession);
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "retry.period", 1, options.retry_period));
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "missing.grace", 0, options.missing_grace));
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "resync.period", 0, options.resync_period));
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "file.interval", 0, options.file_interval));
  if (registry.BoolParam("save.file", false)) options.file_interval = std::chrono::milliseconds(0);
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "file.wait", 0, options.file_wait));
  FAIRLEAD_ASSIGN_OR_RETURN(options.retry_times,
                            IntParam(registry.parts(), "retry.times", options.retry_times));
  if (!registry.Param("delay-notification").empty()) {
    std::chrono::milliseconds window{0};
    FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, "delay-notification", 0, window));
    options.burst = BurstWindow::Limits::Fixed(window);
  }
  options.check = registry.BoolParam("check", true);
  options.registers = registry.BoolParam("register", true);
  options.subscribes = registry.BoolParam("subscribe", true);
  options.simplified = registry.BoolParam("simplified", false);
  if (const std::string_view accepts = registry.Param("accepts"); !accepts.empty()) {
    for (const std::string_view element : SplitCommaList(accepts)) options.accepts.emplace_back(element);
  }
  options.empty_protection = registry.BoolParam(names::kEnableEmptyProtection, true);
  FAIRLEAD_RETURN_IF_ERROR(ReadMillis(registry, names::kProtectMaxAge, 0, options.protect_max_age));
  options.group = std::string(registry.Param("group", "dubbo"));
  return options;
}

bool RegistryCallOptions::Accepts(std::string_view protocol) const {
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
