#include "fairlead/directory/connection_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fairlead/url/url_parts.h"

namespace fairlead {
namespace {

UrlParts Parse(std::string_view text) {
  absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
  EXPECT_TRUE(url.ok()) << url.status();
  return url.ok() ? *url : UrlParts();
}

std::string Key(std::string_view text) { return ConnectionKey(Parse(text)); }

constexpr std::string_view kBase =
    "dubbo://10.0.0.1:20880/a.B?interface=a.B&serialization=hessian2&methods=find,get";

std::string With(std::string_view parameter) { return std::string(kBase) + "&" + std::string(parameter); }

TEST(ConnectionKey, PolicyKeysKeepTheConnection) {
  for (const std::string_view policy : {"weight=200",
                                        "warmup=600000",
                                        "loadbalance=leastactive",
                                        "hash.nodes=320",
                                        "hash.arguments=0,1",
                                        "timeout=5",
                                        "retries=0",
                                        "cluster=failfast",
                                        "forks=3",
                                        "sticky=true",
                                        "mock=force:return null",
                                        "actives=7",
                                        "tag=gray",
                                        "dubbo.tag=gray",
                                        "dubbo.force.tag=true",
                                        "router=tag",
                                        "rule=x",
                                        "runtime=true",
                                        "force=true",
                                        "priority=3",
                                        "providerAddresses=10.0.0.1:20880",
                                        "~region=hz",
                                        "disabled=true",
                                        "enabled=false",
                                        "dynamic=false",
                                        "category=providers",
                                        "check=false",
                                        "anyhost=true",
                                        "pid=7",
                                        "timestamp=99",
                                        "remote.timestamp=98"}) {
    EXPECT_EQ(Key(With(policy)), Key(kBase)) << policy;
    EXPECT_EQ(Key(With("default." + std::string(policy))), Key(kBase)) << policy;
    EXPECT_EQ(Key(With("find." + std::string(policy))), Key(kBase)) << policy;
    EXPECT_EQ(Key(With("default.find." + std::string(policy))), Key(kBase)) << policy;
  }
}

TEST(ConnectionKey, EverythingElseIsAnotherConnection) {
  const std::string key = Key(kBase);
  for (const std::string_view other :
       {"tri://10.0.0.1:20880/a.B?interface=a.B&serialization=hessian2&methods=find,get",
        "dubbo://10.0.0.2:20880/a.B?interface=a.B&serialization=hessian2&methods=find,get",
        "dubbo://10.0.0.1:20881/a.B?interface=a.B&serialization=hessian2&methods=find,get",
        "dubbo://10.0.0.1/a.B?interface=a.B&serialization=hessian2&methods=find,get",
        "dubbo://10.0.0.1:20880/a.C?interface=a.B&serialization=hessian2&methods=find,get",
        "dubbo://10.0.0.1:20880/a.B?interface=a.B&serialization=fastjson&methods=find,get",
        "dubbo://10.0.0.1:20880/a.B?interface=a.B&methods=find,get",
        "dubbo://10.0.0.1:20880/a.B?interface=a.B&serialization=hessian2&methods=find"}) {
    EXPECT_NE(Key(other), key) << other;
  }
  for (const std::string_view parameter : {"connections=3", "group=g", "version=1.0", "find.connections=3",
                                           "region=hz", "hashing=1", "weights=1"}) {
    EXPECT_NE(Key(With(parameter)), key) << parameter;
  }
}

TEST(ConnectionKey, OnlyListedMethodsHaveMethodForms) {
  EXPECT_NE(Key(With("ssl.enabled=true")), Key(With("ssl.enabled=false")));
  EXPECT_NE(Key(With("fin.timeout=1")), Key(With("fin.timeout=2")))
      << "a part of a listed name is not listed";
  EXPECT_EQ(Key(With("get.timeout=1")), Key(With("get.timeout=2")));
  EXPECT_EQ(Key("dubbo://h:1/a.B?save.timeout=1"), Key("dubbo://h:1/a.B?save.timeout=2"))
      << "no list: any method";
  EXPECT_NE(Key("dubbo://h:1/a.B?.timeout=1"), Key("dubbo://h:1/a.B?.timeout=2"));
}

TEST(ConnectionKey, TimeoutsOfATransportCountWhateverMethodsExist) {
  for (const std::string_view name : {"close", "connect", "heartbeat", "idle", "send", "shutdown"}) {
    const std::string url = "dubbo://h:1/a.B?" + std::string(name) + ".timeout=";
    EXPECT_NE(Key(url + "1"), Key(url + "2")) << name;
    EXPECT_NE(Key(url + "1&methods=" + std::string(name)), Key(url + "2&methods=" + std::string(name)))
        << name;
  }
}

TEST(ConnectionKey, CredentialsCountAndAreNotShown) {
  const std::string key = Key("dubbo://joe:s3cr3t@h:1/a.B");
  EXPECT_NE(key, Key("dubbo://joe:other@h:1/a.B"));
  EXPECT_NE(key, Key("dubbo://jim:s3cr3t@h:1/a.B"));
  EXPECT_NE(key, Key("dubbo://joe@h:1/a.B"));
  EXPECT_NE(key, Key("dubbo://h:1/a.B"));
  EXPECT_EQ(key, Key("dubbo://joe:s3cr3t@h:1/a.B"));
  EXPECT_THAT(key, testing::Not(testing::HasSubstr("s3cr3t")));
  EXPECT_THAT(key, testing::Not(testing::HasSubstr("joe")));
}

TEST(ConnectionKey, TextsThatHoldSeparatorsStayApart) {
  UrlParts one = Parse("dubbo://h:1/a.B"), two = one;
  one.params.insert_or_assign("a", "b&c=d");
  two.params.insert_or_assign("a", "b");
  two.params.insert_or_assign("c", "d");
  EXPECT_NE(ConnectionKey(one), ConnectionKey(two));
  one = two = Parse("dubbo://h:1/a.B");
  one.params.insert_or_assign("a", "1:b1:c");
  two.params.insert_or_assign("a", "1:b");
  two.params.insert_or_assign("c", "");
  EXPECT_NE(ConnectionKey(one), ConnectionKey(two));
}

TEST(IsDisabled, DisabledDecidesWhenItSaysAnything) {
  EXPECT_FALSE(IsDisabled(Parse("dubbo://h:1/a.B")));
  EXPECT_TRUE(IsDisabled(Parse("dubbo://h:1/a.B?disabled=true")));
  EXPECT_TRUE(IsDisabled(Parse("dubbo://h:1/a.B?disabled=TRUE&enabled=true")));
  EXPECT_FALSE(IsDisabled(Parse("dubbo://h:1/a.B?disabled=false&enabled=false")));
  EXPECT_FALSE(IsDisabled(Parse("dubbo://h:1/a.B?disabled=yes&enabled=false"))) << "only `true` is true";
  EXPECT_TRUE(IsDisabled(Parse("dubbo://h:1/a.B?disabled=&enabled=false")));
  EXPECT_TRUE(IsDisabled(Parse("dubbo://h:1/a.B?enabled=false")));
  EXPECT_FALSE(IsDisabled(Parse("dubbo://h:1/a.B?enabled=")));
}

}  // namespace
}  // namespace fairlead
