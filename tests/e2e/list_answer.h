#ifndef FAIRLEAD_TESTS_E2E_LIST_ANSWER_H_
#define FAIRLEAD_TESTS_E2E_LIST_ANSWER_H_

#include <string>

#include "fairlead/directory/directory.h"
#include "fairlead/tests/conformance/runner.h"

// What a consumer answers at a `list` step, in the words of the traces, and how it is compared.
namespace fairlead::e2e {

using conformance::Json;

// {"kind", "invokers", "consumer_params"}: who is left for the call of `invocation` ({"method", "arguments",
// "attachments"}), sorted. `service`: the consumer's interface.
Json AnswerOf(Directory& directory, const std::string& service, const Json& invocation);

// Says the trace the same as `got` does? Invokers are a multiset, of all groups together where Java bundles them by
// group; `forbidden` is `empty`. `params.application` is not compared: Java shows the provider's until some configurator
// touched the url and the consumer's from then on, while `remote_application`, which is, tells them apart. Nor is the weight
// of a sole invoker that Java cannot read: no call asks for it.
bool SameAnswer(const Json& expected, const Json& got);

// `got` with `expected`'s word for the weights that Java fails to read, in place of ours.
Json WithoutWeights(Json got, const Json& expected);

// Lines of what only one of the two has.
std::string Difference(const Json& expected, const Json& got);

}  // namespace fairlead::e2e

#endif  // FAIRLEAD_TESTS_E2E_LIST_ANSWER_H_
