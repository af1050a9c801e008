#ifndef FAIRLEAD_REGISTRY_REDIS_REDIS_REGISTRY_H_
#define FAIRLEAD_REGISTRY_REDIS_REDIS_REGISTRY_H_

#include <memory>

#include "fairlead/registry/registry_backend.h"

namespace fairlead {

// Registries in Redis, in the layout of Dubbo 2.6 and 2.7:
//
//   redis://[:password@]host[:port][?backup=host:port,host:port][&parameters]
//
// The port defaults to 6379; IPv6 addresses stand in brackets. Parameters:
//
//   backup                more servers
//   cluster               what several servers are. failover (default): everything is at the first that works, in the
//                         order written. replicate: everything is written to all, and read from one that works
//   db.index              the database; default 0. Messages know no databases: keep other registries apart by `group`
//   group                 the root of what is stored; default dubbo, which is /dubbo/
//   session               ms after which an entry expires that nobody extends; default 60000, at least 500. Extended at half
//                         of it
//   timeout               ms that check=true waits for a first answer; default 5000
//   connection.timeout    ms to connect; default 2000
//   so.timeout            ms within which a server must say something while it owes an answer; default 2000
//   reconnect.period      about the longest wait in ms between two attempts to connect; default 3000
//   delay-notification    ms between two reads of a changing list of providers or consumers. Without it the wait grows
//                         from 100 ms to 1 s while changes keep coming. A first change is read at once, rules always are
//
// The user name is not used, as in Dubbo. Password and data cross the network in clear; where that matters, connect to a
// local stunnel. Redis Sentinel and Redis Cluster are not spoken: redis-client=sentinel and redis-client=cluster are
// refused, and so is a server that says it is one.
//
// Expiry is by wall clocks, those of providers and consumers. An entry counts until its time is past by this machine's
// clock, or the server's, whichever is later; where the two differ by more than an eighth of `session` that is logged. An
// entry that is extended only after it had expired has an owner with a clock behind: it is logged, and kept a session
// longer. A consumer of `*` (a console) deletes what expired more than a session ago.
//
// Rule documents are strings under <root>config/<group>/<key>; who changes one publishes anything on the channel of
// that name.
//
// A server that is down, a name that does not resolve and a server that stays silent are tried again for ever. Each
// registry has two connections to each of its servers and one thread, named fl-redis, with all signals blocked, and for
// moments others that look up names. Nothing here raises SIGPIPE.
//
// After fork a registry made before works only in the parent; in the child every operation fails with
// kFailedPrecondition, and nothing is sent.
std::unique_ptr<RegistryFactory> MakeRedisRegistryFactory();

}  // namespace fairlead

#endif  // FAIRLEAD_REGISTRY_REDIS_REDIS_REGISTRY_H_
