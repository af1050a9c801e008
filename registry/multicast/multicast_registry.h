#ifndef FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_REGISTRY_H_
#define FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_REGISTRY_H_

#include <memory>

#include "fairlead/registry/registry_backend.h"

namespace fairlead {

// Registries without a server: every process of a network says to a multicast group what it registers, and asks it for what
// it subscribes to, in the text messages of Dubbo. For small sites and development machines.
//
//   multicast://224.5.6.7[:1234][?parameters]        multicast://[ff15::1234]:1234
//
// The port defaults to 1234; a group of IPv6 stands in brackets and needs its port. Parameters:
//
//   network.interface   the interface to use, by name (eth0, lo) or by one of its addresses. Default: where the system's
//                       routes lead; without any, as in a container with nothing but `lo`, it must be given
//   unicast             true (default): who asks first wants answers to itself alone, not to the group
//   reply.wait          ms that a first list waits for answers; default 1000, at most half of `timeout`. It is complete
//                       earlier when none has come for a quarter of that time after the last one
//   session             ms after which everything is asked for again, a quarter more or less; default 60000, at least
//                       500
//   clean               true (default): providers that do not answer then are probed, and dropped when they are dead
//   timeout             ms that check=true waits for a first answer; default 5000
//   delay-notification  ms between two notifications of a changing list of providers or consumers. Without it the wait grows
//                       from 100 ms to 1 s while changes keep coming; rules are told at once
//
// `group` does not tell registries apart here, as it does not in Dubbo: use another address or port.
//
// Lists. A network of single messages has no lists, so that nobody can say "these are all". What is heard is collected: a
// first list is what was answered in time, later ones follow every message. Nobody having said anything is no word about
// providers: such a list is unknown for `missing.grace` where there were some before. Only what its owner takes back is gone
// for sure. The later life of a url (its `timestamp`) replaces the earlier one, whose late `unregister` is not obeyed.
//
// Dead providers. A process that was killed takes nothing back. Once in a `session` one of the consumers asks the group
// again, and all hear the answers. Who has not answered is probed by a TCP connection to its address, which takes a second
// at most, and again after 100 ms; if both fail, this consumer drops it (FL-7-3), until it is heard of again. A consumer of
// `*` (a console) also says `unregister` to the group, as in Dubbo, where nobody else cleans. Not probed, and so never
// dropped: urls with dynamic=false, without a port, at a name instead of an address, rules and consumers.
//
// Registering. A message has 2 048 bytes, so that a url of more than 2 036 is kInvalidArgument: Dubbo's receivers would cut
// it. Everything registered is announced again when the network comes back, and when somebody else says that it is gone.
//
// Several consumers on one host all listen on the same port, and what is sent to the host alone reaches one of them, as the
// system likes. One that has got nothing of the kind after half of `reply.wait` asks again, for answers to the group: it
// works with unicast=true, but a first list may take all of `reply.wait`. Dubbo's consumers never get a list then. Give
// unicast=false where a host has several consumers.
//
// Nothing is authenticated: whoever can send to the group can announce providers. Datagrams that are no messages are
// skipped, counted (Explain) and logged once a minute (FL-7-2). At most 100 000 urls are kept.
//
// Rule documents of a config center do not exist here; rules and overrides that are registered as urls do.
//
// Each registry has a thread, named fl-multicast, with all signals blocked. After fork a registry made before works only in
// the parent; in the child every operation fails with kFailedPrecondition, and nothing is sent.
std::unique_ptr<RegistryFactory> MakeMulticastRegistryFactory();

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_MULTICAST_MULTICAST_REGISTRY_H_
