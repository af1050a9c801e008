#ifndef FAIRLEAD_DIRECTORY_DIRECTORY_CONFIG_H_
#define FAIRLEAD_DIRECTORY_DIRECTORY_CONFIG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

#include "fairlead/base/clock.h"
#include "fairlead/base/executor.h"
#include "fairlead/base/log.h"
#include "fairlead/directory/protection.h"
#include "fairlead/directory/rule_source.h"
#include "fairlead/directory/snapshot.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/routing/router.h"
#include "fairlead/rpc/compat.h"
#include "fairlead/rpc/invoker.h"
#include "fairlead/url/url.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {

// What a directory is made with, whoever feeds it.
struct DirectoryConfig {
  std::shared_ptr<void> keep;  // owns what the pointers below point to
  std::shared_ptr<Executor> executor;
  const Clock* clock = nullptr;
  Logger* log = nullptr;
  UrlPool* pool = nullptr;
  std::shared_ptr<Protocol> protocol;
  Url consumer;               // as given, completed by the Runtime
  std::string local_address;  // what consumer-side overrides are compared with
  Compat compat = Compat::kStrict;
  std::uint64_t seed = 0;
  internal::PolicyLookup policy;
  std::function<absl::StatusOr<std::shared_ptr<RouterFactory>>(std::string_view name)> router;
  std::shared_ptr<RuleSource> documents;  // of rules; nullptr: there are none
  // An empty list of providers after one that was not holds at once, or `protect_max_age` later; the consumer's
  // parameters of these names decide.
  bool empty_protection = true;
  std::chrono::milliseconds protect_max_age = RegistryCallOptions().protect_max_age;
  // Set by who protects the lists before they come here, which nothing else does then: what of them is protected now, and
  // how that is ended.
  std::function<std::optional<internal::ProtectedList>()> protection;
  std::function<void()> clear_protection;
  std::uint64_t first_provider_id = 1;          // the next ones follow
  std::vector<std::string> remarks;             // for Explain: what of the urls given could not be read
  std::function<std::string()> registry_state;  // one line; may be empty
  std::function<std::vector<std::string>()> unreadable;  // the registry's children that are no urls, with the reason
  // Asks why the registry has no provider of the service; the answer, which may be empty, comes on the executor.
  std::function<void(absl::AnyInvocable<void(std::string)>)> why_empty;
};

}  // namespace fairlead

#endif  // FAIRLEAD_DIRECTORY_DIRECTORY_CONFIG_H_
