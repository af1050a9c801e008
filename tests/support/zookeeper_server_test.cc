#include "fairlead/tests/support/zookeeper_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <stdexcept>

#include "fairlead/tests/support/zk_client.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

class ZookeeperServerTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(server_.Start(), absl::OkStatus()); }

  ZookeeperServer server_;
};

TEST_F(ZookeeperServerTest, DataSurvivesRestartAndKillButNotWipe) {
  {
    ZkClient client(server_.address());
    client.Create("/a/b", "1");
  }
  ASSERT_EQ(server_.Restart(), absl::OkStatus());
  EXPECT_THAT(ZkClient(server_.address()).Get("/a/b"), Optional(std::string("1")));
  server_.Kill();
  EXPECT_FALSE(server_.running());
  ASSERT_EQ(server_.Start(), absl::OkStatus());
  EXPECT_THAT(ZkClient(server_.address()).Get("/a/b"), Optional(std::string("1")));
  server_.Stop();
  server_.Wipe();
  ASSERT_EQ(server_.Start(), absl::OkStatus());
  EXPECT_FALSE(ZkClient(server_.address()).Exists("/a"));
}

TEST_F(ZookeeperServerTest, FrozenServerAnswersAfterThaw) {
  server_.Freeze();
  EXPECT_TRUE(server_.running());
  server_.Thaw();
  EXPECT_TRUE(ZkClient(server_.address()).Exists("/zookeeper"));
}

TEST_F(ZookeeperServerTest, TellsOfItsSessions) {
  ZkClient client(server_.address());
  std::ostringstream session;
  session << "0x" << std::hex << client.id().session;
  EXPECT_THAT(server_.Ask("cons"), HasSubstr(session.str()));
  EXPECT_THAT(server_.Ask("dump"), HasSubstr(session.str()));
  server_.Kill();
  EXPECT_EQ(server_.Ask("cons"), "");
}

TEST_F(ZookeeperServerTest, TwoServersDoNotMeet) {
  ZookeeperServer other;
  ASSERT_EQ(other.Start(), absl::OkStatus());
  EXPECT_NE(other.port(), server_.port());
  ZkClient(other.address()).Create("/only-there");
  EXPECT_FALSE(ZkClient(server_.address()).Exists("/only-there"));
}

TEST_F(ZookeeperServerTest, ClientLoadsDubboTreeByteForByte) {
  const std::vector<ZkTreeNode> tree = ReadDubboTree("boot_all_local");
  ASSERT_FALSE(tree.empty());
  ZkClient client(server_.address());
  client.Load(tree);
  for (const ZkTreeNode& node : tree) {
    EXPECT_THAT(client.Get(node.path), Optional(node.data)) << node.path;
    EXPECT_EQ(client.EphemeralOwner(node.path) != 0, node.ephemeral) << node.path;
  }
  client.Delete("/dubbo");
  EXPECT_FALSE(client.Exists("/dubbo"));
  EXPECT_THROW(ReadDubboTree("nothing"), std::runtime_error);
}

TEST_F(ZookeeperServerTest, ExpiredSessionLosesItsEphemerals) {
  ZkClient client(server_.address());
  client.Create("/e", "", true);
  ZkClient other(server_.address());
  EXPECT_EQ(other.EphemeralOwner("/e"), client.id().session);
  ExpireSession(server_.address(), client.id());
  EXPECT_FALSE(other.Exists("/e"));
}

TEST_F(ZookeeperServerTest, DigestClientKeepsOthersOut) {
  ZkClient owner(server_.address(), "alice:secret");
  owner.Create("/private", "x");
  EXPECT_THAT(owner.Get("/private"), Optional(std::string("x")));
  EXPECT_THROW(ZkClient(server_.address()).Get("/private"), std::runtime_error);
}

TEST_F(ZookeeperServerTest, ManyNodes) {
  ZkClient client(server_.address());
  client.Create("/many");
  client.CreateMany({"/many/b", "/many/a"});
  EXPECT_THAT(client.Children("/many"), Optional(ElementsAre("a", "b")));
  EXPECT_EQ(client.Children("/none"), std::nullopt);
}

}  // namespace
}  // namespace fairlead
