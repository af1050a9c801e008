#ifndef FAIRLEAD_DIRECTORY_POLICY_PARAMETERS_H_
#define FAIRLEAD_DIRECTORY_POLICY_PARAMETERS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/directory/snapshot.h"
#include "fairlead/url/url_params.h"

// The parameters of urls that weighing and balancing read, and what their values must be. Pure; thread-safe.
namespace fairlead::internal {

// "weight" of "weight" and of a method's "find.weight"; empty for a key that no policy reads. A view of `key`.
std::string_view PolicyKey(std::string_view key);

// "find" of "find.weight"; empty for a key that is not a method's policy parameter. A view of `key`.
std::string_view OwnMethod(std::string_view key);

// What was expected of a `weight` (method forms too), `warmup` or `timestamp` that cannot be read; empty for a number,
// for an empty value, which is as good as none, and for other keys.
std::string_view NumberExpected(std::string_view key, std::string_view value);

// What was expected of any policy parameter whose value cannot be used: a number, `hash.nodes` within its bounds, a
// list of indices, the name of a policy that `policies` knows. Empty when it can, and for keys that no policy reads.
std::string ValueExpected(std::string_view key, std::string_view value, const PolicyLookup& policies);

// The same of a value in a provider's or the consumer's own url: nodes beyond the bound are taken for as many as it
// allows there.
std::string OwnValueExpected(std::string_view key, std::string_view value, const PolicyLookup& policies);

// Takes out of `params` every setting for which `expected` has a text, and says of each "key=value is not used, expected
// text", shortened.
std::vector<std::string> TakeOutUnusable(
    UrlParams& params, const std::function<std::string(std::string_view key, std::string_view value)>& expected);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_POLICY_PARAMETERS_H_
