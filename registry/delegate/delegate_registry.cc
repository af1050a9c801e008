#include "fairlead/registry/delegate/delegate_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "fairlead/base/host_call.h"
#include "fairlead/base/status_macros.h"
#include "fairlead/base/strings.h"
#include "fairlead/registry/delegate/delegate_backend.h"

namespace fairlead {
namespace {

class DelegateRegistryFactory final : public RegistryFactory {
 public:
  DelegateRegistryFactory(std::string scheme, RegistryServiceMaker make) : scheme_(std::move(scheme)), make_(std::move(make)) {}

  std::string_view scheme() const override { return scheme_; }
  absl::Status Check(const Url& registry) const override { return internal::DelegateOptions::Parse(registry).status(); }
  absl::StatusOr<std::unique_ptr<RegistryBackend>> Create(const Url& registry,
                                                          const RegistryContext& context) override {
    FAIRLEAD_ASSIGN_OR_RETURN(internal::DelegateOptions options, internal::DelegateOptions::Parse(registry));
    absl::StatusOr<std::shared_ptr<RegistryService>> service =
        absl::InternalError(absl::StrCat("registry ", options.address, ": no RegistryService was made"));
    CallHost([&] { service = make_(registry); },
             [&](std::string_view text) {
               service = absl::InternalError(
                   absl::StrCat("registry ", options.address, ": making the RegistryService threw: ", ToAbsl(text)));
             });
    FAIRLEAD_RETURN_IF_ERROR(service.status());
    if (*service == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("registry ", options.address, ": the RegistryService is null"));
    }
    return std::make_unique<internal::DelegateBackend>(std::move(options), context, *std::move(service));
  }

 private:
  const std::string scheme_;
  const RegistryServiceMaker make_;
};

}  // namespace

std::unique_ptr<RegistryFactory> MakeDelegateRegistryFactory(std::string scheme, RegistryServiceMaker make) {
  return std::make_unique<DelegateRegistryFactory>(std::move(scheme), std::move(make));
}

}  // namespace fairlead
