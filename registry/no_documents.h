#ifndef FAIRLEAD_REGISTRY_NO_DOCUMENTS_H_
#define FAIRLEAD_REGISTRY_NO_DOCUMENTS_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fairlead/base/executor.h"
#include "fairlead/registry/registry_backend.h"

namespace fairlead::internal {

// The config center of a product that has none: every document is told once, that there is none. REQUIRES: executor;
// destroying it ends all watches.
class NoDocuments {
 public:
  explicit NoDocuments(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {}

  void Watch(std::string_view group, std::string_view key, ConfigValue on_value) {
    watches_[Place{group, key}] = executor_->After({}, [on_value = std::move(on_value)]() mutable {
      on_value(std::optional<std::string>());
    });
  }
  void Unwatch(std::string_view group, std::string_view key) { watches_.erase(Place{group, key}); }
  void Clear() { watches_.clear(); }

 private:
  using Place = std::pair<std::string, std::string>;
  const std::shared_ptr<Executor> executor_;
  std::map<Place, Timer> watches_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_NO_DOCUMENTS_H_
