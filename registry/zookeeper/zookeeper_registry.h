#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZOOKEEPER_REGISTRY_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZOOKEEPER_REGISTRY_H_

#include <memory>

#include "fairlead/registry/registry_backend.h"

namespace fairlead {

// Registries in ZooKeeper, in the layout of Dubbo 2.7 and 3:
//
//   zookeeper://[user:password@]host[:port][?backup=host:port,host:port][&parameters]
//
// The port defaults to 2181; IPv6 addresses stand in brackets. Parameters:
//
//   backup                more servers of the same ensemble
//   group                 the root of what is stored; default dubbo, which is /dubbo. May have several parts: a/b
//   session               ms without contact after which the server drops this client and what it registered;
//                         default 60000, at least 500. The server may change it, by default to 2 to 20 of its
//                         ticks (4 to 40 s)
//   timeout               ms that check=true waits for a first answer; default 5000
//   delay-notification    ms between two reads of a changing list of providers or consumers. Without it the wait
//                         grows from 100 ms to 1 s while changes keep coming. A first change is read at once,
//                         rules always are
//   namespace, dubbo.config-center.base-path, dubbo.config-center.root-path
//                         where the rule documents are; default /dubbo/config
//
// A path behind the address says nothing, as in Dubbo, which writes the name of its registry service there.
// Where everything lives below a chroot, say so with group=/chroot/dubbo, and of the rule documents with
// dubbo.config-center.root-path=/chroot/dubbo/config. Servers do not take a chroot along: host:port/chroot in
// `backup` is refused.
//
// Credentials are sent with the scheme `digest`, and what is created with them is for that user only. They
// cross the network in clear, as everything does: the client library that Debian ships speaks neither TLS nor
// SASL. Where that matters, connect to a local stunnel that wraps the connection.
//
// Names are resolved when a connection is sought and every 10 s until there is one; addresses that are known
// stay in use while the name service is down.
//
// A server that is down, a name that does not resolve, refused credentials and an expired session are retried
// for ever (0.5 to 30 s, with jitter). A connection on which nothing comes for two thirds of the session is
// given up, and after two sessions, at most 10 s, without a server the client starts over with the servers in another order.
// After a lost session registering anew comes first, and the reads that follow are spread over a second, at
// most 128 at a time.
//
// A registry has one session and two threads, named fl-zk-<n>, with all signals blocked, however many
// services are subscribed; while a connection is opened or closed there is a third. A path of more than 500
// 000 bytes, an absurdly long url, is refused: a server ends the connection at 1 MB. Where the server's
// jute.maxbuffer is lower, a path of more than 64 000 bytes is refused once it has ended two connections.
//
// After fork a registry made before works only in the parent; in the child every operation fails with
// kFailedPrecondition, and nothing is sent.
std::unique_ptr<RegistryFactory> MakeZookeeperRegistryFactory();

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZOOKEEPER_REGISTRY_H_
