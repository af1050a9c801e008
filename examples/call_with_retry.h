#ifndef FAIRLEAD_EXAMPLES_CALL_WITH_RETRY_H_
#define FAIRLEAD_EXAMPLES_CALL_WITH_RETRY_H_

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "fairlead/directory/directory.h"

namespace toy {

struct CallResult {
  absl::StatusOr<std::string> answer;  // of the last attempt
  int attempts = 0;                    // providers that were asked; 0 = none could be picked
};

// Calls one provider of `directory`, whose invokers are TcpChannels, and, when that fails, another one, once. The
// argument is given to the pick too, for rules and hashing. Thread-safe.
CallResult CallWithRetry(const fairlead::Directory& directory, fairlead::MethodId method_id, std::string_view method,
                         std::string_view argument, std::chrono::milliseconds timeout = std::chrono::seconds(1));

}  // namespace toy

#endif  // FAIRLEAD_EXAMPLES_CALL_WITH_RETRY_H_
