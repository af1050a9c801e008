#include "fairlead/registry/file/file_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fairlead/url/percent.h"

namespace fairlead::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FileLinesTest : public ::testing::Test {
 protected:
  FileLines Parse(std::string_view text) { return ParseFileLines(text, pool_); }
  static std::vector<std::string> At(const FileLines& lines, std::string service, Category category) {
    const auto at = lines.urls.find({std::move(service), category});
    return at == lines.urls.end() ? std::vector<std::string>() : at->second;
  }
  std::string Reason(std::string_view line) {
    const FileLines lines = Parse(line);
    EXPECT_EQ(lines.count, 0u) << line;
    return lines.bad.size() == 1 ? lines.bad.front().reason : "not one bad line";
  }
  UrlPool pool_;
};

TEST_F(FileLinesTest, CommentsAndBlankLinesSayNothing) {
  const FileLines lines = Parse("# a\n\n  \t\n  # b dubbo://h:1/a.B\ndubbo://h:1/a.B\n#dubbo://h:2/a.B");
  EXPECT_EQ(lines.count, 1u);
  EXPECT_EQ(lines.bad_count, 0u);
  EXPECT_EQ(Parse("").count, 0u);
}

TEST_F(FileLinesTest, LineEndsBlanksAndByteOrderMarkAreDropped) {
  const FileLines lines = Parse("\xef\xbb\xbf dubbo://h:1/a.B\r\n\tdubbo://h:2/a.B \t\r\r\ndubbo://h:3/a.B");
  EXPECT_THAT(At(lines, "a.B", Category::kProviders),
              ElementsAre("dubbo://h:1/a.B", "dubbo://h:2/a.B", "dubbo://h:3/a.B"));
}

TEST_F(FileLinesTest, AProtocolIsAName) {
  for (const char* line : {"\\xef\\xbb\\xbfdubbo://h:1/a.B", "\\xefoverride://0.0.0.0/a.B?weight=5", "\"dubbo://h:1/a.B\"",
                           "- dubbo://h:1/a.B", "%22dubbo%3A%2F%2Fh%3A1%2Fa.B", "# dubbo\xef\xbb\xbf://h:1/a.B\nx\xef\xbb\xbf://h:1/a.B"}) {
    EXPECT_THAT(Reason(line), HasSubstr("letters, digits")) << line;
  }
  EXPECT_EQ(Parse("x+y.z-1_2://h:1/a.B").count, 1u);
  EXPECT_FALSE(CheckFileLine("\"dubbo://h:1/a.B", pool_).ok());
}

TEST_F(FileLinesTest, AByteOrderMarkHidesNoRule) {
  const FileLines lines = Parse("\xef\xbb\xbfoverride://0.0.0.0/a.B?weight=5\ndubbo://h:1/a.B");
  EXPECT_EQ(At(lines, "a.B", Category::kConfigurators).size(), 1u);
  EXPECT_THAT(At(lines, "a.B", Category::kProviders), ElementsAre("dubbo://h:1/a.B"));
}

TEST_F(FileLinesTest, ALineStandsUnderItsInterface) {
  const FileLines lines = Parse(
      "dubbo://h:1/path?interface=a.B&group=g&version=1.0.0\n"
      "tri://h:2/a.B\n"
      "dubbo://h:3/c.D\n");
  EXPECT_THAT(At(lines, "a.B", Category::kProviders),
              ElementsAre("dubbo://h:1/path?interface=a.B&group=g&version=1.0.0", "tri://h:2/a.B"));
  EXPECT_THAT(At(lines, "c.D", Category::kProviders), ElementsAre("dubbo://h:3/c.D"));
}

TEST_F(FileLinesTest, WithoutACategoryTheProtocolSaysIt) {
  const FileLines lines = Parse(
      "override://0.0.0.0/a.B?weight=5\n"
      "absent://0.0.0.0/a.B?weight=6\n"
      "route://0.0.0.0/a.B?rule=x\n"
      "condition://0.0.0.0/a.B?rule=y\n"
      "consumer://10.0.0.9/a.B\n");
  EXPECT_THAT(At(lines, "a.B", Category::kConfigurators),
              ElementsAre("override://0.0.0.0/a.B?category=configurators&weight=5",
                          "absent://0.0.0.0/a.B?category=configurators&weight=6"))
      << "the category is added, for matching reads it";
  EXPECT_THAT(At(lines, "a.B", Category::kRouters),
              ElementsAre("route://0.0.0.0/a.B?category=routers&rule=x",
                          "condition://0.0.0.0/a.B?category=routers&rule=y"));
  EXPECT_THAT(At(lines, "a.B", Category::kConsumers),
              ElementsAre("consumer://10.0.0.9/a.B?category=consumers"));
}

TEST_F(FileLinesTest, ACategoryThatIsSaidHolds) {
  const FileLines lines = Parse("custom://0.0.0.0/a.B?category=routers&router=mine\n");
  EXPECT_THAT(At(lines, "a.B", Category::kRouters),
              ElementsAre("custom://0.0.0.0/a.B?category=routers&router=mine"));
  EXPECT_THAT(Reason("dubbo://h:1/a.B?category=nosuch"), HasSubstr("nosuch"));
}

TEST_F(FileLinesTest, AnEncodedLineIsReadToo) {
  const FileLines lines = Parse("dubbo%3A%2F%2Fh%3A1%2Fa.B%3Fweight%3D5\n");
  EXPECT_THAT(At(lines, "a.B", Category::kProviders), ElementsAre("dubbo://h:1/a.B?weight=5"));
}

// A rule's text is encoded once more than its url, so what is decoded twice is another rule, or none.
TEST_F(FileLinesTest, AnEncodedRuleIsDecodedOnce) {
  for (const std::string decoded :
       {"route://0.0.0.0/a.B?category=routers&rule=a%3D%25%20%26%20b%3D1%20%3D%3E%20host%3D10.0.0.1",
        "condition://0.0.0.0/a.B?category=routers&rule=%3D%3E%20x%3D%2525", "override://0.0.0.0/a.B?category=configurators&x=%2526"}) {
    for (const bool says_category : {true, false}) {
      std::string line = decoded;
      const std::size_t category = line.find("category="), end = line.find('&', category) + 1;
      if (!says_category) line.erase(category, end - category);
      const Category where = decoded[0] == 'o' ? Category::kConfigurators : Category::kRouters;
      const std::vector<std::string> plain = At(Parse(line), "a.B", where), encoded = At(Parse(PercentEncode(line)), "a.B", where);
      EXPECT_THAT(plain, ElementsAre(decoded)) << line;
      EXPECT_EQ(encoded, plain) << line;
    }
  }
}

TEST_F(FileLinesTest, EveryServiceIsForRulesOnly) {
  EXPECT_THAT(At(Parse("route://0.0.0.0/*?rule=x\n"), "*", Category::kRouters),
              ElementsAre("route://0.0.0.0/*?category=routers&rule=x"));
  EXPECT_THAT(Reason("dubbo://h:1/*"), HasSubstr("for rules only"));
}

TEST_F(FileLinesTest, WhatIsNoUrlIsNamedByItsNumber) {
  const FileLines lines =
      Parse("dubbo://h:1/a.B\nnonsense\n\n10.0.0.1:20880\ndubbo://h:port/a.B\ndubbo://h:2\n");
  EXPECT_EQ(lines.count, 1u);
  ASSERT_EQ(lines.bad.size(), 4u);
  EXPECT_EQ(lines.bad[0].number, 2u);
  EXPECT_THAT(lines.bad[0].reason, HasSubstr("nonsense"));
  EXPECT_EQ(lines.bad[1].number, 4u);
  EXPECT_EQ(lines.bad[2].number, 5u);
  EXPECT_THAT(lines.bad[3].reason, HasSubstr("expected a service interface"));
  EXPECT_THAT(Reason("dubbo:///a.B"), HasSubstr("host"));
}

TEST_F(FileLinesTest, OneSlashIsNoUrl) {
  EXPECT_THAT(Reason("route:/0.0.0.0/s.A?rule=x"), HasSubstr("expected :// behind the protocol"));
  EXPECT_THAT(Reason("override:/0.0.0.0/s.A?weight=7"), HasSubstr("override:/0.0.0.0/s.A"));
  EXPECT_THAT(Reason("route:/0.0.0.0/s.A?rule=http://h"), HasSubstr("expected ://")) << "not anywhere";
  EXPECT_THAT(Reason("route%3A%2F0.0.0.0%2Fs.A%3Frule%3Dx"), HasSubstr("protocol://"));
  EXPECT_THAT(At(Parse("route%3a%2f%2f0.0.0.0%2Fs.A%3Frule%3Dx"), "s.A", Category::kRouters),
              ElementsAre("route://0.0.0.0/s.A?category=routers&rule=x"));
  EXPECT_THAT(Reason("override:/u:secret@h/s.A?weight=7"), ::testing::Not(HasSubstr("secret")));
}

TEST_F(FileLinesTest, WhatMayBeALine) {
  EXPECT_EQ(CheckFileLine("dubbo://h:1/a.B?x=1", pool_), absl::OkStatus());
  EXPECT_THAT(CheckFileLine("dubbo://h:1/a.B?x=" + std::string(70000, 'x'), pool_).message(),
              HasSubstr("at most 65536"));
  for (const std::string& bad : {std::string(), std::string("#dubbo://h:1/a.B"), std::string("dubbo://h:1/a.B "),
                                 std::string("dubbo://h:1/a.B?x=\0", 19), std::string("dubbo://h:1/a.B?x=\xff")}) {
    EXPECT_EQ(CheckFileLine(bad, pool_).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST_F(FileLinesTest, AReasonHasNoPassword) {
  EXPECT_THAT(Reason("dubbo://user:secret@h:port/a.B"), ::testing::Not(HasSubstr("secret")));
  EXPECT_THAT(Reason("dubbo://user:secret@h:1/a.B?category=no"), ::testing::Not(HasSubstr("secret")));
}

TEST_F(FileLinesTest, HostileTextIsSkippedLineByLine) {
  const std::string text = "dubbo://h:1/a.B?x=\xff\n" + std::string("dubbo://h:2/a.B\0x\n", 18) +
                           "dubbo://h:3/a.B?x=" + std::string(70000, 'x') + "\ndubbo://h:4/a.B\n";
  const FileLines lines = Parse(text);
  EXPECT_THAT(At(lines, "a.B", Category::kProviders), ElementsAre("dubbo://h:4/a.B"));
  EXPECT_EQ(lines.bad_count, 3u);
  EXPECT_THAT(lines.bad[2].reason, HasSubstr("70018 bytes"));
}

TEST_F(FileLinesTest, OfManyBadLinesTheFirstHundredAreKept) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "garbage\n";
  const FileLines lines = Parse(text);
  EXPECT_EQ(lines.bad_count, 500u);
  EXPECT_EQ(lines.bad.size(), 100u);
  EXPECT_EQ(lines.bad.back().number, 100u);
}

}  // namespace
}  // namespace fairlead::internal
