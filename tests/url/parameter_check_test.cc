#include "fairlead/url/parameter_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/url/provider.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr ParameterRule kRules[] = {BoolRule("check"), IntRule("wait", "30")};

std::vector<std::string> Remarks(std::string_view url) { return UnreadableParameters(*UrlParts::Parse(url), kRules); }

TEST(ParameterCheckTest, SaysWhatCannotBeReadAndWhatHolds) {
  EXPECT_THAT(Remarks("x://h?wait=1s&check=yes&other=y"),
              ElementsAre("check=yes: expected true or false; false holds instead",
                          "wait=1s: expected a decimal integer of 32 bits; 30 holds instead"));
  EXPECT_THAT(Remarks("x://h?wait=99999999999"), SizeIs(1));
}

TEST(ParameterCheckTest, AbsentEmptyAndReadableOnesAreSilent) {
  for (const char* url : {"x://h", "x://h?check=&wait=", "x://h?check=TRUE&wait=+5", "x://h?check=False&wait=-1"}) {
    EXPECT_THAT(Remarks(url), IsEmpty()) << url;
  }
}

TEST(ParameterCheckTest, ALongValueIsCut) {
  EXPECT_LT(Remarks("x://h?wait=" + std::string(5000, 'a')).at(0).size(), 200u);
}

TEST(ProviderTest, WhatNoConsumerCanUse) {
  const auto why = [](std::string_view url) { return WhyNoProvider(*UrlParts::Parse(url)); };
  EXPECT_EQ(why("override://h:1/a.B"), "no provider's protocol");
  for (const char* url : {"\xef\xbb\xbf" "dubbo://h:1/a.B", "\\xefdubbo://h:1/a.B", "dub bo://h:1/a.B", "a,b://h:1/a.B"}) {
    EXPECT_EQ(why(url), "no such protocol") << url;
  }
  EXPECT_EQ(why("a+b.c-d_e2://h:1/a.B"), "");
  EXPECT_EQ(why("dubbo:///a.B"), "no host to connect to");
  EXPECT_EQ(why("dubbo://h:65536/a.B"), "no such port");
  for (const char* url : {"dubbo://a b:5/a.B", "dubbo://10.1.0.4:1,10.1.0.5:2/a.B", "dubbo://[::1:5/a.B"}) EXPECT_EQ(why(url), "no such host") << url;
  for (const char* url : {"dubbo://h:65535/a.B", "http://h/a.B", "anything://0.0.0.0:1/a.B", "dubbo://[::1]:5/a.B"}) EXPECT_EQ(why(url), "") << url;
}

}  // namespace
}  // namespace fairlead
