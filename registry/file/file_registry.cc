#include "fairlead/registry/file/file_registry.h"

#include <string>
#include <utility>

#include "fairlead/base/status_macros.h"
#include "fairlead/registry/file/directory_watch.h"
#include "fairlead/registry/file/file_backend.h"
#include "fairlead/registry/file/file_scan.h"

namespace fairlead {
namespace {

class FileRegistryFactory final : public RegistryFactory {
 public:
  std::string_view scheme() const override { return "file"; }
  // Its lists stand in a file already.
  bool CachesByDefault() const override { return false; }
  absl::Status Check(const Url& registry) const override { return internal::FilePathOf(registry).status(); }
  absl::StatusOr<std::unique_ptr<RegistryBackend>> Create(const Url& registry,
                                                          const RegistryContext& context) override {
    FAIRLEAD_ASSIGN_OR_RETURN(std::string path, internal::FilePathOf(registry));
    return std::make_unique<internal::FileBackend>(std::move(path), context,
                                                   internal::InotifyMaker(*context.executor));
  }
};

}  // namespace

std::unique_ptr<RegistryFactory> MakeFileRegistryFactory() { return std::make_unique<FileRegistryFactory>(); }

}  // namespace fairlead
