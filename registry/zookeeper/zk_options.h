#ifndef FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_OPTIONS_H_
#define FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_OPTIONS_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"
#include "fairlead/registry/burst_window.h"
#include "fairlead/url/url.h"

namespace fairlead::internal {

// What a zookeeper:// url says, in the forms the client library wants.
struct ZkOptions {
  std::string address;      // for logs and errors: without credentials and parameters
  std::string servers;      // host:port[,host:port...], IPv6 without brackets
  std::string auth;         // user:password for digest, empty = none; never logged
  std::string root;         // where the services are
  std::string config_root;  // where the documents are
  std::chrono::milliseconds session{60000};
  BurstWindow::Limits burst;

  // kInvalidArgument names the part of the url and what was expected.
  static absl::StatusOr<ZkOptions> Parse(const Url& registry);
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_ZOOKEEPER_ZK_OPTIONS_H_
