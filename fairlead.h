#ifndef FAIRLEAD_FAIRLEAD_H_
#define FAIRLEAD_FAIRLEAD_H_

// All that a host program needs.
#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/extension_registry.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/directory/directory.h"
#include "fairlead/rpc/invocation.h"
#include "fairlead/rpc/invoker.h"
#include "fairlead/rpc/lease.h"

#endif  // FAIRLEAD_FAIRLEAD_H_
