#include "fairlead/registry/zookeeper/zk_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/url/percent.h"

namespace fairlead::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ZkPathsTest, RootIsGroupWithSlash) {
  EXPECT_EQ(ZkRoot(""), "/dubbo");
  EXPECT_EQ(ZkRoot("g1"), "/g1");
  EXPECT_EQ(ZkRoot("/g1"), "/g1");
  EXPECT_EQ(ZkRoot("/"), "/");
  EXPECT_EQ(ZkRoot("g1/"), "/g1/");
  EXPECT_EQ(ZkRoot("a/b"), "/a/b");
}

TEST(ZkPathsTest, ServicesAndUrlsAreEncoded) {
  EXPECT_EQ(ZkServicePath("/dubbo", "a.b.C$Inner"), "/dubbo/a.b.C%24Inner");
  EXPECT_EQ(ZkServicePath("/dubbo", "a/b"), "/dubbo/a%2Fb");
  EXPECT_EQ(ZkServicePath("/dubbo", "*"), "/dubbo");
  EXPECT_EQ(ZkServicePath("/", "a.B"), "/a.B");
  EXPECT_EQ(ZkCategoryPath("/", "*", "providers"), "//providers");
  const std::string path = ZkUrlPath("/dubbo", "a.B", "providers", "dubbo://10.0.0.1:20880/a.B?k=a b&z=%");
  EXPECT_EQ(path, "/dubbo/a.B/providers/dubbo%3A%2F%2F10.0.0.1%3A20880%2Fa.B%3Fk%3Da+b%26z%3D%25");
  EXPECT_EQ(*PercentDecode(path.substr(path.rfind('/') + 1)), "dubbo://10.0.0.1:20880/a.B?k=a b&z=%");
}

TEST(ZkPathsTest, ConfigRootFollowsParameters) {
  UrlParts registry;
  EXPECT_EQ(ZkConfigRoot(registry), "/dubbo/config");
  registry.params.insert_or_assign("namespace", "n1");
  EXPECT_EQ(ZkConfigRoot(registry), "/n1/config");
  registry.params.insert_or_assign("dubbo.config-center.base-path", "settings");
  EXPECT_EQ(ZkConfigRoot(registry), "/n1/settings");
  registry.params.insert_or_assign("dubbo.config-center.root-path", "x//y/");
  EXPECT_EQ(ZkConfigRoot(registry), "/x/y");
}

TEST(ZkPathsTest, ConfigPathJoinsAsDubboDoes) {
  EXPECT_EQ(ZkConfigPath("/dubbo/config", "g", "k"), "/dubbo/config/g/k");
  EXPECT_EQ(ZkConfigPath("/dubbo/config", "", "k"), "/dubbo/config/k");
  EXPECT_EQ(ZkConfigPath("/dubbo/config", "dubbo", "dubbo"), "/dubbo/config/dubbo/dubbo");
  EXPECT_EQ(ZkConfigPath("/dubbo/config", "mapping", "a.b.C"), "/dubbo/config/mapping/a.b.C");
  EXPECT_EQ(ZkConfigPath("/dubbo/config", "dubbo", "a?b"), "/dubbo/config/dubbo/a");
  EXPECT_EQ(ZkConfigPath("/dubbo//config/", "dubbo", "k"), "/dubbo/config/dubbo/k");
}

TEST(ZkPathsTest, ServiceNamesLeaveOutDubbosOwnNodes) {
  std::vector<std::string> unreadable;
  EXPECT_THAT(
      ZkServiceNames({"a.b.C%24Inner", "config", "mapping", "metadata", "bad%2", "Plain"}, unreadable),
      ElementsAre("a.b.C$Inner", "Plain"));
  EXPECT_THAT(unreadable, ElementsAre("bad%2"));
  unreadable.clear();
  EXPECT_THAT(ZkServiceNames({}, unreadable), IsEmpty());
}

}  // namespace
}  // namespace fairlead::internal
