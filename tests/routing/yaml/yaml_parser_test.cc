#include "fairlead/routing/yaml/yaml_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairlead {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

YamlValue Root(std::string_view text) {
  absl::StatusOr<YamlDocument> document = ParseYamlDocument(text);
  EXPECT_TRUE(document.ok()) << document.status() << "\n" << text;
  return document.ok() ? std::move(document->root) : YamlValue();
}
std::string Error(std::string_view text, const YamlLimits& limits = {}) {
  const absl::StatusOr<YamlDocument> document = ParseYamlDocument(text, limits);
  return document.ok() ? "no error: " + document->root.JavaText() : std::string(document.status().message());
}

TEST(YamlScalarTest, HaveTheTypesOfYaml11) {
  struct Case {
    const char* written;
    YamlValue::Kind kind;
    const char* java;
  };
  using Kind = YamlValue::Kind;
  for (const Case& one : std::vector<Case>{
           {"", Kind::kNull, "null"},          {"~", Kind::kNull, "null"},
           {"NULL", Kind::kNull, "null"},      {"nUll", Kind::kText, "nUll"},
           {"yes", Kind::kBool, "true"},       {"On", Kind::kBool, "true"},
           {"OFF", Kind::kBool, "false"},      {"y", Kind::kText, "y"},
           {"tRue", Kind::kText, "tRue"},      {"0", Kind::kInteger, "0"},
           {"-0", Kind::kInteger, "0"},        {"+12", Kind::kInteger, "12"},
           {"1_000", Kind::kInteger, "1000"},  {"010", Kind::kInteger, "8"},
           {"08", Kind::kText, "08"},          {"0x1F", Kind::kInteger, "31"},
           {"-0b101", Kind::kInteger, "-5"},   {"1:30", Kind::kInteger, "90"},
           {"1:60", Kind::kText, "1:60"},      {"99999999999999999999", Kind::kInteger, "99999999999999999999"},
           {"1.5", Kind::kFloat, "1.5"},       {"3.", Kind::kFloat, "3.0"},
           {".5", Kind::kFloat, "0.5"},        {"1e3", Kind::kFloat, "1000.0"},
           {"1e10", Kind::kFloat, "1.0E10"},   {"1.25e-7", Kind::kFloat, "1.25E-7"},
           {"-.inf", Kind::kFloat, "-Infinity"}, {".NaN", Kind::kFloat, "NaN"},
           {"3.1", Kind::kFloat, "3.1"},       {"3.1.0", Kind::kText, "3.1.0"},
           {"v3.1", Kind::kText, "v3.1"},      {"2026-11-30", Kind::kTimestamp, "2026-11-30"},
           {"10.0.0.1", Kind::kText, "10.0.0.1"}}) {
    const YamlValue value = YamlValue::Plain(one.written, {});
    EXPECT_EQ(value.kind(), one.kind) << one.written;
    EXPECT_EQ(value.JavaText(), one.java) << one.written;
  }
}

TEST(YamlScalarTest, QuotedIsText) {
  const YamlValue root = Root("a: 'yes'\nb: \"12\"\nc: |\n  on\nd: !!str 5\n");
  for (const char* key : {"a", "b", "c", "d"}) {
    ASSERT_NE(root.Find(key), nullptr) << key;
    EXPECT_NE(root.Find(key)->text(), nullptr) << key;
  }
  EXPECT_EQ(*root.Find("c")->text(), "on\n");
  EXPECT_EQ(*root.Find("d")->text(), "5");
}

TEST(YamlScalarTest, IntegersAreReadAsJavaReadsTheirText) {
  EXPECT_EQ(Root("a: 010").Find("a")->AsJavaInt(), 8);
  EXPECT_EQ(Root("a: '010'").Find("a")->AsJavaInt(), 10);
  EXPECT_EQ(Root("a: 2147483648").Find("a")->AsJavaInt(), std::nullopt);
  EXPECT_EQ(Root("a: 1.0").Find("a")->AsJavaInt(), std::nullopt);
  EXPECT_EQ(Root("a: [1]").Find("a")->AsJavaInt(), std::nullopt);
}

TEST(YamlParserTest, ListsAndMapsAreNested) {
  const YamlValue root = Root("list:\n  - a\n  - {b: 1, c: [x, ~]}\nyes: 2\n");
  EXPECT_EQ(root.JavaText(), "{list=[a, {b=1, c=[x, null]}], true=2}");
  EXPECT_EQ(root.Find("yes"), nullptr) << "that key is a boolean";
  ASSERT_NE(root.Find("list"), nullptr);
  EXPECT_EQ(root.Find("list")->items()[1].mark().line, 3);
  EXPECT_EQ(root.Find("list")->items()[1].mark().column, 5);
  EXPECT_EQ(root.size(), 13u);
}

TEST(YamlParserTest, OfEqualKeysTheLastWinsAndIsRemarked) {
  const absl::StatusOr<YamlDocument> document = ParseYamlDocument("force: true\nkey: a\nforce: false\n1: x\n'1': y\n");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->root.JavaText(), "{force=false, key=a, 1=x, 1=y}") << "a number and a text are not equal";
  ASSERT_THAT(document->remarks, SizeIs(1));
  EXPECT_EQ(document->remarks[0].mark.line, 3);
  EXPECT_THAT(document->remarks[0].text, AllOf(HasSubstr("force"), HasSubstr("line 1")));
}

TEST(YamlParserTest, AMergeKeyIsLeftOutAndRemarked) {
  const absl::StatusOr<YamlDocument> document =
      ParseYamlDocument("base: &b {force: true}\nrule:\n  <<: *b\n  key: a\nlist: ['<<']\n'<<': text\n");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->root.JavaText(), "{base={force=true}, rule={key=a}, list=[<<], <<=text}");
  ASSERT_THAT(document->remarks, SizeIs(1));
  EXPECT_THAT(document->remarks[0].text, HasSubstr("merge keys"));
}

TEST(YamlParserTest, AliasesStandForWhatWasAnchored) {
  EXPECT_EQ(Root("a: &x [1, 2]\nb: *x\nc: &x 3\nd: *x\n").JavaText(), "{a=[1, 2], b=[1, 2], c=3, d=3}");
  EXPECT_THAT(Error("a: &x [*x]"), HasSubstr("line 1"));
  EXPECT_THAT(Error("a: *nobody"), HasSubstr("line 1"));
}

TEST(YamlParserTest, ManyValuesFromFewAreRefusedBeforeTheyAreMade) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) laughs += (j == 0 ? "" : ", ") + before;
    laughs += "]\n";
  }
  EXPECT_THAT(Error(laughs), HasSubstr("more than 100000 values"));
  EXPECT_THAT(Error("a: [1, 2, 3]", {.values = 5}), HasSubstr("more than 5 values"));
  EXPECT_EQ(Error("a: [1, 2, 3]", {.values = 6}), "no error: {a=[1, 2, 3]}");
}

TEST(YamlParserTest, DepthIsLimitedAlsoThroughAliases) {
  EXPECT_EQ(Error("[[[]]]", {.depth = 3}), "no error: [[[]]]");
  EXPECT_THAT(Error("[[[[]]]]", {.depth = 3}), HasSubstr("more than 3 lists and maps in each other"));
  EXPECT_THAT(Error("a: &x [[]]\nb: [*x]", {.depth = 3}), HasSubstr("more than 3"));
  EXPECT_THAT(Error(std::string(100'000, '[')), HasSubstr("line 1"));
  EXPECT_THAT(Error(std::string(100'000, '{')), HasSubstr("line 1"));
  std::string minuses;
  for (int i = 0; i < 20'000; ++i) minuses += "- ";
  EXPECT_THAT(Error(minuses), HasSubstr("line 1"));
}

TEST(YamlParserTest, ErrorsSayWhere) {
  EXPECT_THAT(Error("key: a\nfoo: [\n"), HasSubstr("line 3"));
  EXPECT_THAT(Error("key: a\n  b: c\n"), HasSubstr("line 2"));
  EXPECT_THAT(Error("a: !foo b\n"), AllOf(HasSubstr("line 1"), HasSubstr("!foo")));
  EXPECT_THAT(Error("a: !!int x\n"), HasSubstr("does not fit"));
  EXPECT_THAT(Error("\"unfinished"), HasSubstr("line 1"));
  EXPECT_THAT(Error(std::string(20, ' '), {.bytes = 10}), HasSubstr("20 bytes"));
}

// The parser makes documents of nothing for ever at these, as many as one lets it.
TEST(YamlParserTest, WhatCannotBeginADocumentIsAnErrorAtOnce) {
  for (const char* text : {",", "a: 1\n---\n,", ",\ta: 1", "]", "}", "{}\n]\n", "- a\n...\n, b"}) {
    EXPECT_THAT(Error(text), AllOf(HasSubstr("line "), ::testing::Not(HasSubstr("at most")))) << text;
    const auto few = ParseYaml(text, {.values = 4});
    ASSERT_FALSE(few.ok()) << text;
    EXPECT_THAT(std::string(few.status().message()), ::testing::Not(HasSubstr("at most"))) << text;
  }
  EXPECT_THAT(Error("a: 1\n---\n,"), HasSubstr("line 3, column 1"));
  EXPECT_THAT(*ParseYaml("---\n---\n...\n---\na\n"), SizeIs(3));
}

TEST(YamlParserTest, DocumentsAreCounted) {
  EXPECT_THAT(Error(""), HasSubstr("no document"));
  EXPECT_THAT(Error("# only a comment\n"), HasSubstr("no document"));
  EXPECT_EQ(Error("---\n"), "no error: null");
  EXPECT_THAT(Error("a: 1\n---\nb: 2\n"), AllOf(HasSubstr("second document"), HasSubstr("line 3")));
  const auto both = ParseYaml("a: 1\n---\nb: 2\n");
  ASSERT_TRUE(both.ok()) << both.status();
  ASSERT_THAT(*both, SizeIs(2));
  EXPECT_EQ((*both)[1].root.JavaText(), "{b=2}");
}

TEST(YamlParserTest, AnyBytesAreRefusedOrRead) {
  std::string bytes;
  std::uint64_t state = 7;
  for (int round = 0; round < 300; ++round) {
    bytes.clear();
    for (int i = 0; i < 40; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const char alphabet[] = "a:-[]{}&*!|>'\"#%@`,? \n\t\x01\xff\xc3\x00<";
      bytes += alphabet[(state >> 33) % (sizeof alphabet - 1)];
    }
    (void)ParseYaml(bytes);
  }
}

}  // namespace
}  // namespace fairlead
