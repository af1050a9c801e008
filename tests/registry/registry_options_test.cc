#include "fairlead/registry/registry_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>

#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

class RegistryOptionsTest : public ::testing::Test {
 protected:
  absl::StatusOr<RegistryOptions> Parse(std::string_view text) {
    return RegistryOptions::Parse(Url::Parse(text, pool_).value());
  }
  UrlPool pool_;
};

TEST_F(RegistryOptionsTest, Defaults) {
  const RegistryOptions options = Parse("zookeeper://u:secret@10.0.0.1:2181?timeout=").value();
  EXPECT_EQ(options.address, "zookeeper://10.0.0.1:2181");
  EXPECT_EQ(options.timeout, milliseconds(5000));
  EXPECT_EQ(options.session, milliseconds(60000));
  EXPECT_EQ(options.retry_period, milliseconds(5000));
  EXPECT_EQ(options.retry_times, -1);
  EXPECT_EQ(options.missing_grace, milliseconds(30000));
  EXPECT_EQ(options.resync_period, milliseconds(600000));
  EXPECT_EQ(options.burst.first, milliseconds(100));
  EXPECT_EQ(options.burst.longest, milliseconds(1000));
  EXPECT_EQ(options.group, "dubbo");
  EXPECT_TRUE(options.check);
  EXPECT_FALSE(options.simplified);
  EXPECT_TRUE(options.registers && options.subscribes);
}

TEST_F(RegistryOptionsTest, EveryKnobIsAParameter) {
  const RegistryOptions options =
      Parse(
          "zookeeper://h:1?backup=h2:2&timeout=7&session=800&retry.period=9&retry.times=3&missing.grace=0"
          "&resync.period=0&check=false&simplified=TRUE&delay-notification=0&group=g&accepts=tri,-x&register=false&subscribe=false")
          .value();
  EXPECT_EQ(options.address, "zookeeper://h:1,h2:2");
  EXPECT_EQ(options.timeout, milliseconds(7));
  EXPECT_EQ(options.session, milliseconds(800));
  EXPECT_EQ(options.retry_period, milliseconds(9));
  EXPECT_EQ(options.retry_times, 3);
  EXPECT_EQ(options.missing_grace, milliseconds(0));
  EXPECT_EQ(options.resync_period, milliseconds(0));
  EXPECT_FALSE(options.check);
  EXPECT_TRUE(options.simplified);
  EXPECT_FALSE(options.registers || options.subscribes);
  EXPECT_EQ(options.burst.first, milliseconds(0));
  EXPECT_EQ(options.burst.longest, milliseconds(0));
  EXPECT_EQ(options.group, "g");
}

TEST_F(RegistryOptionsTest, NoSessionIsShorterThanHalfASecond) {
  for (const char* kind : {"redis", "zookeeper", "multicast"}) {
    EXPECT_EQ(Parse(std::string(kind) + "://h:1?session=1")->session, milliseconds(500));
    EXPECT_EQ(Parse(std::string(kind) + "://h:1?session=501")->session, milliseconds(501));
  }
}

TEST_F(RegistryOptionsTest, TheAddressHasNoCredentials) {
  EXPECT_EQ(Parse("zookeeper://u:secret@h:1?backup=a:2,u:secret@b:3")->address, "zookeeper://h:1,a:2,b:3");
}

TEST_F(RegistryOptionsTest, UnreadableValuesAreNamed) {
  for (const std::string_view bad : {"timeout=soon", "timeout=0", "session=-1", "retry.period=1.5",
                                     "delay-notification=-5", "retry.times=x", "missing.grace=99999999999"}) {
    const auto options = Parse("zookeeper://h:1?" + std::string(bad));
    const std::string key(bad.substr(0, bad.find('=')));
    const std::string value(bad.substr(bad.find('=') + 1));
    ASSERT_FALSE(options.ok()) << bad;
    EXPECT_TRUE(absl::IsInvalidArgument(options.status()));
    EXPECT_THAT(options.status().ToString(), AllOf(HasSubstr(key), HasSubstr(value)));
  }
}

// What Dubbo 3.3 answers for a dubbo:// url.
TEST_F(RegistryOptionsTest, Accepts) {
  const std::pair<std::string_view, bool> cases[] = {
      {"dubbo", true},  {"-dubbo", false}, {"dubbo,tri", true}, {"tri,-dubbo", false}, {" dubbo", false},
      {"DUBBO", false}, {"", true},        {"-tri", true},      {"tri , dubbo", true}};
  for (const auto& [accepts, expected] : cases) {
    const RegistryOptions options = Parse("zookeeper://h:1?accepts=" + std::string(accepts)).value();
    EXPECT_EQ(options.Accepts("dubbo"), expected) << accepts;
  }
}

}  // namespace
}  // namespace fairlead
