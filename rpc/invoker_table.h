#ifndef FAIRLEAD_RPC_INVOKER_TABLE_H_
#define FAIRLEAD_RPC_INVOKER_TABLE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/rpc/invoker_set.h"
#include "fairlead/rpc/invoker_state.h"
#include "fairlead/rpc/slot_array.h"
#include "fairlead/rpc/slot_list.h"
#include "fairlead/rpc/slot_weights.h"
#include "fairlead/url/url.h"

namespace fairlead {

// One provider as routers and balancers see it.
struct Provider {
  CompactUrl original;  // as registered: what rules match
  Url effective;        // consumer's and configurators' parameters over it: weights and policies

  // False in a hole of a table.
  bool listed() const { return !effective.empty(); }
  // host:port as written, the text consistent hashing hashes.
  std::string address() const { return effective.Address(); }
  // The very same urls, pid and timestamp too.
  bool Is(const Provider& other) const { return original.Is(other.original) && effective.Is(other.effective); }
};

using ProviderArray = SlotArray<Provider>;

// The providers of one snapshot: flat arrays indexed by slot, with the order of the push beside them.
// Immutable once in a snapshot.
struct InvokerTable {
  ProviderArray providers;                                 // by slot
  std::vector<InvokerState*> states;                       // by slot; owned by the directory
  std::vector<Invoker*> invokers;                          // by slot: a pick without a lease reads no state
  SlotWeights weights;                                     // by slot: effective, for no particular method, at the time
  SlotList by_rank;                                        // the order of the last accepted push
};

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_INVOKER_TABLE_H_
