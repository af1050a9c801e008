#include "fairlead/registry/zookeeper/zk_watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

#include "fairlead/registry/zookeeper/zk_paths.h"
#include "fairlead/tests/registry/zookeeper/zk_probe.h"
#include "fairlead/tests/support/eventually.h"
#include "fairlead/tests/support/zk_client.h"
#include "fairlead/tests/support/zookeeper_server.h"
#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Session = RegistryBackend::Session;

constexpr Category kProviders = Category::kProviders;
constexpr Category kRouters = Category::kRouters;

class ZkWatchesTest : public ::testing::Test {
 protected:
  std::string root() const {
    return std::string("/") + ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  std::string parameters() const { return "session=4000&group=" + root(); }
  void Add(const std::string& url, std::string_view category = "providers",
           std::string_view service = "a.B") {
    client_.Create(internal::ZkUrlPath(root(), service, category, url));
  }
  void Drop(const std::string& url, std::string_view category = "providers",
            std::string_view service = "a.B") {
    client_.Delete(internal::ZkUrlPath(root(), service, category, url));
  }

  const std::string address_ = SharedServer().address();
  ZkClient client_{address_};
};

TEST_F(ZkWatchesTest, ListNowAndAfterEachChange) {
  Add("p1");
  ZkProbe probe(address_, parameters());
  probe.Watch("a.B", kProviders);  // before there is a session
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p1"}));
  EXPECT_EQ(probe.Told("a.B", kProviders).front().generation, 1u);
  Add("p2");
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p1", "p2"}));
  Drop("p1");
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p2"}));
  Drop("p2");
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
}

// "Empty" is only said of a path that had a child: one that was created by consumers says nothing of providers.
TEST_F(ZkWatchesTest, APathThatNeverHadAChildCountsAsMissingWhoeverMadeIt) {
  client_.Create(root() + "/a.B/providers");
  ZkProbe probe(address_, parameters());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitMissing("a.B", kProviders));
  EXPECT_TRUE(probe.Read("a.B", kProviders).missing);
  Add("p1");
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p1"}));
  Drop("p1");
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  EXPECT_FALSE(probe.Told("a.B", kProviders).back().missing);
  EXPECT_FALSE(probe.Read("a.B", kProviders).missing);
}

TEST_F(ZkWatchesTest, MissingPathIsCreated) {
  ZkProbe probe(address_, parameters());
  probe.Watch("a.B$C", kProviders);
  probe.Watch("a.B$C", kRouters);
  ASSERT_TRUE(probe.AwaitList("a.B$C", kProviders, {}));
  ASSERT_TRUE(probe.AwaitList("a.B$C", kRouters, {}));
  EXPECT_THAT(probe.Told("a.B$C", kProviders), SizeIs(1));
  EXPECT_THAT(*client_.Children(root() + "/a.B%24C"), ElementsAre("providers", "routers"));
  Add("p1", "providers", "a.B$C");
  ASSERT_TRUE(probe.AwaitList("a.B$C", kProviders, {"p1"}));
}

TEST_F(ZkWatchesTest, PathThatMayNotBeCreatedIsWaitedFor) {
  ZkClient owner(address_, "alice:secret");
  owner.Create(root());
  ZkProbe probe(address_, parameters());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitMissing("a.B", kProviders));
  EXPECT_EQ(probe.log().count("FL-2-6"), 1u);
  owner.CreateOpen(root() + "/a.B/providers");
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  Add("p1");
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p1"}));
}

TEST_F(ZkWatchesTest, DeletedAndRecreatedTreeIsSeenEachTime) {
  Add("p1");
  ZkProbe probe(address_, parameters());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p1"}));
  for (const std::string url : {"p2", "p3", "p4"}) {
    client_.Delete(root());
    ASSERT_TRUE(probe.AwaitMissing("a.B", kProviders));
    EXPECT_FALSE(client_.Exists(root()));
    Add(url);
    ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {url}));
    Add(url + "+");
    ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {url, url + "+"}));
  }
}

TEST_F(ZkWatchesTest, BurstIsToldInFewListsAndNothingIsLost) {
  constexpr int kCount = 1000;
  client_.Create(root() + "/a.B/providers");
  ZkProbe probe(address_, parameters());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  std::vector<std::string> paths;
  ZkProbe::List urls;
  for (int i = 0; i < kCount; ++i) {
    urls.push_back("p" + std::to_string(i));
    paths.push_back(root() + "/a.B/providers/" + urls.back());
  }
  std::sort(urls.begin(), urls.end());
  client_.CreateMany(paths);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, urls));
  // The empty list, one read at once, one a window: 100, 200, 400 ... ms. A slow machine has more windows.
  EXPECT_LE(probe.Told("a.B", kProviders).size(), 10u);
}

// All clients of a server that comes back are at its door.
TEST_F(ZkWatchesTest, ReadsAfterALostSessionAreSpreadOverASecond) {
  constexpr int kLists = 60;
  ZkProbe probe(address_, parameters());
  std::mutex mutex;
  int first_reads = 0;
  std::vector<std::chrono::steady_clock::time_point> again;
  probe.Run([&](RegistryBackend& backend) {
    for (int i = 0; i < kLists; ++i) {
      backend.Watch("s" + std::to_string(i), kProviders, [&](const ChildrenAnswer& answer) {
        const std::lock_guard lock(mutex);
        if (answer.generation == 1) ++first_reads;
        if (answer.generation == 2) again.push_back(std::chrono::steady_clock::now());
      });
    }
  });
  const auto all = [&](int generation) {
    const std::lock_guard lock(mutex);
    return (generation == 1 ? first_reads : static_cast<int>(again.size())) == kLists;
  };
  ASSERT_TRUE(Eventually([&] { return all(1); }));
  ExpireSession(address_, probe.session_id());
  ASSERT_TRUE(Eventually([&] { return all(2); }));
  EXPECT_GT(again.back() - again.front(), std::chrono::milliseconds(400));
}

TEST_F(ZkWatchesTest, WindowHoldsBackProvidersButNoRules) {
  client_.Create(root() + "/a.B/providers");
  client_.Create(root() + "/a.B/routers");
  ZkProbe probe(address_, parameters() + "&delay-notification=3600000");
  probe.Watch("a.B", kProviders);
  probe.Watch("a.B", kRouters);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {}));
  ASSERT_TRUE(probe.AwaitList("a.B", kRouters, {}));
  Add("p1");
  Add("r1", "routers");
  ASSERT_TRUE(probe.AwaitList("a.B", kRouters, {"r1"}));
  Add("r2", "routers");
  ASSERT_TRUE(probe.AwaitList("a.B", kRouters, {"r1", "r2"}));
  EXPECT_THAT(probe.Told("a.B", kProviders), SizeIs(1));
}

TEST_F(ZkWatchesTest, TwelveThousandChildren) {
  constexpr int kCount = 12000;
  client_.Create(root() + "/a.B/providers");
  std::vector<std::string> paths;
  ZkProbe::List urls;
  for (int i = 0; i < kCount; ++i) {
    urls.push_back("dubbo://10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250) + ":20880/a.B?" +
                   std::string(150, 'x'));
    paths.push_back(internal::ZkUrlPath(root(), "a.B", "providers", urls.back()));
  }
  std::sort(urls.begin(), urls.end());
  client_.CreateMany(paths);
  ZkProbe probe(address_, parameters());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, urls));
  client_.Delete(paths.front());
  urls.erase(std::find(urls.begin(), urls.end(),
                       *PercentDecode(paths.front().substr(paths.front().rfind('/') + 1))));
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, urls));
}

TEST_F(ZkWatchesTest, AfterUnwatchNothingIsTold) {
  Add("p1");
  ZkProbe probe(address_, parameters());
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p1"}));
  probe.Unwatch("a.B", kProviders);
  probe.Watch("a.B", kRouters);
  ASSERT_TRUE(probe.AwaitList("a.B", kRouters, {}));
  const std::size_t before = probe.Told("a.B", kProviders).size();
  Add("p2");
  Add("r1", "routers");
  ASSERT_TRUE(probe.AwaitList("a.B", kRouters, {"r1"}));
  EXPECT_THAT(probe.Told("a.B", kProviders), SizeIs(before));
  probe.Watch("a.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p1", "p2"}));
  Drop("p1");
  ASSERT_TRUE(probe.AwaitList("a.B", kProviders, {"p2"}));
}

TEST_F(ZkWatchesTest, CallbacksMayCallEverything) {
  Add("p1");
  ZkProbe probe(address_, parameters());
  int told = 0;
  probe.Run([&](RegistryBackend& backend) {
    backend.Watch("a.B", kProviders, [&](const ChildrenAnswer& answer) {
      ++told;
      EXPECT_THAT(answer.children, ElementsAre("p1"));
      backend.Unwatch("a.B", kProviders);
      backend.Watch("a.B", kRouters, [&](const ChildrenAnswer&) {
        ++told;
        backend.Watch("a.B", kRouters, [&](const ChildrenAnswer&) { ++told; });
      });
    });
  });
  probe.Watch("other.B", kProviders);
  ASSERT_TRUE(probe.AwaitList("other.B", kProviders, {}));
  Add("r1", "routers");
  Add("p9", "providers", "other.B");
  ASSERT_TRUE(probe.AwaitList("other.B", kProviders, {"p9"}));
  probe.Run([&](RegistryBackend&) { EXPECT_GE(told, 3); });
}

TEST_F(ZkWatchesTest, ReadLooksOnceAndCreatesNothing) {
  ZkProbe probe(address_, parameters());
  ASSERT_TRUE(probe.AwaitSession(Session::kConnected));
  const ChildrenAnswer none = probe.Read("a.B", kProviders);
  EXPECT_EQ(none.status, absl::OkStatus());
  EXPECT_TRUE(none.missing);
  EXPECT_FALSE(client_.Exists(root()));
  Add("p1");
  const ChildrenAnswer one = probe.Read("a.B", kProviders);
  EXPECT_FALSE(one.missing);
  EXPECT_THAT(one.children, ElementsAre("p1"));
  EXPECT_EQ(one.generation, 1u);
}

TEST_F(ZkWatchesTest, ServicesByName) {
  ZkProbe probe(address_, parameters());
  probe.WatchServices();
  ASSERT_TRUE(probe.AwaitServices({}));
  EXPECT_TRUE(client_.Exists(root()));
  Add("p1");
  Add("p1", "providers", "a.B$C");
  client_.Create(root() + "/config/dubbo");
  client_.Create(root() + "/metadata");
  client_.Create(root() + "/mapping");
  client_.Create(root() + "/bad%2");
  ASSERT_TRUE(probe.AwaitServices({"a.B", "a.B$C"}));
  ASSERT_TRUE(probe.Await([&] { return probe.log().count("FL-2-7") == 1; }));
  client_.Delete(root() + "/a.B");
  ASSERT_TRUE(probe.AwaitServices({"a.B$C"}));
  // A root that is taken away is no news; what stands in its place is.
  client_.Delete(root());
  Add("p1", "providers", "d.E");
  ASSERT_TRUE(probe.AwaitServices({"d.E"}));
  probe.Run([](RegistryBackend& backend) { backend.UnwatchServices(); });
}

TEST_F(ZkWatchesTest, DocumentsFromNoneToNone) {
  const std::string parameters = "session=4000&namespace=" + root().substr(1);
  const std::string path = root() + "/config/dubbo/app.tag-router";
  ZkProbe probe(address_, parameters);
  probe.WatchConfig("dubbo", "app.tag-router");
  ASSERT_TRUE(probe.AwaitConfig("dubbo", "app.tag-router", std::nullopt));
  EXPECT_FALSE(client_.Exists(root()));
  client_.Create(path, "tags: []");
  ASSERT_TRUE(probe.AwaitConfig("dubbo", "app.tag-router", "tags: []"));
  client_.Set(path, "tags: [x]");
  ASSERT_TRUE(probe.AwaitConfig("dubbo", "app.tag-router", "tags: [x]"));
  client_.Set(path, "tags: [x]");  // not told
  client_.Set(path, "");
  ASSERT_TRUE(probe.AwaitConfig("dubbo", "app.tag-router", std::nullopt));
  client_.Set(path, std::string(200000, 'y'));
  ASSERT_TRUE(probe.AwaitConfig("dubbo", "app.tag-router", std::string(200000, 'y')));
  client_.Delete(root());
  ASSERT_TRUE(probe.AwaitConfig("dubbo", "app.tag-router", std::nullopt));
  client_.Create(path, "again");
  ASSERT_TRUE(probe.AwaitConfig("dubbo", "app.tag-router", "again"));
  EXPECT_THAT(probe.ToldConfig("dubbo", "app.tag-router"), SizeIs(7));

  probe.Run([](RegistryBackend& backend) { backend.UnwatchConfig("dubbo", "app.tag-router"); });
  probe.WatchConfig("", "other");
  client_.Set(path, "unseen");
  client_.Create(root() + "/config/other", "x");
  ASSERT_TRUE(probe.AwaitConfig("", "other", "x"));
  EXPECT_THAT(probe.ToldConfig("dubbo", "app.tag-router"), SizeIs(7));
}

TEST(ZkDubboTreeTest, TreesOfRealDubboAreUnderstood) {
  ZookeeperServer server;
  ASSERT_EQ(server.Start(), absl::OkStatus());
  ZkClient client(server.address());
  client.Load(ReadDubboTree("boot_all_local"));
  client.Load(ReadDubboTree("governance_rules"));
  ZkProbe probe(server.address());
  probe.WatchServices();
  ASSERT_TRUE(probe.AwaitServices({"peer.DemoService"}));
  probe.Watch("peer.DemoService", kProviders);
  const std::string providers = "/dubbo/peer.DemoService/providers/";
  const std::string documents = "/dubbo/config/dubbo/";
  int seen = 0;
  for (const std::string_view scenario : {"boot_all_local", "governance_rules"}) {
    for (const ZkTreeNode& node : ReadDubboTree(scenario)) {
      if (node.path.starts_with(providers)) {
        const std::string url = *PercentDecode(node.path.substr(providers.size()));
        EXPECT_EQ(internal::ZkUrlPath("/dubbo", "peer.DemoService", "providers", url), node.path);
        EXPECT_TRUE(probe.AwaitList("peer.DemoService", kProviders, {url}));
        ++seen;
      } else if (node.path.starts_with(documents)) {
        const std::string key = node.path.substr(documents.size());
        probe.WatchConfig("dubbo", key);
        EXPECT_TRUE(probe.AwaitConfig("dubbo", key, node.data)) << key;
        ++seen;
      }
    }
  }
  EXPECT_EQ(seen, 5);

  client.Load(ReadDubboTree("raw_custom_root"));
  ZkProbe other_root(server.address(), "session=4000&group=myroot");
  other_root.WatchServices();
  EXPECT_TRUE(other_root.AwaitServices({"org.demo.Svc"}));
}

}  // namespace
}  // namespace fairlead
