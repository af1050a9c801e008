#include "fairlead/tests/chaos/registry_under_test.h"

#include <utility>

#include "fairlead/base/status_macros.h"

namespace fairlead::chaos {

std::vector<std::string> RegistryLink::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& proxy : proxies_) addresses.push_back("127.0.0.1:" + std::to_string(proxy->port()));
  return addresses;
}

void RegistryLink::ForEach(const std::function<void(FaultProxy&)>& change) {
  for (const auto& proxy : proxies_) change(*proxy);
}

absl::Status RegistryLink::AddProxy(const ServerProcess& server, std::uint64_t seed,
                                    std::function<void(std::uint64_t, FaultProxy::Way, std::string_view)> observer) {
  FAIRLEAD_ASSIGN_OR_RETURN(
      proxies_.emplace_back(),
      FaultProxy::Start(
          {.target_port = server.port(), .seed = seed, .half_close = false, .observer = std::move(observer)}));
  return absl::OkStatus();
}

absl::Status RegistryUnderTest::Start() {
  for (ServerProcess* const server : servers()) FAIRLEAD_RETURN_IF_ERROR(server->Start());
  return absl::OkStatus();
}

std::string RegistryUnderTest::Url(const std::string& parameters) {
  std::vector<std::string> addresses;
  for (const ServerProcess* const server : servers()) addresses.push_back(server->address());
  return Url(addresses, parameters);
}

}  // namespace fairlead::chaos
