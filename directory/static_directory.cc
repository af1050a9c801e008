#include "fairlead/directory/static_directory.h"

#include <utility>

namespace fairlead {

std::shared_ptr<Directory> MakeStaticDirectory(DirectoryConfig config, const std::vector<Url>& providers,
                                               const std::vector<Url>& rules) {
  const auto executor = config.executor;
  auto updater = internal::Updater::Create(std::move(config));
  updater->Set(Category::kProviders, ListKind::kList, providers);
  updater->Set(Category::kRouters, ListKind::kList, rules);
  updater->Open();
  return std::make_shared<Directory>(updater->core(), [executor, updater] {
    executor->Post([updater] { updater->Close(std::chrono::seconds(10), nullptr); });
  });
}

}  // namespace fairlead
