#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_HELPERS_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_HELPERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "fairlead/registry/zookeeper/zk_handle.h"

namespace fairlead::internal {

// Threads for calls that may block, one a call, with signals blocked; each is joined on the executor when its
// work is done. REQUIRES: executor, for every method but the static one. Must be owned by a shared_ptr.
class ZkHelpers final : public std::enable_shared_from_this<ZkHelpers> {
 public:
  explicit ZkHelpers(std::shared_ptr<ZkGate> gate) : gate_(std::move(gate)) {}
  // Does not wait: threads that still work end by themselves.
  ~ZkHelpers();

  // `name` shows up to 15 bytes; threads made by `work` inherit it. False: the system has no thread left, and
  // nothing runs.
  bool Run(const std::string& name, absl::AnyInvocable<void()> work);
  // The same without an owner.
  static bool RunDetached(const std::string& name, absl::AnyInvocable<void()> work);

  // Calls `idle` once, later, on the executor, when no thread is left.
  void WhenIdle(absl::AnyInvocable<void()> idle);

 private:
  void OnDone(std::uint64_t id);

  const std::shared_ptr<ZkGate> gate_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::thread> threads_;
  absl::AnyInvocable<void()> idle_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_HELPERS_H_
