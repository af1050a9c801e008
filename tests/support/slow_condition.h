#ifndef FAIRLEAD_TESTS_SUPPORT_SLOW_CONDITION_H_
#define FAIRLEAD_TESTS_SUPPORT_SLOW_CONDITION_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/routing/router.h"
#include "fairlead/url/url_parts.h"

namespace fairlead {

// Condition rules as the reference tells them (strict), one sentence after the other: everything is text,
// read again for every provider. The twin that the compiled router must agree with.
struct SlowCondition {
  std::string rule;
  bool force = false;

  // The places of the providers that are left; nullopt when the rule is rejected.
  std::optional<std::vector<std::size_t>> Route(const UrlParts& consumer,
                                                const std::vector<UrlParts>& providers,
                                                const RouteCall& call) const;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_SLOW_CONDITION_H_
