#ifndef FAIRLEAD_CLUSTER_INPUT_CHECKS_H_
#define FAIRLEAD_CLUSTER_INPUT_CHECKS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "fairlead/cluster/extension_registry.h"
#include "fairlead/rpc/compat.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// May `url` be registered, which its owner wrote as `text`? kInvalidArgument, naming the url without its password and the remedy, for one that
// consumers would skip: no url of its category, no host, no such port, a rule or override that cannot be read. A rule
// whose router this runtime does not have is taken: a consumer may have it.
absl::Status CheckRegistrable(const Url& url, std::string_view text, const ExtensionRegistry& extensions, Compat compat);

// Remarks of parameters whose values cannot be read and what holds instead, as UnreadableParameters has them.
std::vector<std::string> UnreadableInRegistryUrl(const Url& registry);
std::vector<std::string> UnreadableInConsumer(const Url& consumer);
std::vector<std::string> UnreadableInProvider(const Url& provider);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_CLUSTER_INPUT_CHECKS_H_
