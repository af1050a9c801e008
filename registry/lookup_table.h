#ifndef FAIRLEAD_REGISTRY_LOOKUP_TABLE_H_
#define FAIRLEAD_REGISTRY_LOOKUP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fairlead/base/executor.h"
#include "fairlead/registry/registry_environment.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// Single looks at the registry. Waits for a session, asks again in the next one; goes by the list cache when the
// registry fails or is slow, as subscriptions do, and gives up at `timeout`. REQUIRES: executor.
class LookupTable {
 public:
  using Found = absl::AnyInvocable<void(absl::StatusOr<std::vector<Url>>)>;

  explicit LookupTable(RegistryEnvironment& env) : env_(env) {}

  void Lookup(const Url& query, Found done);
  // A session is there, the first or after an interruption.
  void OnConnected();
  void Destroy();

 private:
  struct Look {
    Url query;
    std::string service;
    std::vector<Category> categories;
    std::uint64_t round = 0;  // answers of an earlier one do not count
    std::size_t open = 0;     // categories without an answer
    std::vector<Url> found;
    Found done;
    Timer patience, deadline;
  };

  void Ask(std::uint64_t id, Look& look);
  void OnAnswer(std::uint64_t id, Look& look, Category category, const ChildrenAnswer& answer);
  // True when the list cache knew something; the look is over then.
  bool UseCache(std::uint64_t id, Look& look);
  void End(std::uint64_t id, absl::StatusOr<std::vector<Url>> result);
  void PostResult(Found done, absl::StatusOr<std::vector<Url>> result);

  RegistryEnvironment& env_;
  std::map<std::uint64_t, Look> looks_;
  std::uint64_t last_id_ = 0;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_LOOKUP_TABLE_H_
