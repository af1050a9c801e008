#include "fairlead/directory/rule_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairlead::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

UrlParts Consumer(const std::string& params) {
  return *UrlParts::Parse("consumer://10.0.0.9/com.acme.Orders?interface=com.acme.Orders" + params);
}

std::vector<std::string> Names(const std::vector<RuleKey>& keys) {
  std::vector<std::string> names;
  for (const RuleKey& key : keys) names.push_back(key.name());
  return names;
}

TEST(RuleKeysTest, OfServiceAndConsumerApplication) {
  EXPECT_THAT(Names(RuleKeysOf(Consumer("&version=1.0&group=g&application=shop"))),
              ElementsAre("com.acme.Orders:1.0:g.configurators", "com.acme.Orders:1.0:g.condition-router",
                          "com.acme.Orders:1.0:g.affinity-router", "shop.configurators", "shop.condition-router"));
}

TEST(RuleKeysTest, ThePlacesOfAnAbsentVersionAndGroupStay) {
  EXPECT_EQ(RuleKeysOf(Consumer("")).front().name(), "com.acme.Orders::.configurators");
  EXPECT_EQ(RuleKeysOf(Consumer("&version=1.0")).front().name(), "com.acme.Orders:1.0:.configurators");
  EXPECT_EQ(RuleKeysOf(Consumer("&group=g")).front().name(), "com.acme.Orders::g.configurators");
}

TEST(RuleKeysTest, WithoutAnApplicationThereAreNoneOfIt) {
  EXPECT_EQ(RuleKeysOf(Consumer("")).size(), 3u);
  EXPECT_THAT(RuleKeysOfProviders("", Consumer("&application=shop")), IsEmpty());
}

TEST(RuleKeysTest, OfProviderApplications) {
  EXPECT_THAT(Names(RuleKeysOfProviders("orders", Consumer("&application=shop"))),
              ElementsAre("orders.condition-router", "orders.tag-router", "orders.affinity-router", "orders.MESHAPPRULE",
                          "orders.script-router"));
  EXPECT_THAT(Names(RuleKeysOfProviders("shop", Consumer("&application=shop"))),
              ElementsAre("shop.tag-router", "shop.affinity-router", "shop.MESHAPPRULE", "shop.script-router"))
      << "the conditions of the own application are those for all providers";
}

TEST(RuleKeysTest, AnApplicationThatWouldNameAnotherPlaceHasNoDocuments) {
  for (const char* name : {"a/b", "/", "a?b", "a\nb", "../x"}) {
    EXPECT_THAT(RuleKeysOfProviders(name, Consumer("")), IsEmpty()) << name;
  }
}

}  // namespace
}  // namespace fairlead::internal
