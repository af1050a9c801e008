#include "fairlead/registry/zookeeper/zk_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/registry/zookeeper/zookeeper_registry.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<ZkOptions> Parse(std::string_view text) {
  UrlPool pool;
  return ZkOptions::Parse(*Url::Parse(text, pool));
}

TEST(ZkOptionsTest, Defaults) {
  const auto options = Parse("zookeeper://10.0.0.1:2182");
  ASSERT_EQ(options.status(), absl::OkStatus());
  EXPECT_EQ(options->servers, "10.0.0.1:2182");
  EXPECT_EQ(options->address, "zookeeper://10.0.0.1:2182");
  EXPECT_EQ(options->auth, "");
  EXPECT_EQ(options->root, "/dubbo");
  EXPECT_EQ(options->config_root, "/dubbo/config");
  EXPECT_EQ(options->session, milliseconds(60000));
}

TEST(ZkOptionsTest, ServersInTheLibrarysForm) {
  EXPECT_EQ(Parse("zookeeper://h")->servers, "h:2181");
  EXPECT_EQ(Parse("zookeeper://h:1?backup=b,c:3")->servers, "h:1,b:2181,c:3");
  EXPECT_EQ(Parse("zookeeper://[::1]:2182?backup=[fe80::2]:2183,[::3]")->servers,
            "::1:2182,fe80::2:2183,::3:2181");
}

TEST(ZkOptionsTest, RootSessionAndWindow) {
  const auto options = Parse("zookeeper://h:1?group=g&session=4000&delay-notification=5000&namespace=n");
  EXPECT_EQ(options->root, "/g");
  EXPECT_EQ(options->config_root, "/n/config");
  EXPECT_EQ(options->session, milliseconds(4000));
  EXPECT_EQ(options->burst.first, milliseconds(5000));
  EXPECT_EQ(Parse("zookeeper://h:1?group=/")->root, "/");
  // No connection can be made in less.
  EXPECT_EQ(Parse("zookeeper://h:1?session=1")->session, milliseconds(500));
}

TEST(ZkOptionsTest, CredentialsOnlyInAuth) {
  const auto options = Parse("zookeeper://alice:secret@h:1?backup=b:2");
  EXPECT_EQ(options->auth, "alice:secret");
  EXPECT_THAT(options->address, Not(HasSubstr("secret")));
  EXPECT_THAT(options->servers, Not(HasSubstr("secret")));
}

TEST(ZkOptionsTest, ErrorsNameWhatIsWrong) {
  const auto no_host = Parse("zookeeper:///x");
  EXPECT_EQ(no_host.status().code(), absl::StatusCode::kInvalidArgument);
  for (const std::string_view backup : {"b:x", "b:70000", "u:secret@b:"}) {
    const auto bad = Parse(std::string("zookeeper://h:1?backup=") + std::string(backup));
    ASSERT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument) << backup;
    EXPECT_THAT(std::string(bad.status().message()), HasSubstr("expected host:port"));
    EXPECT_THAT(std::string(bad.status().message()), Not(HasSubstr("secret")));
  }
  EXPECT_THAT(std::string(Parse("zookeeper://h:1?session=soon").status().message()), HasSubstr("session"));
  EXPECT_THAT(std::string(Parse("zookeeper://h:1?group=a//b").status().message()), HasSubstr("group=a//b"));
}

TEST(ZkOptionsTest, PathsThatNoServerTakesAreRefusedAtOnce) {
  for (const std::string_view group : {".", "..", "/../x", "a/./b", "a/..", "a//b", "a/", "//", "a\tb"}) {
    const auto bad = Parse(std::string("zookeeper://h:1?group=") + std::string(group));
    ASSERT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument) << group;
    EXPECT_THAT(std::string(bad.status().message()), HasSubstr("group=" + std::string(group)));
  }
  for (const std::string_view place : {"dubbo.config-center.root-path=/a/../b", "namespace=..", "namespace=a//b",
                                       "dubbo.config-center.base-path=."}) {
    const auto bad = Parse(std::string("zookeeper://h:1?") + std::string(place));
    ASSERT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument) << place;
    EXPECT_THAT(std::string(bad.status().message()), HasSubstr(std::string(place.substr(0, place.find('=')))));
  }
  for (const std::string_view fine : {"group=...", "group=.a/b..", "group=/", "dubbo.config-center.root-path=/"}) {
    EXPECT_TRUE(Parse(std::string("zookeeper://h:1?") + std::string(fine)).ok()) << fine;
  }
}

TEST(ZkOptionsTest, RootsOfSeveralParts) {
  EXPECT_EQ(Parse("zookeeper://h:1?group=a/b")->root, "/a/b");
  EXPECT_EQ(Parse("zookeeper://h:1?group=/chroot/dubbo")->root, "/chroot/dubbo");
  EXPECT_EQ(Parse("zookeeper://h:1?group=/chroot/dubbo&dubbo.config-center.root-path=/chroot/dubbo/config")->config_root,
            "/chroot/dubbo/config");
}

TEST(ZkOptionsTest, AChrootIsNoPartOfAnAddress) {
  for (const std::string_view backup : {"b:1/chroot", "b/chroot", "b:1,c:2/chroot"}) {
    const auto bad = Parse(std::string("zookeeper://h:1?backup=") + std::string(backup));
    ASSERT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument) << backup;
    EXPECT_THAT(std::string(bad.status().message()), HasSubstr("group=/chroot/dubbo")) << backup;
  }
  // As in Dubbo, where the path is always the name of a class.
  EXPECT_EQ(Parse("zookeeper://h:1/chroot")->root, "/dubbo");
  EXPECT_EQ(Parse("zookeeper://h:1/chroot")->servers, "h:1");
}

TEST(ZkOptionsTest, FactoryNamesItsScheme) {
  EXPECT_EQ(MakeZookeeperRegistryFactory()->scheme(), "zookeeper");
}

}  // namespace
}  // namespace fairlead::internal
