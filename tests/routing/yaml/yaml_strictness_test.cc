// What yaml-cpp reads otherwise than SnakeYAML 1.33 does, by whose answers these were written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "fairlead/routing/yaml/yaml_parser.h"

namespace fairlead {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Read(std::string_view text) {
  const absl::StatusOr<YamlDocument> document = ParseYamlDocument(text);
  return document.ok() ? document->root.JavaText() : std::string(document.status().message());
}
void ExpectRefused(std::string_view text, const std::string& place, const std::string& why) {
  EXPECT_THAT(Read(text), AllOf(StartsWith(absl::StrCat("YAML, ", place, ": ")), HasSubstr(why))) << text.substr(0, 200);
}

TEST(YamlStrictnessTest, AQuoteThatIsNotClosedIsRefusedWhereItOpens) {
  for (const std::string quote : {"'", "\""}) {
    const std::string rest = "\nconditions:\n  - => host=1.1.1.1\n";
    ExpectRefused("force: true\nkey: " + quote + "s.A" + rest, "line 2, column 6", "not closed; expected a " + quote);
    ExpectRefused("a: 1\r\nkey: " + quote + "s.A\r\n", "line 2, column 6", "not closed");
    ExpectRefused("conditions:\n  - " + quote + "=> host=1.1.1.1\n", "line 2, column 5", "not closed");
    ExpectRefused("a: &x !!str\n  " + quote + "b\n  \n", "line 2, column 3", "not closed");
    ExpectRefused(quote + "abc\n", "line 1, column 1", "not closed");
    ExpectRefused("\xEF\xBB\xBF" "a: " + quote + "b\n", "line 1, column 4", "not closed");
    ExpectRefused("\xE4\xB8\xAD: 1\nb: " + quote + "c\n", "line 2, column 4", "not closed");
    ExpectRefused("a: 1\n---\nb:\n  - " + quote + "c\n", "line 4, column 5", "not closed");
    ExpectRefused("b: [" + quote + "c\n", "line 2, column 1", "expected , or ]");
  }
  ExpectRefused("a: 'it''s\n", "line 1, column 4", "not closed");
  ExpectRefused("a: \"b\\\"\n", "line 1, column 4", "not closed");
  EXPECT_EQ(Read("a: 'b\n  c'\n"), "{a=b c}");
  EXPECT_EQ(Read("a: 'it''s'\nb: \"\\\"\"\n"), "{a=it's, b=\"}");
  EXPECT_EQ(Read("a: it's\n"), "{a=it's}");
}

TEST(YamlStrictnessTest, AKeyWithoutAColonIsRefused) {
  for (const std::string end : {"", "\n", "\n\n# more\n", "\n...\n"}) {
    ExpectRefused("force: true\nconditi" + end, "line 2, column 1", "colon");
    ExpectRefused("a: 1\nforce:true" + end, "line 2, column 1", "colon");
    ExpectRefused("a:\n  b: 1\n  'c'" + end, "line 3, column 3", "colon");
    ExpectRefused("a: &x 1\n*x" + end, "line 2, column 1", "colon");
    ExpectRefused("a: 1\n[b, c]" + end, "line 2, column 1", "colon");
    ExpectRefused("a: 1\n~" + end, "line 2, column 1", "colon");
  }
  const auto both = ParseYaml("kind: a\nspec\n---\nb: 1\n");
  EXPECT_THAT(both.status().message(), HasSubstr("line 2, column 1: expected a colon")) << "a document before another one";
  for (const char* fine : {"a:", "b: 1\na:", "a: #x", "b: 1\na:\n", "? a", "b: 1\n? a\n"}) {
    EXPECT_THAT(Read(fine), HasSubstr("a=null")) << fine;
  }
  EXPECT_EQ(Read("{a, b: 1}"), "{a=null, b=1}") << "in braces it is a key without a value";
}

TEST(YamlStrictnessTest, AKeyWithoutAColonInTheMiddleIsNamed) {
  ExpectRefused("a: 1\nforce:true\nconditions: []\n", "line 2, column 1", "expected a colon and a blank");
  ExpectRefused("a: 1\nforce\n# why\n\nconditions: []\n", "line 2, column 1", "colon");
  ExpectRefused("a:\n  force:true\n  b: 1\n", "line 2, column 3", "expected a colon and a blank");
  ExpectRefused("a: b: c\n", "line 1, column 5", "a colon where no key stands");
}

TEST(YamlStrictnessTest, InBracketsAndBracesAColonBeforeABracketOrBraceEndsTheKey) {
  EXPECT_EQ(Read("tags: [{name: gray, addresses:[\"1.1.1.1\", b]}]"), "{tags=[{name=gray, addresses=[1.1.1.1, b]}]}");
  EXPECT_EQ(Read("{conditions:[\"=> host=1.1.1.1\"]}"), "{conditions=[=> host=1.1.1.1]}");
  EXPECT_EQ(Read("a: {b:{c:{d:[1, [e:[2]]]}}}"), "{a={b={c={d=[1, [{e=[2]}]]}}}}");
  EXPECT_EQ(Read("a: 'x:[y'\nb: x:[y]\nc: [\"x:[\", z:[1]]"), "{a=x:[y, b=x:[y], c=[x:[, {z=[1]}]}")
      << "in a text it stays as it is";
  const auto root = ParseYamlDocument("{a:[x], b:[y], c: z}\n");
  ASSERT_TRUE(root.ok()) << root.status();
  EXPECT_EQ(root->root.Find("c")->mark().column, 19) << "as written";
  EXPECT_EQ(root->root.Find("b")->items()[0].mark().column, 12);
  ExpectRefused("{a:[x], b c: d: e}\n", "line 1, column 15", "");
  std::string many = "a: {";
  for (int i = 0; i < 3000; ++i) absl::StrAppend(&many, "k", i, ":[1], ");
  EXPECT_THAT(Read(many + "}"), HasSubstr("write a blank after the colon"));
}

TEST(YamlStrictnessTest, WhatSnakeYamlRefusesIsRefused) {
  ExpectRefused("a: b\x01", "line 1, column 5", "control character");
  ExpectRefused("a: 1\nb: '\x7F'\n", "line 2, column 5", "control character");
  ExpectRefused("force: true\n\x04" "conditions: []\n", "line 2, column 1", "control character");
  ExpectRefused("a: \xC2\x80", "line 1, column 4", "control character");
  ExpectRefused(std::string("a\0:\0 \0b\0", 8), "line 1, column 2", "control character");
  ExpectRefused("\xFF\xFE" "a:", "line 1, column 1", "");
  ExpectRefused("[a,,b]", "line 1, column 4", "expected a value, found ,");
  ExpectRefused("[, a]", "line 1, column 2", "expected a value, found ,");
  ExpectRefused("{a: 1,,b: 2}", "line 1, column 7", "expected a value, found ,");
  ExpectRefused("{: a}", "line 1, column 2", "expected a value, found :");
  ExpectRefused("a: 1\n: b\n", "line 2, column 1", "expected a value, found :");
  ExpectRefused("%YAML 1.1\na: 1\n", "line 2, column 1", "expected ---");
  ExpectRefused("a: 1\n%b: 2\n", "line 2, column 1", "begin with %");
  ExpectRefused("a: 'x\n  y'\n% b\n", "line 3, column 1", "begin with %");
  ExpectRefused("a: <<", "line 1, column 4", "in quotes");
  ExpectRefused("[<<]", "line 1, column 2", "in quotes");
  ExpectRefused("a: >#c\n  x\n", "line 1, column 5", "expected a blank or the end of the line");
  ExpectRefused("a: |2-x\n  x\n", "line 1, column 7", "unexpected character");
  ExpectRefused("a:\tb", "line 1, column 4", "a tab");
}

TEST(YamlStrictnessTest, WhatSnakeYamlReadsIsRead) {
  EXPECT_EQ(Read("[a, ]"), "[a]");
  EXPECT_EQ(Read("{a: , b: 1}"), "{a=null, b=1}");
  EXPECT_EQ(Read("%YAML 1.1\n---\na: 1\n"), "{a=1}");
  EXPECT_EQ(Read("a: 'x\n\n  %b'\nc: x%\n"), "{a=x\n%b, c=x%}");
  EXPECT_EQ(Read("a: > #c\n  x\n"), "{a=x\n}");
  EXPECT_EQ(Read("a: |2-\n    x\n"), "{a=  x}");
  EXPECT_EQ(Read("a: !!float 1\nb: !!float 010\nc: !!float '5'\n"), "{a=1.0, b=10.0, c=5.0}");
  EXPECT_EQ(Read("a: !!null x"), "{a=null}");
  EXPECT_EQ(Read("a: 1\rb: 2\r\nc: 3"), "{a=1, b=2, c=3}");
  EXPECT_EQ(Read("a: \"\\x01\"\nb: \xC2\x85\xC2\xA0\n").size(), std::string("{a=., b=....}").size());
}

TEST(YamlStrictnessTest, CopiesOfOneTextAreBounded) {
  std::string copies = "a: &x " + std::string(1'000'000, 'y') + "\nb: [";
  for (int i = 0; i < 1000; ++i) copies += "*x, ";
  ExpectRefused(copies + "]", "line 2, column 9", "bytes of texts");
  std::string nested = "a: ";
  for (int i = 0; i < 45; ++i) absl::StrAppend(&nested, "&a", i, " [");
  for (int i = 0; i < 50'000; ++i) nested += "x,";
  EXPECT_THAT(Read(nested + std::string(45, ']')), HasSubstr("more than 100000 values")) << "each anchor keeps a copy";
}

}  // namespace
}  // namespace fairlead
