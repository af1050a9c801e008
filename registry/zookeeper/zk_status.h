#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_STATUS_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "fairlead/registry/zookeeper/zk_handle.h"

namespace fairlead::internal {

// What a reply means to the caller of an operation; OK for kOk. `subject` says what it was about, without
// secrets: the names of url nodes hold passwords.
absl::Status ZkStatus(const ZkReply& reply, const std::string& subject);

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_STATUS_H_
