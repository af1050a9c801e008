#ifndef FAIRLEAD_CLUSTER_CONSUMER_URL_H_
#define FAIRLEAD_CLUSTER_CONSUMER_URL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "fairlead/cluster/runtime.h"
#include "fairlead/url/url.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {

// This machine's address as a registry's clients should write it: `options` has it, else what the system would use to
// reach the registry.
std::string OwnAddress(const Url& registry, const Options& options);

// The consumer's url with what Runtime::Refer adds. kInvalidArgument, kNotFound: it names no service, no providers, or
// a policy that is not known. `unused`: what of its policy parameters is left out because it cannot be used, so that a
// provider's holds.
absl::StatusOr<Url> CompleteConsumer(const std::string& text, const Url& registry, const Options& options, UrlPool& pool,
                                     std::vector<std::string>& unused);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_CLUSTER_CONSUMER_URL_H_
