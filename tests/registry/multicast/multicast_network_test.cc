// Real sockets on the loopback interface, which is all that these tests need of the machine.
#include <gmock/gmock.h>

#include <filesystem>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/tests/registry/multicast/plain_member.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/server_process.h"

namespace fairlead {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr char kConsumer[] = "consumer://10.9.8.7/com.acme.Orders?application=shop";

class ProviderProcess : public ChildProcess {
 public:
  void Start(const std::string& registry, const std::string& service = "com.acme.Orders") {
    EXPECT_EQ(Run({std::string(FAIRLEAD_EXAMPLES) + "/provider", registry, "--service", service, "--grace-ms", "0"}, "/dev/null"),
              absl::OkStatus());
  }
};

class MulticastNetworkTest : public ::testing::Test {
 protected:
  std::unique_ptr<Runtime> Make() {
    return *Runtime::Create(
        {.extensions = DefaultExtensions(), .seed = 5, .log = lines_.sink(), .local_address = "10.9.8.7"});
  }
  std::shared_ptr<Directory> Refer(Runtime& runtime, const std::string& parameters = "") {
    auto directory = runtime.Refer(group_.url(parameters), kConsumer, protocol_);
    EXPECT_TRUE(directory.ok()) << directory.status();
    return directory.ok() ? *std::move(directory) : nullptr;
  }
  static std::size_t Size(const Directory& directory) { return directory.List({}).size(); }

  TestGroup group_;
  LogRecorder lines_;
  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
};

TEST_F(MulticastNetworkTest, TwoRuntimesFindEachOther) {
  const auto providers = Make(), consumers = Make();
  auto one = providers->Register(group_.url(), "dubbo://10.0.0.1:20880/com.acme.Orders?version=1.0.0");
  ASSERT_TRUE(one.ok()) << one.status();
  auto other_version = providers->Register(group_.url(), "dubbo://10.0.0.2:20880/com.acme.Orders?version=2.0.0");
  const auto directory = *consumers->Refer(group_.url(), std::string(kConsumer) + "&version=1.0.0", protocol_);
  EXPECT_EQ(Size(*directory), 1u);
  auto lease = directory->Select({});
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lease->invoker().url().Address(), "10.0.0.1:20880");
  auto two = providers->Register(group_.url(), "dubbo://10.0.0.3:20880/com.acme.Orders?version=1.0.0");
  EXPECT_TRUE(Eventually([&] { return Size(*directory) == 2; }));
  *one = Registration();
  EXPECT_TRUE(Eventually([&] { return Size(*directory) == 1; }));
}

TEST_F(MulticastNetworkTest, SpeaksAsDubboDoes) {
  PlainMember java(group_);
  const auto runtime = Make();
  auto registration = runtime->Register(group_.url(), "dubbo://10.0.0.1:20880/com.acme.Orders?timestamp=5");
  ASSERT_TRUE(registration.ok());
  const std::string registered = "register dubbo://10.0.0.1:20880/com.acme.Orders?interface=com.acme.Orders&timestamp=5\n";
  EXPECT_EQ(java.Hear("register"), registered);
  java.Say("subscribe consumer://127.0.0.1/com.acme.Orders?category=providers\n");
  EXPECT_EQ(java.Hear("register"), registered);
  const auto directory = Refer(*runtime);
  EXPECT_THAT(java.Hear("subscribe consumer://127.0.0.1/com.acme.Orders?"), HasSubstr("&interface=com.acme.Orders&"));
  java.Say("register dubbo://10.0.0.9:20880/com.acme.Orders\n");
  EXPECT_TRUE(Eventually([&] { return Size(*directory) == 2; }));
  java.Say("unregister dubbo://10.0.0.9:20880/com.acme.Orders\n");
  EXPECT_TRUE(Eventually([&] { return Size(*directory) == 1; }));
  *registration = Registration();
  EXPECT_EQ(java.Hear("unregister dubbo://10.0.0.1"), "un" + registered);
}

TEST_F(MulticastNetworkTest, AProviderInAnotherProcessIsPickedAndLeaves) {
  ProviderProcess provider;
  provider.Start(group_.url());
  const auto runtime = Make();
  const auto directory = Refer(*runtime, "enable-empty-protection=false");
  ASSERT_TRUE(Eventually([&] { return directory->Select({}).ok(); }));
  provider.Stop();
  EXPECT_TRUE(Eventually([&] { return Size(*directory) == 0; }));
  EXPECT_EQ(lines_.count("FL-7-3"), 0u) << "it said so";
}

TEST_F(MulticastNetworkTest, AProviderThatWasThereBeforeIsFoundByTheQuestion) {
  ProviderProcess provider;
  PlainMember listens(group_);
  provider.Start(group_.url());
  ASSERT_THAT(listens.Hear("register dubbo"), HasSubstr("com.acme.Orders"));
  const auto runtime = Make();
  EXPECT_EQ(Size(*Refer(*runtime)), 1u) << "in the first list";
}

TEST_F(MulticastNetworkTest, AProviderProcessThatIsKilledIsDropped) {
  ProviderProcess stays, killed;
  stays.Start(group_.url());
  killed.Start(group_.url());
  const auto runtime = Make();
  const auto directory = Refer(*runtime, "session=1000");
  ASSERT_TRUE(Eventually([&] { return Size(*directory) == 2; }));
  killed.Kill();
  EXPECT_TRUE(Eventually([&] { return Size(*directory) == 1; }));
  EXPECT_EQ(lines_.count("FL-7-3"), 1u);
  // One that answers nothing, and whose port the system still takes connections on, is alive as far as anybody can tell.
  stays.Freeze();
  EXPECT_FALSE(Eventually([&] { return Size(*directory) == 0; }, seconds(3)));
  stays.Thaw();
}

TEST_F(MulticastNetworkTest, SeveralConsumersOnOneHost) {
  ProviderProcess provider;
  provider.Start(group_.url());
  for (const char* parameters : {"unicast=true", "unicast=false"}) {
    const auto one = Make(), two = Make(), three = Make();
    for (Runtime* const runtime : {one.get(), two.get(), three.get()}) {
      const auto directory = Refer(*runtime, parameters);
      EXPECT_TRUE(Eventually([&] { return Size(*directory) == 1; })) << parameters;
    }
  }
}

TEST_F(MulticastNetworkTest, WithoutTheInterfaceTheCallerIsToldWhy) {
  const auto runtime = Make();
  const std::string url = "multicast://239.1.2.3:" + std::to_string(group_.port) +
                          "?network.interface=nosuch0&file-cache=false&timeout=500";
  const auto directory = runtime->Refer(url, kConsumer, protocol_);
  EXPECT_EQ(directory.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(directory.status().message()), HasSubstr("network.interface=nosuch0"));
}

// Where the machine lets IPv6 speak to a group at all, which its loopback interface mostly does not: a group of the site, and
// one of the link.
TEST_F(MulticastNetworkTest, Ipv6) {
  std::vector<std::string> interfaces = {"lo"};
  for (const auto& one : std::filesystem::directory_iterator("/sys/class/net")) interfaces.push_back(one.path().filename());
  const auto runtime = Make();
  for (const std::string& interface : interfaces) {
    for (const std::string group : {"ff15::77", "ff02::1234:77"}) {
      const std::string url = "multicast://[" + group + "]:" + std::to_string(group_.port) + "?network.interface=" + interface +
                              "&file-cache=false&timeout=600&reply.wait=200";
      const auto registration = runtime->Register(url, "dubbo://10.0.0.1:20880/com.acme.Orders");
      if (!registration.ok()) break;
      const auto other = Make();
      const auto directory = other->Refer(url + "&check=false", kConsumer, protocol_);
      ASSERT_TRUE(directory.ok()) << directory.status();
      EXPECT_TRUE(Eventually([&] { return Size(**directory) == 1; }));
      if (group.starts_with("ff02")) return;
    }
  }
  GTEST_SKIP() << "no interface with multicast for IPv6";
}

}  // namespace
}  // namespace fairlead
