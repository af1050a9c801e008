#ifndef FAIRLEAD_TESTS_INTEGRATION_ZOOKEEPER_FIXTURE_H_
#define FAIRLEAD_TESTS_INTEGRATION_ZOOKEEPER_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"
#include "fairlead/url/percent.h"

namespace fairlead {

// One server for a test program's class, an empty tree for each test.
class ZookeeperFixture : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new ZookeeperServer();
    const absl::Status started = server_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override {
    ASSERT_NE(server_, nullptr);
    if (!server_->running()) {
      ASSERT_TRUE(server_->Start().ok());
    }
    ZkClient client(server_->address());
    for (const char* root : {"/dubbo", "/services", "/myroot"}) client.Delete(root);
    runtime_ = *Runtime::Create({.extensions = DefaultExtensions(), .seed = 5, .log = lines_.sink(), .local_address = "10.9.8.7"});
  }

  std::string registry(const std::string& parameters = "") const {
    return "zookeeper://" + server_->address() + "?timeout=10000&session=4000" + (parameters.empty() ? "" : "&" + parameters);
  }
  std::shared_ptr<Directory> Refer(const std::string& consumer, const std::string& parameters = "") {
    auto directory = runtime_->Refer(registry(parameters), consumer, protocol_);
    EXPECT_TRUE(directory.ok()) << directory.status();
    return directory.ok() ? *std::move(directory) : nullptr;
  }
  static std::string PathOf(const std::string& service, const std::string& category, const std::string& url) {
    return "/dubbo/" + service + "/" + category + "/" + PercentEncode(url);
  }
  static std::set<std::string> Addresses(const Directory& directory, const Invocation& invocation = {}) {
    std::set<std::string> addresses;
    for (const Url& url : directory.List(invocation)) addresses.insert(url.Address());
    return addresses;
  }

  static inline ZookeeperServer* server_ = nullptr;
  LogRecorder lines_;
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_INTEGRATION_ZOOKEEPER_FIXTURE_H_
