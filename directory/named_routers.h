#ifndef FAIRLEAD_DIRECTORY_NAMED_ROUTERS_H_
#define FAIRLEAD_DIRECTORY_NAMED_ROUTERS_H_

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fairlead/directory/directory_config.h"
#include "fairlead/directory/guarded_router.h"

namespace fairlead::internal {

// What the consumer's parameter `router` says of its chain, as in Dubbo: `name1,-name2`. A name adds the router that the
// host registered under it, without any rule in the registry; its factory is given the consumer's url. `-name` takes a
// fixed stage out: mock, standard-mesh-rule, tag, affinity, service, provider-app, app, script; `-default` takes out all
// of them. Rule urls stay. Executor only.
class NamedRouters {
 public:
  // `config` outlives it.
  explicit NamedRouters(const DirectoryConfig& config) : config_(config) {}

  // Reads the parameter, once; what cannot be used is logged. `on_fault` as in Governance.
  void Make(const std::function<void(std::string)>& on_fault);
  // Is a router that documents or the engine itself put there still in the chain?
  bool Keeps(const GuardedRouter& stage) const { return !removes_all_ && !removed_.contains(stage.order()); }
  const std::vector<std::shared_ptr<const GuardedRouter>>& routers() const { return routers_; }
  // For Explain: names that cannot be used.
  const std::vector<std::string>& bad() const { return bad_; }

 private:
  void Add(const std::string& name, const std::function<void(std::string)>& on_fault);
  void Remove(std::string_view name);

  const DirectoryConfig& config_;
  bool made_ = false;
  bool removes_all_ = false;
  std::set<int> removed_;  // by order
  std::vector<std::shared_ptr<const GuardedRouter>> routers_;
  std::vector<std::string> bad_, scripts_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_DIRECTORY_NAMED_ROUTERS_H_
