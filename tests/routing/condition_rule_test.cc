#include "fairlead/routing/condition/condition_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

using ::testing::HasSubstr;

TEST(ConditionRuleTest, EveryRejectionNamesTheTextAndTheOffset) {
  for (const char* text : {"a==b => c=d", "a&&b=1 => c=d", "a=!b => c=d", "a,,b => c=d", "=b => c=d", "!=b => c=d", ",b => c=d",
                           "a,b => c=d", "a=1 => =b", "a &= b => c=d", "a=1 => b ! c"}) {
    const auto rule = ConditionRule::Parse(text, Compat::kStrict);
    EXPECT_EQ(rule.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(rule.status().message(), HasSubstr("offset")) << text;
  }
  for (const char* blank : {"", "  ", "\t\n"}) {
    EXPECT_EQ(ConditionRule::Parse(blank, Compat::kStrict).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST(ConditionRuleTest, OdditiesOfTheGrammarAreAccepted) {
  for (const char* text : {"host=1.1.1.1, => a=b", "a=1 & => b=2", "& host = x => a=b", "a=1&b,c => d=e", "host = a b => c=d",
                           "a<=5 => b=c", "a=1 => b=2 => c=3", "名=值 => 地=方", "region=x,host=v => a=b"}) {
    EXPECT_TRUE(ConditionRule::Parse(text, Compat::kStrict).ok()) << text << ": " << ConditionRule::Parse(text, Compat::kStrict).status();
  }
}

TEST(ConditionRuleTest, AnEmptyOrTrueWhenIsEveryCallAndAnEmptyOrFalseThenBlocks) {
  for (const char* text : {"=> a=b", "true => a=b", "a=b"}) {
    const auto rule = ConditionRule::Parse(text, Compat::kStrict);
    EXPECT_TRUE(rule->when.empty()) << text;
    EXPECT_FALSE(rule->blocks) << text;
  }
  for (const char* text : {"a=b =>", "a=b => false", "=>"}) EXPECT_TRUE(ConditionRule::Parse(text, Compat::kStrict)->blocks) << text;
  const auto separators = ConditionRule::Parse("=> &", Compat::kStrict);
  EXPECT_FALSE(separators->blocks) << "a side of operators only is no blacklist";
  EXPECT_TRUE(separators->then.empty());
  EXPECT_FALSE(ConditionRule::Parse("TRUE => a=b", Compat::kStrict)->when.empty());
}

// Field report: `application=my.consumer.app` must not lose its middle.
TEST(ConditionRuleTest, ConsumerAndProviderPrefixesGoEverywhereOrFromKeysOnly) {
  const auto strict = ConditionRule::Parse("consumer.application=my.consumer.app => a=b", Compat::kStrict);
  EXPECT_EQ(strict->when[0].key, "application");
  EXPECT_TRUE(strict->when[0].Holds("my.app"));
  const auto fixed = ConditionRule::Parse("consumer.application=my.consumer.app => provider.a=b", Compat::kFixed);
  EXPECT_EQ(fixed->when[0].key, "application");
  EXPECT_TRUE(fixed->when[0].Holds("my.consumer.app"));
  EXPECT_EQ(fixed->then[0].key, "a");
}

TEST(ConditionRuleTest, HostileTextsEndQuickly) {
  const std::string megabyte(1 << 20, '&');
  std::string keys, lists = "a=";
  for (int i = 0; i < 100000; ++i) {
    keys += "k" + std::to_string(i) + "=v&";
    lists += "v" + std::to_string(i) + ",";
  }
  for (const std::string& text : {megabyte, megabyte + "a", std::string(1 << 20, ' ') + "a", std::string(1 << 20, '='), keys + "=>" + keys,
                                  lists + "=> b=c", std::string("a=\0b => c=d", 11), std::string(1 << 20, 'a')}) {
    (void)ConditionRule::Parse(text, Compat::kStrict);
  }
  Random random(3);
  constexpr std::string_view kPieces[] = {"&", "!", "=", ",", " ", "a", "=>", "$", "~", "*", "arguments[0]", "attachments[", "]", "\n", "é"};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::uint64_t n = random.Below(20); n > 0; --n) text += kPieces[random.Below(std::size(kPieces))];
    (void)ConditionRule::Parse(text, Compat::kStrict);
  }
}

}  // namespace
}  // namespace fairlead
