#ifndef FAIRLEAD_ROUTING_CONDITION_SELECTED_PROVIDERS_H_
#define FAIRLEAD_ROUTING_CONDITION_SELECTED_PROVIDERS_H_

#include <memory>

#include "fairlead/routing/condition/condition_matcher.h"
#include "fairlead/routing/mask.h"

namespace fairlead::internal {

// The providers that one side of a rule selects, in one snapshot. Of the providers it reads Provider::original only.
struct SelectedProviders {
  // `before`: what the same side selected in the last snapshot, or nullptr. Linear in the providers without it, or when
  // the consumer's value of a `$key` changed, else in the changed ones plus a copy of one bit per provider.
  static SelectedProviders Of(const Conditions& side, Compat compat, const RouteInput& input,
                              const SelectedProviders* before) {
    const UrlParts& consumer = input.consumer.parts();
    const bool same = before != nullptr && before->matcher != nullptr &&
                      before->matcher->references() == ProviderMatcher::References(side, consumer);
    SelectedProviders selected;
    selected.matcher = same ? before->matcher : std::make_shared<const ProviderMatcher>(side, consumer, compat);
    selected.mask = BuildMask(input, same ? &before->mask : nullptr, [&](const Provider& provider) {
      return selected.matcher->Matches(provider.original.parts());
    });
    return selected;
  }

  std::shared_ptr<const ProviderMatcher> matcher;  // nullptr: nobody asked
  InvokerSet mask;
};

// What a rule does to a call, for Explain.
inline const char* EffectOfRule(bool enabled, bool for_consumer, bool for_call, bool force) {
  return !enabled        ? " is disabled"
         : !for_consumer ? " does not apply to this consumer"
         : !for_call     ? " does not apply to this call"
         : force         ? " applies, force=true"
                         : " applies, force=false";
}

}  // namespace fairlead::internal

#endif  // FAIRLEAD_ROUTING_CONDITION_SELECTED_PROVIDERS_H_
