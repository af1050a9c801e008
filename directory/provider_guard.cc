#include "fairlead/directory/provider_guard.h"

#include <chrono>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"

namespace fairlead::internal {

bool ProviderGuard::OnEmpty(std::size_t held) {
  switch (protection_.OnEmpty(held)) {
    case Protection::Verdict::kForbid:
      return true;
    case Protection::Verdict::kStay:
      return false;
    case Protection::Verdict::kBegin:
      break;
  }
  config_.on_begin();
  const ProtectedList& list = *protection_.list();
  const auto age = list.until - list.since;
  config_.log->Warn("FL-3-14", config_.service,
                    absl::StrCat(config_.registry, " lists no provider any more; the last ", list.providers,
                                 " stay in use for ", std::chrono::duration_cast<std::chrono::seconds>(age).count(),
                                 " s at most"));
  timer_ = config_.executor->After(age, [this, alive = std::weak_ptr<void>(alive_)] {
    if (!alive.expired()) GiveUp("protect-max-age is over; there is no provider now");
  });
  return false;
}

bool ProviderGuard::End(Severity severity, std::string_view why) {
  const auto lasted = protection_.End();
  timer_ = Timer();
  if (!lasted.has_value()) return false;
  config_.on_end();
  config_.log->Log(severity, "FL-3-15", config_.service,
                   absl::StrCat("the protection of the last providers ended after ",
                                std::chrono::duration_cast<std::chrono::seconds>(*lasted).count(), " s: ", ToAbsl(why)));
  return true;
}

void ProviderGuard::GiveUp(std::string_view why) {
  if (End(Severity::kWarning, why)) config_.on_give_up();
}

}  // namespace fairlead::internal
