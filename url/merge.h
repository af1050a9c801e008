#ifndef FAIRLEAD_URL_MERGE_H_
#define FAIRLEAD_URL_MERGE_H_

#include "fairlead/url/url_parts.h"

namespace fairlead {

// What a consumer uses for a provider: the provider's url with the consumer's parameters over it, except
// those that describe the provider (group, version, generic, release, dubbo, methods, timestamp, dubbo.tag),
// without thread-pool keys, with `remote.application` = the provider's application. Dubbo's
// DefaultProviderURLMergeProcessor.
UrlParts MergeConsumer(const UrlParts& provider, const UrlParts::Params& consumer);

}  // namespace fairlead

#endif  // FAIRLEAD_URL_MERGE_H_
