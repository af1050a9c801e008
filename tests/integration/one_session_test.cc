// What three hundred subscribed services cost: one session of one ZooKeeper, and no thread or descriptor more than one.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fairlead/tests/integration/zookeeper_fixture.h"

namespace fairlead {
namespace {

constexpr int kServices = 300;
constexpr int kProviders = 5;

std::string ServiceOf(int n) { return "com.acme.S" + std::to_string(n); }

std::size_t EntriesOf(const char* directory) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) count += !entry.path().empty();
  return count;
}

class OneSessionTest : public ZookeeperFixture {
 protected:
  struct Cost {
    std::size_t threads = 0, descriptors = 0, sessions = 0;
    bool operator==(const Cost&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const Cost& cost) {
      return out << cost.threads << " threads, " << cost.descriptors << " descriptors, " << cost.sessions << " sessions";
    }
  };
  // With no client of the test's own connected.
  static Cost Now() {
    const std::string connections = server_->Ask("cons");
    std::size_t sessions = 0;
    for (std::size_t at = 0; (at = connections.find("sid=0x", at)) != std::string::npos; ++at) ++sessions;
    return {EntriesOf("/proc/self/task"), EntriesOf("/proc/self/fd"), sessions};
  }

  static void Fill() {
    ZkClient admin(server_->address());
    std::vector<std::string> parents, providers;
    admin.Create("/dubbo");
    for (const char* below : {"", "/providers"}) {
      std::vector<std::string> level;
      for (int n = 0; n < kServices; ++n) level.push_back("/dubbo/" + ServiceOf(n) + below);
      admin.CreateMany(level);
    }
    for (int n = 0; n < kServices; ++n) {
      for (int p = 1; p <= kProviders; ++p) {
        providers.push_back(PathOf(ServiceOf(n), "providers",
                                   "dubbo://10.0.0." + std::to_string(p) + ":20880/" + ServiceOf(n) + "?interface=" + ServiceOf(n)));
      }
    }
    admin.CreateMany(providers);
  }
  // As an application that gives each reference its own url would write it.
  std::shared_ptr<Directory> ReferNth(int n) {
    return Refer("consumer://10.9.8.7/" + ServiceOf(n) + "?application=shop",
                 "timestamp=" + std::to_string(n) + "&pid=" + std::to_string(n % 7) + "&check=" + (n % 2 == 0 ? "true" : "false"));
  }
};

TEST_F(OneSessionTest, ThreeHundredServicesCostWhatOneCosts) {
  Fill();
  const Cost none = Now();
  EXPECT_EQ(none.sessions, 0u);
  std::vector<std::shared_ptr<Directory>> directories;
  directories.push_back(ReferNth(0));
  // The helper that opened the connection may still be about to end.
  Cost one;
  ASSERT_TRUE(Eventually([&] {
    one = Now();
    return one.sessions == 1 && one.threads <= none.threads + 2 + 1;  // and the thread of the cache file
  })) << one;
  for (int n = 1; n < kServices; ++n) directories.push_back(ReferNth(n));
  for (int n = 0; n < kServices; ++n) {
    ASSERT_TRUE(Eventually([&] { return Addresses(*directories[n]).size() == kProviders; })) << n;
  }
  EXPECT_TRUE(Eventually([&] { return Now() == one; })) << Now() << ", with one service " << one;

  // All of it is alive: a change of the last one is seen.
  ZkClient(server_->address()).Create(PathOf(ServiceOf(kServices - 1), "providers", "dubbo://10.0.0.9:20880/" + ServiceOf(kServices - 1) +
                                                                                        "?interface=" + ServiceOf(kServices - 1)));
  EXPECT_TRUE(Eventually([&] { return Addresses(*directories.back()).contains("10.0.0.9:20880"); }));

  // An expired session is replaced by one, with one pair of threads.
  ASSERT_TRUE(server_->Restart().ok());
  EXPECT_TRUE(Eventually([&] { return Now() == one; })) << Now() << ", before the restart " << one;
  for (int n = 0; n < kServices; ++n) EXPECT_TRUE(directories[n]->Select({}).ok()) << n;

  while (directories.size() > 1) directories.pop_back();
  EXPECT_TRUE(Eventually([&] { return Now() == one; })) << Now();
  directories.clear();
  EXPECT_TRUE(Eventually([&] { return Now().sessions == 0; })) << "the session ends with its last user";
  const auto again = ReferNth(1);
  EXPECT_TRUE(Eventually([&] { return Now() == one; })) << Now() << ", the first time " << one;
}

TEST_F(OneSessionTest, RegisteringAndReferringShareTheSession) {
  Registration provider = *runtime_->Register(registry("timestamp=1"), "dubbo://10.0.0.1:20880/com.acme.Orders");
  auto orders = Refer("consumer://10.9.8.7/com.acme.Orders", "timestamp=2&check=false");
  EXPECT_EQ(Now().sessions, 1u);
  provider = Registration();
  EXPECT_TRUE(Eventually([] { return ZkClient(server_->address()).Children("/dubbo/com.acme.Orders/providers")->empty(); }));
  EXPECT_TRUE(Eventually([] { return Now().sessions == 1; })) << "that of the consumer, when the test's own has ended";
  orders.reset();
  EXPECT_TRUE(Eventually([&] { return Now().sessions == 0; }));
}

}  // namespace
}  // namespace fairlead
