#ifndef FAIRLEAD_DIRECTORY_CONNECTION_KEY_H_
#define FAIRLEAD_DIRECTORY_CONNECTION_KEY_H_

#include <string>

#include "fairlead/url/url_parts.h"

namespace fairlead {

// What a connection to a provider depends on: protocol, credentials, address, path, and every parameter of
// the effective url that is not a policy key. Two effective urls of equal keys share an Invoker, which is
// told of the rest by Invoker::Updated; so a changed weight or tag never closes a connection.
//
// Policy keys decide who is called and how a call is treated; no transport reads them when it connects:
//   balancing        weight, warmup, loadbalance, hash.* (hash.nodes, hash.arguments)
//   fault tolerance  timeout, retries, cluster, forks, sticky, mock, actives
//   routing          tag, dubbo.tag, dubbo.force.tag, router, rule, runtime, force, priority,
//   providerAddresses, ~* lifetime         disabled, enabled, dynamic, category, check, anyhost, pid,
//   timestamp, remote.timestamp
// and the forms `method.key` and `default.key` of each. With a `methods` parameter only the methods it lists
// have method forms. `close.timeout`, `connect.timeout`, `heartbeat.timeout`, `idle.timeout`, `send.timeout`
// and `shutdown.timeout` are a transport's and count. A parameter that is not known counts: a connection made
// again without need is better than one kept that should not be.
//
// The credentials are in the key as a fingerprint only. Parameters are as they are and may hold secrets: a
// key is for comparing and for maps, not for logs. Linear in the url.
std::string ConnectionKey(const UrlParts& effective);
// All of that but host and port: what providers that share their parameters have in common.
std::string TransportKey(const UrlParts& effective);

// True when a provider must not be used at all: `disabled` decides when it is there and not empty, else
// `enabled` (default true).
bool IsDisabled(const UrlParts& effective);

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_CONNECTION_KEY_H_
