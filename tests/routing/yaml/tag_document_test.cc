#include "fairlead/routing/yaml/tag_document.h"

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

TagDocument Document(std::string_view yaml) {
  absl::StatusOr<TagDocument> document = ParseTagDocument(yaml, Compat::kStrict);
  EXPECT_TRUE(document.ok()) << document.status() << "\n" << yaml;
  return document.ok() ? *std::move(document) : TagDocument();
}
std::string Error(std::string_view yaml) {
  const absl::StatusOr<TagDocument> document = ParseTagDocument(yaml, Compat::kStrict);
  return document.ok() ? "no error" : std::string(document.status().message());
}
std::vector<std::string> Remarks(const TagDocument& document) {
  std::vector<std::string> texts;
  for (const YamlRemark& remark : document.remarks) texts.push_back(remark.mark.ToString() + ": " + remark.text);
  return texts;
}

TEST(TagDocumentTest, ReadsTags) {
  const TagDocument document = Document(
      "configVersion: v3.0\nforce: yes\nenabled: true\nkey: app\ntags:\n"
      "  - name: gray\n    addresses: [\"10.0.0.1:20880\", '*']\n"
      "  - name: blue\n    match:\n      - key: region\n        value: {prefix: h}\n");
  EXPECT_THAT(Remarks(document), IsEmpty());
  EXPECT_FALSE(document.empty());
  EXPECT_TRUE(document.rule.force);
  ASSERT_THAT(document.rule.tags, SizeIs(2));
  EXPECT_EQ(document.rule.tags[0].name, "gray");
  EXPECT_THAT(document.rule.tags[0].addresses.texts(), ElementsAre("10.0.0.1:20880", "*"));
  EXPECT_TRUE(document.rule.tags[1].by_match());
  ASSERT_THAT(document.rule.tags[1].match, SizeIs(1));
  EXPECT_EQ(document.rule.tags[1].match[0].value.ToString(), "prefix \"h\"");
}

TEST(TagDocumentTest, WithoutTagsOrInvalidOrDisabledItIsNotThere) {
  EXPECT_TRUE(Document("key: app\n").empty());
  EXPECT_TRUE(Document("key: app\ntags: foo\n").empty());
  EXPECT_TRUE(Document("key: app\ntags: []\n").empty());
  EXPECT_TRUE(Document("valid: false\ntags: [{name: a, addresses: [x]}]\n").empty());
  EXPECT_TRUE(Document("enabled: false\ntags: [{name: a, addresses: ['*']}]\n").empty());
  EXPECT_FALSE(Document("tags: [{name: a}]\n").empty()) << "it names no provider, yet it is a rule";
  EXPECT_THAT(Document("key: app\n").remarks[0].text, HasSubstr("no tags"));
}

TEST(TagDocumentTest, MatchNeedsVersion30AndNoAddresses) {
  EXPECT_THAT(Remarks(Document("tags:\n  - name: a\n    match: [{key: k, value: {exact: x}}]\n")),
              ElementsAre(AllOf(HasSubstr("line 3"), HasSubstr("begins with v3.0")), HasSubstr("no addresses")));
  EXPECT_THAT(Remarks(Document("configVersion: v3.0\ntags:\n  - {name: a, addresses: ['*'], match: [{regex: '('}]}\n")),
              ElementsAre(HasSubstr("no effect beside addresses")));
  EXPECT_THAT(Error("configVersion: v3.0.1\ntags:\n  - name: a\n"),
              AllOf(HasSubstr("tags[0], line 3"), HasSubstr("expected addresses or match")));
  EXPECT_THAT(Remarks(Document("configVersion: v3.0\ntags:\n  - {name: a, match: []}\n")), ElementsAre(HasSubstr("every provider")));
}

TEST(TagDocumentTest, ErrorsSayWhereAndWhatWasExpected) {
  EXPECT_THAT(Error("tags:\n  - gray\n"), AllOf(HasSubstr("tags[0], line 2, column 5"), HasSubstr("expected a map")));
  EXPECT_THAT(Error("tags:\n  - name: 5\n"), AllOf(HasSubstr("line 2"), HasSubstr("quotes")));
  EXPECT_THAT(Error("tags:\n  - name: a\n    match: b\n"), AllOf(HasSubstr("line 3"), HasSubstr("expected a list")));
  EXPECT_THAT(Error("configVersion: v3.0\ntags:\n  - name: a\n    match:\n      - key: k\n        value: {regex: '('}\n"),
              AllOf(HasSubstr("tags[0].match[0].value, line 6"), HasSubstr("the regex \"(\"")));
  EXPECT_THAT(Error("configVersion: v3.0\ntags:\n  - name: a\n    match:\n      - key: k\n        value: {regex: '(\\pL{30}){30}'}\n"),
              HasSubstr("1048576 bytes"));
  EXPECT_THAT(Error("configVersion: v3.0\ntags:\n  - {name: a, match: [{key: k, value: x}]}\n"), HasSubstr("expected a map"));
  EXPECT_THAT(Error("configVersion: v3.0\ntags:\n  - {name: a, match: [{key: k, value: {exact: [x]}}]}\n"), HasSubstr("expected a text"));
  EXPECT_EQ(Error("configVersion: v3.0\ntags:\n  - {addresses: b}\n"), "tags[0], line 3, column 5: expected addresses or match");
  EXPECT_THAT(Error("- a\n"), HasSubstr("expected a map"));
}

TEST(TagDocumentTest, TagsThatAreNoListAreSaidSo) {
  for (const char* tags : {"foo", "{name: gray}", "{}", "5"}) {
    const TagDocument document = Document(std::string("force: true\ntags: ") + tags + "\n");
    EXPECT_TRUE(document.empty()) << "as Dubbo has it";
    EXPECT_THAT(document.unusable.message(), HasSubstr("line 2, column 7: tags: expected a list, found")) << tags;
    EXPECT_THAT(Remarks(document), ElementsAre(HasSubstr("expected a list")));
  }
  for (const char* none : {"tags: []", "tags:", "force: true"}) EXPECT_TRUE(Document(none).unusable.ok()) << none;
}

TEST(TagDocumentTest, TheTagsOfAnInvalidDocumentAreReadAllTheSame) {
  EXPECT_THAT(Error("valid: no\ntags: [x]\n"), HasSubstr("expected a map"));
  EXPECT_THAT(Error("valid: no\ntags: [{name: 1}]\n"), HasSubstr("quotes"));
  EXPECT_EQ(Error("configVersion: v3.0\nvalid: no\ntags: [{name: a}]\n"), "no error") << "nobody looks for its providers";
  EXPECT_TRUE(Document("valid: no\ntags: [{name: a, addresses: ['*']}]\n").empty());
}

TEST(TagDocumentTest, TheRegexesOfADocumentHaveOneBudget) {
  std::string text = "configVersion: v3.0\ntags:\n";
  for (int i = 0; i < 2000; ++i) text += "- {name: a, match: [{key: k, value: {regex: 'hz|bj.*'}}]}\n";
  EXPECT_THAT(Document(text).rule.tags, SizeIs(2000));
  for (int i = 0; i < 2000; ++i) text += "- {name: a, match: [{key: k, value: {regex: '[\\x{80}-\\x{10ffff}]{600}'}}]}\n";
  EXPECT_THAT(Error(text), AllOf(HasSubstr(".match[0].value, line 2"), HasSubstr("and those before it need more than")));
}

TEST(TagDocumentTest, RemarksNameTheField) {
  EXPECT_THAT(Remarks(Document("configVersion: v3.0\ncolour: red\ntags:\n"
                               "  - {name: a, addresses: ['bad host'], owner: me}\n"
                               "  - {addresses: ['*']}\n"
                               "  - {name: c, match: [{key: k}, {value: {}}, {key: k, value: {wildcard: 'a*', exact: 5}, x: 1}]}\n")),
              ElementsAre(AllOf(HasSubstr("line 4"), HasSubstr("\"bad host\"")), HasSubstr("owner"), HasSubstr("no name"),
                          HasSubstr("no value"), HasSubstr("no key"), HasSubstr("nothing matches"),
                          HasSubstr("wildcard is beside exact"), HasSubstr("compared as it is"), HasSubstr("field x"),
                          HasSubstr("colour")));
}

}  // namespace
}  // namespace fairlead
