#ifndef FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_SOCKETS_H_
#define FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_SOCKETS_H_

#include "fairlead/base/executor.h"
#include "fairlead/registry/multicast/multicast_link.h"

namespace fairlead::internal {

// Links over UDP. An Executor cannot be asked to wait for descriptors, so that each link has a thread, named fl-multicast,
// with all signals blocked, that receives, probes, and posts what it has; it decides nothing. What waits for the executor is
// bounded: at most kMostWaiting datagrams, of which later ones are dropped, as the network may drop them.
//
// Two sockets receive: one is bound to the group's address, so that it hears of that group alone, whatever other groups
// other programs of the host have joined on its port; one hears what is sent to this host. A third one sends, from a port of
// its own, which tells this link's datagrams from those of others.
//
// `executor` must outlive the links.
MulticastOpener MulticastSockets(Executor& executor);

inline constexpr std::size_t kMostWaitingDatagrams = 4096;
inline constexpr int kMostProbes = 64;

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_SOCKETS_H_
