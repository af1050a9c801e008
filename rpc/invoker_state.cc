#include "fairlead/rpc/invoker_state.h"

#include "fairlead/rpc/lease.h"

namespace fairlead {

static_assert(sizeof(InvokerState) == 64, "one cache line per provider, so that picks of two do not meet");

}  // namespace fairlead
