#ifndef FAIRLEAD_TESTS_REGISTRY_REDIS_REDIS_RUNTIME_FIXTURE_H_
#define FAIRLEAD_TESTS_REGISTRY_REDIS_REDIS_RUNTIME_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/redis_server.h"

namespace fairlead {

// Two processes' worth of runtimes, one that registers and one that calls, on a real server.
class RedisRuntimeFixture : public ::testing::Test {
 protected:
  static constexpr char kService[] = "com.acme.Orders";
  static constexpr char kKey[] = "/dubbo/com.acme.Orders/providers";
  static constexpr char kConsumer[] = "consumer://10.9.8.7/com.acme.Orders?application=shop";

  void SetUp() override {
    const absl::Status started = server_.Start();
    ASSERT_TRUE(started.ok()) << started;
    providers_ = Make();
    consumers_ = Make();
  }
  std::unique_ptr<Runtime> Make() {
    return *Runtime::Create(
        {.extensions = DefaultExtensions(), .seed = 5, .log = lines_.sink(), .local_address = "10.9.8.7"});
  }

  // A session of 2 s: what is registered is extended each second.
  std::string registry(const std::string& parameters = "", const std::string& credentials = "") const {
    return RegistryAt(server_.address(), parameters, credentials);
  }
  static std::string RegistryAt(const std::string& address, const std::string& parameters = "",
                                const std::string& credentials = "") {
    return "redis://" + credentials + address +
           "?file-cache=false&timeout=10000&session=2000&reconnect.period=500&so.timeout=1000" +
           (parameters.empty() ? "" : "&" + parameters);
  }
  absl::StatusOr<Registration> Register(const std::string& address, const std::string& parameters = "") {
    return providers_->Register(registry(parameters),
                                "dubbo://" + address + "/com.acme.Orders?application=orders");
  }
  std::shared_ptr<Directory> Refer(const std::string& parameters = "") {
    auto directory = consumers_->Refer(registry(parameters), kConsumer, protocol_);
    EXPECT_TRUE(directory.ok()) << directory.status();
    return directory.ok() ? *std::move(directory) : nullptr;
  }
  static std::set<std::string> Addresses(const Directory& directory) {
    std::set<std::string> addresses;
    for (const Url& url : directory.List({})) addresses.insert(url.Address());
    return addresses;
  }
  static bool EventuallyIs(const Directory& directory, const std::set<std::string>& addresses) {
    return Eventually([&] { return Addresses(directory) == addresses; });
  }

  RedisServer server_;
  LogRecorder lines_;
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  std::unique_ptr<Runtime> providers_, consumers_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_REGISTRY_REDIS_REDIS_RUNTIME_FIXTURE_H_
