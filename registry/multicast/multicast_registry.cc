#include "fairlead/registry/multicast/multicast_registry.h"

#include <string>
#include <utility>

#include "fairlead/base/status_macros.h"
#include "fairlead/registry/multicast/multicast_backend.h"
#include "fairlead/registry/multicast/multicast_options.h"
#include "fairlead/registry/multicast/multicast_sockets.h"

namespace fairlead {
namespace {

class MulticastRegistryFactory final : public RegistryFactory {
 public:
  std::string_view scheme() const override { return "multicast"; }
  std::string Place(const Url& registry) const override { return std::string(registry.Param("network.interface")); }
  absl::Status Check(const Url& registry) const override { return internal::MulticastOptions::Parse(registry).status(); }
  absl::StatusOr<std::unique_ptr<RegistryBackend>> Create(const Url& registry,
                                                          const RegistryContext& context) override {
    FAIRLEAD_ASSIGN_OR_RETURN(internal::MulticastOptions options, internal::MulticastOptions::Parse(registry));
    return std::make_unique<internal::MulticastBackend>(std::move(options), context,
                                                        internal::MulticastSockets(*context.executor));
  }
};

}  // namespace

std::unique_ptr<RegistryFactory> MakeMulticastRegistryFactory() { return std::make_unique<MulticastRegistryFactory>(); }

}  // namespace fairlead
