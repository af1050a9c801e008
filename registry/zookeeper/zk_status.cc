#include "fairlead/registry/zookeeper/zk_status.h"

#include <string_view>

#include "absl/strings/str_cat.h"

namespace fairlead::internal {

absl::Status ZkStatus(const ZkReply& reply, const std::string& subject) {
  const auto text = [&](std::string_view ours) {
    return absl::StrCat("ZooKeeper, ", subject, ": ",
                        reply.number != 0 ? ZkErrorText(reply.number) : std::string(ours));
  };
  switch (reply.code) {
    case ZkCode::kOk:
      return absl::OkStatus();
    case ZkCode::kNoNode:
      return absl::NotFoundError(text("no node"));
    case ZkCode::kNodeExists:
      return absl::AlreadyExistsError(text("node exists"));
    case ZkCode::kNotEmpty:
      return absl::FailedPreconditionError(text("the node has children"));
    case ZkCode::kNoAuth:
      return absl::PermissionDeniedError(absl::StrCat(text("not authorised"),
                                                      "; the ACL does not allow it, see the ",
                                                      "user and password of the registry url"));
    case ZkCode::kBadArgument:
      return absl::InvalidArgumentError(text(absl::StrCat(
          "the path has more than ", reply.limit,
          " bytes, which the server would not accept (its jute.maxbuffer); register a shorter url")));
    case ZkCode::kLost:
      return absl::UnavailableError(text("not connected"));
    case ZkCode::kFailed:
      return absl::UnavailableError(text("failed"));
  }
  return absl::InternalError(text("unknown answer"));
}

}  // namespace fairlead::internal
