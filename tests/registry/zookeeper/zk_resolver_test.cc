// Server names that resolve late, never, slowly, or no longer.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "fairlead/tests/registry/zookeeper/zk_probe.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"

namespace fairlead {
namespace {

constexpr char kName[] = "registry.fairlead.invalid";
enum class Answer : int { kNone, kNever, kElsewhere, kLoopback };
std::atomic<Answer> answer{Answer::kNone};
std::atomic<int> asked{0};
std::atomic<int> waiting{0};

}  // namespace
}  // namespace fairlead

// In the way of the C library's, for the client library as for everybody. Other names go on to it.
extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* node, const char* service,
                                                                  const addrinfo* hints, addrinfo** result) {
  using namespace fairlead;
  static const auto real = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (node == nullptr || std::strcmp(node, kName) != 0) return real(node, service, hints, result);
  ++asked;
  ++waiting;
  while (answer == Answer::kNever) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  --waiting;
  if (answer == Answer::kNone) return EAI_NONAME;
  return real(answer == Answer::kLoopback ? "127.0.0.1" : "127.0.0.2", service, hints, result);
}

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Session = RegistryBackend::Session;
using SteadyClock = std::chrono::steady_clock;

constexpr Category kProviders = Category::kProviders;

class ZkResolverTest : public ::testing::Test {
 protected:
  ~ZkResolverTest() override {
    answer = Answer::kNone;
    EXPECT_TRUE(Eventually([] { return waiting == 0; }));
  }
  static std::string Address() { return std::string(kName) + ":" + std::to_string(SharedServer().port()); }
};

TEST_F(ZkResolverTest, ANameIsAskedForUntilItResolves) {
  answer = Answer::kNone;
  asked = 0;
  ZkProbe probe(Address(), "session=4000&group=/Resolver");
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(Eventually([] { return asked >= 3; }));
  EXPECT_EQ(probe.log().count("FL-2-1"), 1u) << "one line a minute";
  EXPECT_THAT(probe.Describe(), HasSubstr("no server name can be resolved"));
  EXPECT_THAT(probe.sessions(), IsEmpty());
  answer = Answer::kLoopback;
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
}

TEST_F(ZkResolverTest, AResolverThatHangsBlocksNobodyAndStopKeepsItsDeadline) {
  answer = Answer::kNever;
  {
    ZkProbe probe(Address(), "session=4000&group=/Resolver");
    ASSERT_TRUE(Eventually([] { return waiting == 1; }));
    const auto begin = SteadyClock::now();
    EXPECT_EQ(probe.Put("a.B", kProviders, "x").code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(probe.Describe(), HasSubstr("resolving"));
    EXPECT_LT(SteadyClock::now() - begin, milliseconds(500));
    EXPECT_EQ(probe.Stop().code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_LT(SteadyClock::now() - begin, milliseconds(2500));
    EXPECT_EQ(waiting, 1);
  }
  // What was still under way when all else was gone finds nobody and ends.
  answer = Answer::kLoopback;
}

// The library would ask for the name without end meanwhile and neither answer nor reconnect.
TEST_F(ZkResolverTest, ANameThatNoLongerResolvesHurtsNobodyWhoHadItsAddress) {
  ZookeeperServer server;
  ASSERT_EQ(server.Start(), absl::OkStatus());
  answer = Answer::kLoopback;
  ZkProbe probe(std::string(kName) + ":" + std::to_string(server.port()), "session=1000");
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  answer = Answer::kNone;
  asked = 0;
  for (const std::string url : {"p1", "p2"}) {
    server.Kill();
    ASSERT_TRUE(probe.AwaitSession(Session::kSuspended));
    // Until the handle was replaced: the new one, too, gets the address that was known.
    ASSERT_TRUE(Eventually([&] { return asked >= (url == "p1" ? 1 : 4); }));
    ASSERT_EQ(server.Start(), absl::OkStatus());
    ZkClient(server.address()).Create("/dubbo/a.B/providers/" + url);
    ASSERT_TRUE(Eventually([&] {
      const auto told = probe.Told("a.B", kProviders);
      return std::count(told.back().children.begin(), told.back().children.end(), url) == 1;
    }));
  }
  EXPECT_LT(asked, 50);
  EXPECT_EQ(probe.Put("a.B", kProviders, "own"), absl::OkStatus());
}

TEST_F(ZkResolverTest, AServerThatMovedIsFoundBeforeTheSearchIsGivenUp) {
  answer = Answer::kElsewhere;
  ZkProbe probe(Address(), "session=2000&group=/Resolver");
  ASSERT_TRUE(Eventually([&] { return probe.log().count("FL-2-4") > 0; }));
  answer = Answer::kLoopback;
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  EXPECT_EQ(probe.log().count("FL-2-3"), 0u);
}

TEST_F(ZkResolverTest, OneNameOfSeveralThatDoesNotResolveIsSaid) {
  answer = Answer::kNone;
  ZkProbe probe(SharedServer().address(), "session=4000&group=/Resolver&backup=" + std::string(kName));
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  ASSERT_EQ(probe.log().count("FL-2-1"), 1u);
  EXPECT_THAT(probe.log().lines().front().text, HasSubstr(kName));
}

}  // namespace
}  // namespace fairlead
