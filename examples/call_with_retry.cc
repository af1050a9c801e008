#include "fairlead/examples/call_with_retry.h"

#include <vector>

#include "fairlead/examples/toy_rpc.h"

namespace toy {

CallResult CallWithRetry(const fairlead::Directory& directory, fairlead::MethodId method_id, std::string_view method,
                         std::string_view argument, std::chrono::milliseconds timeout) {
  constexpr int kMostAttempts = 2;
  const fairlead::Argument arguments[] = {{.text = argument}};
  std::vector<fairlead::ProviderId> tried;
  CallResult result;
  while (result.attempts < kMostAttempts) {
    absl::StatusOr<fairlead::Lease> lease = directory.Select({.method = method_id, .arguments = arguments}, tried);
    if (!lease.ok()) {
      result.answer = lease.status();
      return result;
    }
    ++result.attempts;
    tried.push_back(lease->provider_id());
    result.answer = lease->As<TcpChannel>().Call(method, argument, timeout);
    lease->End(result.answer.status());
    if (result.answer.ok()) break;
  }
  return result;
}

}  // namespace toy
