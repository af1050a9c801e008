#include "fairlead/url/match.h"

#include <string>

#include <gtest/gtest.h>

namespace fairlead {
namespace {

bool Match(const std::string& consumer_params, const std::string& provider_params) {
  return Matches(*UrlParts::Parse("consumer://10.0.0.9/s.A?" + consumer_params),
                 *UrlParts::Parse("dubbo://10.0.0.1:20880/s.A?" + provider_params));
}

TEST(MatchTest, OnlyTheLastStarIsAWildcard) {
  EXPECT_TRUE(MatchesGlob("*", ""));
  EXPECT_TRUE(MatchesGlob("a*c", "abbc"));
  EXPECT_TRUE(MatchesGlob("a*a", "a")) << "prefix and suffix may overlap";
  EXPECT_TRUE(MatchesGlob("a*b*c", "a*bxc"));
  EXPECT_FALSE(MatchesGlob("a*b*c", "axbxc"));
  EXPECT_FALSE(MatchesGlob("ab*", "a"));
  EXPECT_FALSE(MatchesGlob("a", ""));
  EXPECT_TRUE(MatchesGlob("", ""));
}

TEST(MatchTest, GroupIsOneOfAListVersionIsNot) {
  EXPECT_TRUE(Match("group=a , b", "group=b"));
  EXPECT_TRUE(Match("group=*", "group=b"));
  EXPECT_TRUE(Match("group=*", ""));
  EXPECT_FALSE(Match("group=a,b", ""));
  EXPECT_FALSE(Match("group=a,*", "group=b"));
  EXPECT_FALSE(Match("group=b", "group=*"));
  EXPECT_FALSE(Match("version=1.0,2.0", "version=1.0"));
  EXPECT_TRUE(Match("version=*", "version=1.0"));
  EXPECT_FALSE(Match("version=0.0.0", ""));
}

TEST(MatchTest, AbsentGroupDiffersFromEmpty) {
  EXPECT_FALSE(Match("group=", ""));
  EXPECT_FALSE(Match("", "group="));
  EXPECT_TRUE(Match("group=", "group="));
}

TEST(MatchTest, CategoriesAreTakenAsDubboTakesThem) {
  EXPECT_TRUE(MatchesCategory("providers", ""));
  EXPECT_FALSE(MatchesCategory("routers", ""));
  EXPECT_TRUE(MatchesCategory("routers", "a*"));
  EXPECT_FALSE(MatchesCategory("routers", "-routers"));
  EXPECT_TRUE(MatchesCategory("consumers", "providers,-routers"));
  EXPECT_TRUE(MatchesCategory("configurators", "dynamicconfigurators"));
}

TEST(MatchTest, DisabledProvidersOnlyForWhoAsksForAll) {
  EXPECT_FALSE(Match("", "enabled=false"));
  EXPECT_FALSE(Match("enabled=true", "enabled=false"));
  EXPECT_TRUE(Match("enabled=*", "enabled=false"));
  EXPECT_TRUE(Match("", "enabled="));
  EXPECT_TRUE(Match("", "disabled=true")) << "disabled is the directory's business";
}

TEST(MatchTest, APushNeedsNoInterfaceAndLetsTheConsumerShadow) {
  const auto pushed = [](const char* consumer, const char* provider) {
    return MatchesPushed(*UrlParts::Parse(consumer), *UrlParts::Parse(provider));
  };
  EXPECT_TRUE(pushed("consumer://h/s.A", "dubbo://h:1/s.A?interface=s.B&category=routers"));
  EXPECT_TRUE(pushed("consumer://h/s.A?enabled=true", "dubbo://h:1/s.A?enabled=false"));
  EXPECT_FALSE(pushed("consumer://h/s.A", "dubbo://h:1/s.A?enabled=false"));
  EXPECT_FALSE(pushed("consumer://h/s.A?category=routers", "dubbo://h:1/s.A"));
  EXPECT_FALSE(pushed("consumer://h/s.A?version=1", "dubbo://h:1/s.A?version=2"));
}

TEST(MatchTest, ApplicationLevelRulesTakeLists) {
  const ProtocolServiceKey instance{"a", "2", "g2", "dubbo"};
  EXPECT_TRUE(Matches({"a", "1,2", "g1 , g2", "tri,dubbo"}, instance));
  EXPECT_TRUE(Matches({"a", "*", "*", ""}, instance));
  EXPECT_FALSE(Matches({"*", "*", "*", ""}, instance));
  EXPECT_FALSE(Matches({"a", "1,*", "g2", ""}, instance));
  EXPECT_FALSE(Matches({"a", "", "g2", ""}, instance));
  EXPECT_TRUE(Matches({"a", "1,", "", ""}, ProtocolServiceKey{"a", "", "", "tri"}));
}

TEST(MatchTest, TellsConfiguratorsRoutesAndProvidersApart) {
  const auto url = [](const char* text) { return *UrlParts::Parse(text); };
  EXPECT_TRUE(IsConfigurator(url("override://0.0.0.0/a")));
  EXPECT_TRUE(IsConfigurator(url("empty://h/a?category=configurators")));
  EXPECT_TRUE(IsRoute(url("condition://0.0.0.0/a?category=routers")));
  EXPECT_TRUE(IsProvider(url("dubbo://h:1/a")));
  EXPECT_FALSE(IsProvider(url("dubbo://h:1/a?category=consumers")));
  EXPECT_FALSE(IsProvider(url("route://h:1/a")));
}

}  // namespace
}  // namespace fairlead
