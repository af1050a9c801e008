#include "fairlead/routing/condition/condition_rule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/random.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

KeyPatterns Key(std::string key, std::vector<std::string> matches, std::vector<std::string> mismatches = {}) {
  return {std::move(key), std::move(matches), std::move(mismatches)};
}

ConditionRule Rule(std::string_view text, Compat compat = Compat::kStrict) {
  absl::StatusOr<ConditionRule> rule = ParseConditionRule(text, compat);
  EXPECT_TRUE(rule.ok()) << text << ": " << rule.status();
  return rule.ok() ? *std::move(rule) : ConditionRule();
}
Conditions Side(std::string_view text) { return Rule(std::string(text) + " => x=y").when; }

struct Rejected {
  const char* text;
  const char* at;  // "at byte N"
  const char* expected;
};

TEST(ConditionRuleTest, EveryRejectionSaysWhereAndWhatWasExpected) {
  for (const Rejected& row : {
           Rejected{"a==b => c=d", "at byte 1:", "found '=='"},
           Rejected{"a && b=1 => c=d", "at byte 2:", "found '&&'"},
           Rejected{"a=!b => c=d", "at byte 1:", "found '=!'"},
           Rejected{"a=1,,b => c=d", "at byte 3:", "found ',,'"},
           Rejected{"a=1,=b => c=d", "at byte 3:", "found ',='"},
           Rejected{"a &= b => c=d", "at byte 2:", "found '&='"},
           Rejected{"a!1 => c=d", "at byte 1:", "found '!'"},
           Rejected{"=b => c=d", "at byte 0:", "expected a key before '='"},
           Rejected{"  != b => c=d", "at byte 2:", "expected a key before '!='"},
           Rejected{",b => c=d", "at byte 0:", "and a value before ','"},
           Rejected{"a,b => c=d", "at byte 1:", "and a value before ','"},
           Rejected{"a=1 => =b", "at byte 7:", "expected a key before '='"},
           Rejected{"a=1 => b ! c", "at byte 9:", "found '!'"},
       }) {
    const auto rule = ParseConditionRule(row.text, Compat::kStrict);
    ASSERT_EQ(rule.status().code(), absl::StatusCode::kInvalidArgument) << row.text;
    EXPECT_THAT(rule.status().message(), HasSubstr(row.text));
    EXPECT_THAT(rule.status().message(), HasSubstr(row.at));
    EXPECT_THAT(rule.status().message(), HasSubstr(row.expected));
  }
  for (const char* blank : {"", "  ", "\t\n", "\x01\x1f"}) {
    const auto rule = ParseConditionRule(blank, Compat::kStrict);
    EXPECT_EQ(rule.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(rule.status().message(), HasSubstr("blank"));
  }
}

TEST(ConditionRuleTest, PositionsAreThoseOfTheTextAsGiven) {
  // Java erases both words before it looks; the user did not.
  for (const Compat compat : {Compat::kStrict, Compat::kFixed}) {
    const auto rule = ParseConditionRule("consumer.a=1 & provider.b=x => consumer.c==2", compat);
    EXPECT_THAT(rule.status().message(), HasSubstr("at byte 41:"));
  }
}

TEST(ConditionRuleTest, SplitsAtTheFirstArrow) {
  EXPECT_THAT(Rule("a=1=>b=2").when, ElementsAre(Key("a", {"1"})));
  EXPECT_THAT(*Rule("a=1=>b=2").then, ElementsAre(Key("b", {"2"})));
  EXPECT_THAT(*Rule("a=1=>b=2=>host=3").then, ElementsAre(Key("b", {"2", ">host", "3"})));
  EXPECT_THAT(Rule("host = 3").when, IsEmpty());
  EXPECT_THAT(*Rule("host = 3").then, ElementsAre(Key("host", {"3"})));
}

TEST(ConditionRuleTest, ABlankOrTrueWhenIsEveryCallAndABlankOrFalseThenIsABlacklist) {
  for (const char* text : {"=> a=b", "true => a=b", " \t\x01=> a=b", "\u3000=> a=b", "a=b"}) {
    EXPECT_THAT(Rule(text).when, IsEmpty()) << text;
    EXPECT_TRUE(Rule(text).then.has_value()) << text;
  }
  for (const char* text : {"a=b =>", "a=b => false", "=>", "a=b=>\u2003\u205f"}) {
    EXPECT_FALSE(Rule(text).then.has_value()) << text;
  }
  EXPECT_THAT(Rule("TRUE => a=b").when, ElementsAre(Key("TRUE", {})));
  EXPECT_THAT(*Rule("=> FALSE").then, ElementsAre(Key("FALSE", {})));
  EXPECT_THAT(*Rule("=> &").then, IsEmpty()) << "no tokens, but no blacklist either";
  EXPECT_THAT(Rule("\u00a0 => a=b").when, ElementsAre(Key("\u00a0", {}))) << "a no-break space is a word";
}

TEST(ConditionRuleTest, OdditiesOfTheGrammar) {
  EXPECT_THAT(Side("a=1&b,c"), ElementsAre(Key("a", {"1", "c"}), Key("b", {})));
  EXPECT_THAT(Side("host"), ElementsAre(Key("host", {})));
  EXPECT_THAT(Side("host="), ElementsAre(Key("host", {})));
  EXPECT_THAT(Side("host=1.1.1.1,"), ElementsAre(Key("host", {"1.1.1.1"})));
  EXPECT_THAT(Side("host=1 &"), ElementsAre(Key("host", {"1"})));
  EXPECT_THAT(Side("& host = x"), ElementsAre(Key("host", {"x"})));
  EXPECT_THAT(Side("region=x,host=v"), ElementsAre(Key("region", {"x", "host", "v"})));
  EXPECT_THAT(Side("host = a b"), ElementsAre(Key("host", {"a"}), Key("b", {})));
  EXPECT_THAT(Side("a<=5"), ElementsAre(Key("a<", {"5"})));
  EXPECT_THAT(Side("a=1!=2=3 , 4"), ElementsAre(Key("a", {"1", "3", "4"}, {"2"})));
  EXPECT_THAT(Side("a=1 & a!=2"), ElementsAre(Key("a", {"1"}, {"2"}))) << "& goes on with a known key";
  EXPECT_THAT(Side("a=1 a=2"), ElementsAre(Key("a", {"2"}))) << "a blank replaces it";
  EXPECT_THAT(Side("a=1 a,2"), ElementsAre(Key("a", {}))) << "the list that was replaced is filled, and lost";
  EXPECT_THAT(Side("a= = =b"), ElementsAre(Key("a", {"b"}))) << "only what touches the word counts";
  EXPECT_THAT(Side("&&&"), IsEmpty()) << "separators that nothing follows are dropped";
  EXPECT_THAT(Side("a & = b"), ElementsAre(Key("a", {"b"})));
  EXPECT_THAT(Side("名 = 值\n&\r\n地!=方"), ElementsAre(Key("名", {"值"}), Key("地", {}, {"方"})));
  EXPECT_THAT(Side("a=\"x\""), ElementsAre(Key("a", {"\"x\""})));
}

// Field report 82: `application=my.consumer.app` must not lose its middle.
TEST(ConditionRuleTest, StrictErasesPrefixesEverywhereAndFixedOnlyBeforeKeys) {
  constexpr std::string_view text = "consumer.application=my.consumer.app => provider.host=provider.x";
  EXPECT_THAT(Rule(text).when, ElementsAre(Key("application", {"my.app"})));
  EXPECT_THAT(*Rule(text).then, ElementsAre(Key("host", {"x"})));
  EXPECT_THAT(Rule(text, Compat::kFixed).when, ElementsAre(Key("application", {"my.consumer.app"})));
  EXPECT_THAT(*Rule(text, Compat::kFixed).then, ElementsAre(Key("host", {"provider.x"})));
  EXPECT_EQ(Rule(text).text, text);

  EXPECT_THAT(Side("a=consumconsumer.er."), ElementsAre(Key("a", {"consumer."})))
      << "erased once, from the left";
  EXPECT_THAT(Side("providconsumer.er.x=1"), ElementsAre(Key("x", {"1"})))
      << "the second word after the first";
  EXPECT_THAT(Rule("host=1&consumer.host=2 => x=y", Compat::kFixed).when,
              ElementsAre(Key("host", {"1", "2"})));
}

TEST(ConditionRuleTest, OneSideAloneReadsTheSameLanguage) {
  EXPECT_THAT(*ParseConditions("consumer.env=gray & level!=1"),
              ElementsAre(Key("consumer.env", {"gray"}), Key("level", {}, {"1"})));
  EXPECT_THAT(*ParseConditions("  "), IsEmpty());
  EXPECT_THAT(ParseConditions("consumer.a==1").status().message(), HasSubstr("at byte 10:"));
}

TEST(ConditionRuleTest, HostileTextsAreQuotedShortly) {
  const std::string nul("a=\0b==c => x=y", 14);
  EXPECT_THAT(ParseConditionRule(nul, Compat::kStrict).status().message(), HasSubstr("at byte 4:"));
  const std::string operators = "a" + std::string(1 << 20, '=') + "b";
  const std::string message(ParseConditionRule(operators, Compat::kStrict).status().message());
  EXPECT_LT(message.size(), 1000u);
}

// A megabyte each: quadratic work would not end within the test's time limit.
TEST(ConditionRuleTest, HostileTextsAreReadInLinearTime) {
  const auto repeated = [](std::string_view piece, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += piece;
    return text;
  };
  const auto numbered = [](std::string_view before, std::string_view after, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text.append(before).append(std::to_string(i)).append(after);
    return text;
  };
  constexpr std::size_t n = 1 << 20;
  const std::string texts[] = {
      repeated("&", n),
      repeated("=", n) + "a",
      "a" + repeated("= ", n / 2) + "a",
      repeated(" ", n) + "a=1",
      repeated("=>", n / 2),
      repeated("a", n),
      repeated("consumer.", n / 32),
      repeated("provider.a=1&", n / 32),
      "a=" + numbered("v", ",", n / 32),
      numbered("k", "=v&", n / 32) + "=>" + numbered("k", "!=v ", n / 32),
      repeated("a=1 ", n / 32),
      repeated("arguments[", n / 32) + "=1",
      repeated("\u3000", n / 3),
  };
  for (const std::string& text : texts) {
    for (const Compat compat : {Compat::kStrict, Compat::kFixed}) (void)ParseConditionRule(text, compat);
  }
}

TEST(ConditionRuleTest, RandomTextsNeverCrash) {
  Random random(3);
  constexpr std::string_view kPieces[] = {"&",
                                          "!",
                                          "=",
                                          ",",
                                          " ",
                                          "a",
                                          "=>",
                                          "$",
                                          "~",
                                          "*",
                                          "arguments[0]",
                                          "attachments[",
                                          "]",
                                          "\n",
                                          "é",
                                          "consumer.",
                                          "provider.",
                                          "\u3000",
                                          std::string_view("\0", 1),
                                          "\xff"};
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::uint64_t n = random.Below(20); n > 0; --n) text += kPieces[random.Below(std::size(kPieces))];
    for (const Compat compat : {Compat::kStrict, Compat::kFixed}) {
      const auto rule = ParseConditionRule(text, compat);
      if (rule.ok()) {
        ++accepted;
        EXPECT_EQ(rule->text, text);
      }
    }
  }
  EXPECT_GT(accepted, 2000);
}

}  // namespace
}  // namespace fairlead
