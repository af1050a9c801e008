// Real sockets on the loopback interface, which is all that these tests need of the machine.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/registry/multicast/multicast_registry.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/tests/support/server_process.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Session = RegistryBackend::Session;
constexpr char kConsumer[] = "consumer://10.9.8.7/com.acme.Orders?application=shop";

// A group and a port that no other test process has.
struct TestGroup {
  std::string address = "239.77." + std::to_string(getpid() / 250 % 250 + 1) + "." + std::to_string(getpid() % 250 + 1);
  std::uint16_t port = static_cast<std::uint16_t>(20000 + getpid() % 20000);
  std::string url(const std::string& parameters = "") const {
    return "multicast://" + address + ":" + std::to_string(port) +
           "?network.interface=lo&file-cache=false&timeout=10000&reply.wait=400" + (parameters.empty() ? "" : "&" + parameters);
  }
};

// A member of the group as Dubbo is one: a single socket, bound to the port, through which it also sends.
class PlainMember {
 public:
  explicit PlainMember(const TestGroup& group) : group_(group), socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const int one = 1;
    setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    const sockaddr_in all = Address("0.0.0.0");
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&all), sizeof all), 0);
    ip_mreqn request{};
    inet_pton(AF_INET, group.address.c_str(), &request.imr_multiaddr);
    inet_pton(AF_INET, "127.0.0.1", &request.imr_address);
    request.imr_ifindex = static_cast<int>(if_nametoindex("lo"));
    EXPECT_EQ(setsockopt(socket_, IPPROTO_IP, IP_ADD_MEMBERSHIP, &request, sizeof request), 0);
    EXPECT_EQ(setsockopt(socket_, IPPROTO_IP, IP_MULTICAST_IF, &request, sizeof request), 0);
    timeval limit{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~PlainMember() { close(socket_); }

  void Say(const std::string& text, const std::string& to = "") {
    const sockaddr_in at = Address(to.empty() ? group_.address : to);
    EXPECT_EQ(sendto(socket_, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&at), sizeof at),
              static_cast<ssize_t>(text.size()));
  }
  // The next datagram that begins so; empty: none came.
  std::string Hear(const std::string& prefix) {
    for (int i = 0; i < 1000; ++i) {
      char buffer[4096];
      const ssize_t size = recv(socket_, buffer, sizeof buffer, 0);
      if (size < 0) return {};
      const std::string text(buffer, static_cast<std::size_t>(size));
      if (text.starts_with(prefix)) return text;
    }
    return {};
  }

 private:
  sockaddr_in Address(const std::string& host) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(group_.port);
    inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    return address;
  }
  const TestGroup& group_;
  const int socket_;
};

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
      const auto directory = other->Refer(url, kConsumer, protocol_);
      ASSERT_TRUE(directory.ok()) << directory.status();
      EXPECT_EQ(Size(**directory), 1u);
      if (group.starts_with("ff02")) return;
    }
  }
  GTEST_SKIP() << "no interface with multicast for IPv6";
}

// The backend alone, on an executor that the test runs by hand.
class MulticastProcessTest : public ::testing::Test {
 protected:
  void Create() {
    const auto url = Url::Parse(group_.url(), pool_);
    backend_ = *MakeMulticastRegistryFactory()->Create(*url, {executor_, &RealClock(), &pool_, &logger_, 1});
    backend_->Start([this](Session session) { session_ = session; });
    ASSERT_TRUE(RunUntil([this] { return session_ == Session::kConnected; }));
  }
  void Stop() {
    bool stopped = false;
    backend_->Stop([&](const absl::Status&) { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    backend_.reset();
    executor_->RunReady();
  }
  bool RunUntil(const std::function<bool()>& condition) {
    auto last = std::chrono::steady_clock::now();
    return Eventually([&] {
      const auto now = std::chrono::steady_clock::now();
      executor_->Advance(now - std::exchange(last, now));
      executor_->RunReady();
      return condition();
    });
  }
  std::optional<absl::Status> Put(const std::string& url) {
    const auto result = std::make_shared<std::optional<absl::Status>>();
    backend_->Put("a.B", Category::kProviders, url, true, [result](absl::Status status) { *result = std::move(status); });
    RunUntil([&] { return result->has_value(); });
    return *result;
  }
  // What the child of a fork does; 0 when all is as it should be.
  int Child() {
    if (Put("dubbo://h:2/a.B")->code() != absl::StatusCode::kFailedPrecondition) return 1;
    std::optional<absl::Status> watched, stopped;
    backend_->Watch("a.B", Category::kProviders, [&](const ChildrenAnswer& answer) { watched = answer.status; });
    executor_->RunReady();
    if (!watched || watched->code() != absl::StatusCode::kFailedPrecondition) return 2;
    if (backend_->Describe().find("forked") == std::string::npos) return 3;
    backend_->Stop([&](absl::Status status) { stopped = std::move(status); });
    executor_->RunReady();
    if (!stopped || stopped->code() != absl::StatusCode::kFailedPrecondition) return 4;
    backend_.reset();
    return 0;
  }
  static std::size_t Descriptors() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
    return count;
  }
  // The signals that each of our threads blocks.
  static std::vector<std::uint64_t> Threads() {
    std::vector<std::uint64_t> blocked;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream in(task.path() / "status");
      bool ours = false;
      for (std::string line; std::getline(in, line);) {
        if (line.starts_with("Name:")) ours = line.substr(6) == "fl-multicast";
        if (ours && line.starts_with("SigBlk:\t")) blocked.push_back(std::stoull(line.substr(8), nullptr, 16));
      }
    }
    return blocked;
  }

  TestGroup group_;
  FakeClock clock_;
  const std::shared_ptr<ManualExecutor> executor_ = std::make_shared<ManualExecutor>(clock_);
  UrlPool pool_;
  LogRecorder recorder_;
  Logger logger_{recorder_.sink(), clock_};
  std::unique_ptr<RegistryBackend> backend_;
  std::optional<Session> session_;
};

TEST_F(MulticastProcessTest, TheThreadIsNamedBlocksSignalsAndEndsAndNoDescriptorStays) {
  const std::size_t before = Descriptors();
  Create();
  ASSERT_TRUE(Eventually([] { return Threads().size() == 1; }));
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD, SIGPIPE}) {
    EXPECT_TRUE(Threads().front() >> (signal - 1) & 1) << signal;
  }
  EXPECT_EQ(Put("dubbo://h:1/a.B"), absl::OkStatus());
  Stop();
  EXPECT_THAT(Threads(), IsEmpty());
  EXPECT_EQ(Descriptors(), before);
  Create();
  backend_.reset();
  EXPECT_THAT(Threads(), IsEmpty()) << "without Stop";
  EXPECT_EQ(Descriptors(), before);
}

TEST_F(MulticastProcessTest, AForkedChildFailsAndTheParentGoesOn) {
  Create();
  PlainMember member(group_);
  const pid_t child = fork();
  if (child == 0) _exit(Child());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(Put("dubbo://h:1/a.B"), absl::OkStatus());
  EXPECT_EQ(member.Hear(""), "register dubbo://h:1/a.B\n") << "the child said nothing";
  Stop();
}

// What waits for an executor that is held up is bounded, and what is sent to this host alone is heard as well.
TEST_F(MulticastProcessTest, AFloodIsDroppedAndAfterItAllIsWell) {
  Create();
  std::vector<std::string> list;
  backend_->Watch("a.B", Category::kProviders, [&](const ChildrenAnswer& answer) { list = answer.children; });
  ASSERT_TRUE(RunUntil([&] { return backend_->Describe().find(", 0 heard") != std::string::npos; }));
  {
    // Its socket would get what is sent to the host.
    PlainMember floods(group_);
    for (int i = 0; i < 20000; ++i) floods.Say("junk " + std::to_string(i));
  }
  const auto count = [&](const char* what) {
    const std::string text = backend_->Describe();
    const std::size_t end = text.find(what);
    return std::stoull(text.substr(text.rfind(", ", end - 2) + 2));
  };
  EXPECT_TRUE(RunUntil([&] { return count(" datagrams skipped") > 0; }));
  EXPECT_LE(count(" datagrams skipped"), 20000u);
  const int sender = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(group_.port);
  inet_pton(AF_INET, "127.0.0.1", &here.sin_addr);
  EXPECT_TRUE(RunUntil([&] {
    const std::string text = "register dubbo://10.0.0.1:1/a.B\n";
    sendto(sender, text.data(), text.size(), 0, reinterpret_cast<const sockaddr*>(&here), sizeof here);
    return !list.empty();
  }));
  close(sender);
  EXPECT_THAT(list, ElementsAre("dubbo://10.0.0.1:1/a.B"));
  Stop();
}

}  // namespace
}  // namespace fairlead
