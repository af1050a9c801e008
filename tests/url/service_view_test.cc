#include "fairlead/url/service_view.h"

#include <gtest/gtest.h>

#include "fairlead/url/service_key.h"

namespace fairlead {
namespace {

class ServiceViewTest : public ::testing::Test {
 protected:
  const UrlParts half_ = ConsumerHalf(*UrlParts::Parse(
      "consumer://10.0.0.9/s.A?application=cons&side=consumer&timeout=1&methods=x&release=3&dubbo.tag=ct&group=*&"
      "empty=&find.retries=4"));
  const UrlParts provider_ = *UrlParts::Parse(
      "dubbo://10.0.0.1:1/s.A?application=prov&side=provider&timeout=3&methods=find,get&group=g&version=1&empty=e&"
      "find.timeout=7&find.retries=5&weight=9");
};

TEST_F(ServiceViewTest, LooksUpOverridesThenConsumerThenProvider) {
  const ServiceView view(provider_, half_);
  EXPECT_EQ(view.Param("timeout"), "1");
  EXPECT_EQ(view.Param("weight"), "9");
  EXPECT_EQ(view.Param("empty"), "e");
  EXPECT_EQ(view.Param("none", "fallback"), "fallback");
  const UrlParts overrides = *UrlParts::Parse("override://0.0.0.0?timeout=8&find.retries=6&weight=");
  const ServiceView overridden(provider_, half_, &overrides);
  EXPECT_EQ(overridden.Param("timeout"), "8");
  EXPECT_EQ(overridden.Param("weight"), "9");
  EXPECT_EQ(overridden.MethodParam("find", "retries"), "6");
}

TEST_F(ServiceViewTest, TheProviderSpeaksForItself) {
  const ServiceView view(provider_, half_);
  EXPECT_EQ(view.Param("group"), "g");
  EXPECT_EQ(view.Param("version"), "1");
  EXPECT_EQ(view.Param("application"), "prov");
  EXPECT_EQ(view.Param("methods"), "find,get");
  EXPECT_EQ(view.Param("dubbo.tag"), "") << "a consumer's tag is not its providers'";
  EXPECT_EQ(view.Param("side"), "consumer");
  EXPECT_EQ(view.Param("category"), "providers");
  EXPECT_EQ(view.Application(), "cons");
  EXPECT_EQ(view.RemoteApplication(), "prov");
  EXPECT_EQ(view.ServiceKey(), "g/s.A:1");
}

TEST_F(ServiceViewTest, AProvidersMethodValueBeatsAConsumersPlainOne) {
  const ServiceView view(provider_, half_);
  EXPECT_EQ(view.MethodParam("find", "timeout"), "7");
  EXPECT_EQ(view.MethodParam("find", "retries"), "4");
  EXPECT_EQ(view.MethodParam("get", "timeout"), "1");
}

TEST(ServiceKeyTest, TakesKeysApart) {
  const ServiceKeyParts parts = ParseServiceKey("g/a.B:1:2");
  EXPECT_EQ(parts.group, "g");
  EXPECT_EQ(parts.interface_name, "a.B");
  EXPECT_EQ(parts.version, "1:2");
  EXPECT_EQ(ParseServiceKey("/a").interface_name, "/a");
  EXPECT_EQ(ParseServiceKey(":1").interface_name, ":1");
  EXPECT_EQ(EmptyUrl("g/a.B:1", "routers").ToFullString(), "empty://0.0.0.0/a.B?category=routers&group=g&version=1");
}

TEST(ServiceKeyTest, KeysOfAUrl) {
  const UrlParts url = *UrlParts::Parse("tri://h:1/alias?interface=a.B&group=g&version=1");
  EXPECT_EQ(PathKey(url), "g/alias:1");
  EXPECT_EQ(DisplayKey(url), "a.B:1");
  EXPECT_EQ(CompatibleColonKey(url), "a.B:1:g");
  EXPECT_EQ(ServiceKeyWithProtocol(url), "g/a.B:1:tri");
  EXPECT_EQ(UrlParts::Parse("tri://h:1?group=g")->ServiceKey(), "") << "no interface, no key";
}

}  // namespace
}  // namespace fairlead
