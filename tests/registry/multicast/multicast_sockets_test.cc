// The registry's sockets, thread and descriptors, and what a fork and a flood do to them.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>

#include "fairlead/registry/multicast/multicast_registry.h"
#include "fairlead/tests/registry/multicast/plain_member.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/tests/support/log_recorder.h"
#include "fairlead/tests/support/manual_executor.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Session = RegistryBackend::Session;

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

TEST_F(MulticastProcessTest, HostileDatagramsAndTenThousandProvidersAreTaken) {
  Create();
  std::vector<std::string> list;
  backend_->Watch("a.B", Category::kProviders, [&](const ChildrenAnswer& answer) { list = answer.children; });
  PlainMember member(group_);
  member.Say(std::string(2048, '\0'));
  member.Say(std::string(2048, 'x'));
  member.Say("register dubbo://10.0.0.1:1/a.B");  // no line feed
  EXPECT_TRUE(RunUntil([&] { return backend_->Describe().find(", 2 datagrams skipped") != std::string::npos; }));
  EXPECT_TRUE(RunUntil([&] { return list.size() == 1; }));
  const std::size_t descriptors = Descriptors();
  const auto url = [](int n) { return "dubbo://10.1." + std::to_string(n / 250) + "." + std::to_string(n % 250) + ":1/a.B"; };
  for (int n = 0; n < 10000; ++n) {
    member.Say("register " + url(n) + "\n");
    if (n % 100 == 0) executor_->RunReady();
  }
  // What got lost comes again, as from real providers.
  EXPECT_TRUE(RunUntil([&] {
    const std::set<std::string> heard(list.begin(), list.end());
    for (int n = 0, said = 0; n < 10000 && said < 500; ++n) {
      if (!heard.contains(url(n))) member.Say("register " + url(n) + "\n"), ++said;
    }
    return list.size() == 10001;
  }));
  EXPECT_EQ(Descriptors(), descriptors);
  Stop();
}

}  // namespace
}  // namespace fairlead
