#ifndef FAIRLEAD_CLUSTER_REGISTRY_POOL_H_
#define FAIRLEAD_CLUSTER_REGISTRY_POOL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "fairlead/base/executor.h"
#include "fairlead/base/log.h"
#include "fairlead/cluster/registry_rule_source.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/cluster/runtime_metrics.h"
#include "fairlead/registry/failback_registry.h"
#include "fairlead/registry/registry_options.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {

// A registry of a runtime. It ends when the last RegistryHold does.
struct PooledRegistry {
  std::uint64_t number;
  Url url;  // the first that named it: what the connection is made with
  std::shared_ptr<FailbackRegistry> registry;
  std::shared_ptr<RegistryRuleSource> documents;  // of `registry`
};
using RegistryHold = std::shared_ptr<PooledRegistry>;

// A registry as one caller's url names it.
struct RegistryAccess {
  RegistryHold registry;
  Url url;
  RegistryCallOptions call;
  std::vector<std::string> remarks;  // on parameters that cannot be read
};

// The registries of a runtime: one for each place, however often it is named. Executor only.
class RegistryPool {
 public:
  // All outlive it. `next_number` counts whatever the runtime numbers.
  RegistryPool(const Options& options, bool own_thread, UrlPool& urls, Logger& log, std::uint64_t& next_number)
      : options_(options), own_thread_(own_thread), urls_(urls), log_(log), next_number_(next_number) {}
  // Who owns the pool, and stays while a registry is just ending.
  void Bind(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  // One registry for each address, credentials and group, as in Dubbo, and list of backups and what its product says. A
  // path says nothing. A url that would be refused alone is refused, whatever is open.
  // `caller` is the url of who asks, whose application may name the cache file.
  absl::StatusOr<RegistryAccess> Acquire(const std::string& text, const std::string& caller);
  std::vector<RegistryReading> Readings() const;

  // Nothing is acquired any more; `ended` is called whenever the last registry has ended, and by CheckEnded.
  void Close(absl::AnyInvocable<void()> ended);
  void CheckEnded();
  // What went wrong with registries that ended since Close.
  const absl::Status& trouble() const { return trouble_; }
  // For an executor that will never run again.
  void Drop();

  // Logs each remark; adds them to `all`, for Explain.
  void WarnOfEach(const std::string& about, std::string_view whose, std::vector<std::string> remarks,
                  std::vector<std::string>* all = nullptr) const;

 private:
  std::shared_ptr<Executor> FileExecutor();
  void WarnOfOtherConnection(const std::string& address, const Url& first, const Url& later);
  void End(std::shared_ptr<FailbackRegistry> registry, std::shared_ptr<void> owner);

  const Options& options_;
  const bool own_thread_;  // of the executor
  UrlPool& urls_;
  Logger& log_;
  std::uint64_t& next_number_;
  std::weak_ptr<void> owner_;
  std::shared_ptr<Executor> file_thread_;  // while there is something to do for one
  std::map<std::string, std::weak_ptr<PooledRegistry>> registries_;
  std::map<std::uint64_t, std::shared_ptr<FailbackRegistry>> closing_;
  absl::AnyInvocable<void()> ended_;  // set by Close
  absl::Status trouble_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_CLUSTER_REGISTRY_POOL_H_
