#ifndef FAIRLEAD_ROUTING_MASK_H_
#define FAIRLEAD_ROUTING_MASK_H_

#include "fairlead/routing/router.h"
#include "fairlead/rpc/invoker_set.h"

namespace fairlead {

// The slots of `input` whose provider satisfies `keep(const Provider&)`.
//
// `previous`: the mask that the same `keep` gave for the last snapshot, or nullptr. With it, only
// input.changed is asked again and the rest copied as words; then bits of slots without a provider mean
// nothing, as no set that is routed holds such a slot.
template <class Keep>
InvokerSet BuildMask(const RouteInput& input, const InvokerSet* previous, Keep&& keep) {
  const auto wanted = [&input, &keep](Slot slot) {
    return slot < input.providers.size() && input.providers[slot].listed() && keep(input.providers[slot]);
  };
  if (previous == nullptr || input.changed == nullptr) {
    InvokerSet mask(input.providers.size());
    for (Slot slot = 0; slot < input.providers.size(); ++slot) {
      if (wanted(slot)) mask.Add(slot);
    }
    return mask;
  }
  InvokerSet mask = *previous;
  input.changed->ForEach([&mask, &wanted](Slot slot) {
    if (wanted(slot)) {
      mask.Add(slot);
    } else {
      mask.Remove(slot);
    }
  });
  return mask;
}

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_MASK_H_
