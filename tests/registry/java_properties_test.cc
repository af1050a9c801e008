#include "fairlead/registry/java_properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/support/effort.h"
#include "fairlead/url/utf8.h"

namespace fairlead::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::string Line(std::string_view key, std::string_view value) {
  std::string out;
  AppendProperty(key, value, out);
  return out;
}

Properties Read(std::string_view text) {
  absl::StatusOr<Properties> read = ParseProperties(text);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *read : Properties();
}

TEST(JavaProperties, AreWrittenAsJavaDoes) {
  EXPECT_EQ(Line("g/a.b.C:1.0", "dubbo://h:1/a.b.C?k=v dubbo://i:1"),
            "g/a.b.C\\:1.0=dubbo\\://h\\:1/a.b.C?k\\=v dubbo\\://i\\:1\n");
  EXPECT_EQ(Line(" k x", " a b "), "\\ k\\ x=\\ a b \n");
  EXPECT_EQ(Line("#k", "!v\t\n\r\f\\"), "\\#k=\\!v\\t\\n\\r\\f\\\\\n");
  EXPECT_EQ(Line("k", std::string_view("\x01\0\x7f", 3)), "k=\\u0001\\u0000\\u007F\n");
  EXPECT_EQ(Line("k", "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80"), "k=\\u00E9\\u4E2D\\uD83D\\uDE00\n");
  EXPECT_EQ(Line("k", "a\xff" "b"), "k=a\\uFFFDb\n");
}

TEST(JavaProperties, AreReadAsJavaDoes) {
  EXPECT_THAT(Read("a=b\nc:d\ne f\n"), ElementsAre(Pair("a", "b"), Pair("c", "d"), Pair("e", "f")));
  EXPECT_THAT(Read("a \t:\f b  "), ElementsAre(Pair("a", "b  ")));
  EXPECT_THAT(Read("a==b\nc=:d\ne f=g"), ElementsAre(Pair("a", "=b"), Pair("c", ":d"), Pair("e", "f=g")));
  EXPECT_THAT(Read("#c\n  ! d\\\na=b\r\rc=d\r\n\n"), ElementsAre(Pair("a", "b"), Pair("c", "d")));
  EXPECT_THAT(Read("a=b\\\r\n  c\\\n#d\n"), ElementsAre(Pair("a", "bc#d")));
  EXPECT_THAT(Read("a=b\\\\\nc\\\\\\=d=e"), ElementsAre(Pair("a", "b\\"), Pair("c\\=d", "e")));
  EXPECT_THAT(Read("a\\"), ElementsAre(Pair("a", "")));
  EXPECT_THAT(Read("a=b\na=c"), ElementsAre(Pair("a", "c")));
  EXPECT_THAT(Read("a=\\q\\t\\u00e9\\uD83D\\uDE00\xe9"), ElementsAre(Pair("a", "q\t\xc3\xa9\xf0\x9f\x98\x80\xc3\xa9")));
  EXPECT_THAT(Read("a=\\uD83D\\uD83Dx\\uDE00"), ElementsAre(Pair("a", "\xef\xbf\xbd\xef\xbf\xbdx\xef\xbf\xbd")));
  EXPECT_THAT(Read(""), ElementsAre());
  EXPECT_THAT(Read("=b"), ElementsAre(Pair("", "b")));
}

TEST(JavaProperties, AnIncompleteEscapeIsRefusedWithItsPlace) {
  for (const char* text : {"a=\\u", "a=\\u00e", "a=\\u00g0", "\\u12=b"}) {
    const absl::Status status = ParseProperties(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_THAT(std::string(ParseProperties("a=b\nc=\\u1\nd=e\n").status().message()), ::testing::HasSubstr("offset 10"));
}

std::string RandomText(Random& random, const std::vector<std::string>& alphabet) {
  std::string text;
  for (std::uint64_t left = random.Below(12); left > 0; --left) text += alphabet[random.Below(alphabet.size())];
  return text;
}

TEST(JavaProperties, WhatIsWrittenIsReadBack) {
  const std::vector<std::string> alphabet = {"a", " ", "\t", "\n", "\r", "\f", "\\", "=", ":", "#", "!", "u", "0",
                                             std::string(1, '\0'), "\x7f", "\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9f\x98\x80"};
  Random random(1);
  for (int round = 0; round < Effort(20000); ++round) {
    Properties all;
    std::string text;
    for (std::uint64_t left = random.Below(4); left > 0; --left) {
      const std::string key = RandomText(random, alphabet), value = RandomText(random, alphabet);
      all[key] = value;
      AppendProperty(key, value, text);
    }
    ASSERT_EQ(Read(text), all) << text;
  }
}

TEST(JavaProperties, AnyTextIsReadOrRefused) {
  const std::string whole =
      "#Dubbo Registry Cache\n#Mon Jan 01 00:00:00 UTC 2024\na.B\\:1.0=dubbo\\://h\\:1/a.B?x\\=\\u4E2D dubbo\\://i\\:1 \\\n   "
      "empty\\://h\r\ng/c.D : v\\\\\n! x\n";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const auto read = ParseProperties(whole.substr(0, cut));
    if (read.ok()) {
      EXPECT_LE(read->size(), 2u);
    }
  }
  Random random(2);
  const std::string letters("\\\n\r\t \f=:#!u0aF\0\xff", 16);
  int read_well = 0;
  for (int round = 0; round < Effort(50000); ++round) {
    std::string text = whole;
    for (std::uint64_t edits = 1 + random.Below(6); edits > 0; --edits) {
      const std::size_t at = random.Below(text.size());
      const char letter = random.Below(3) == 0 ? static_cast<char>(random.Below(256)) : letters[random.Below(letters.size())];
      switch (random.Below(3)) {
        case 0: text[at] = letter; break;
        case 1: text.insert(at, 1, letter); break;
        default: text.erase(at, 1 + random.Below(9)); break;
      }
    }
    const absl::StatusOr<Properties> read = ParseProperties(text);
    if (!read.ok()) continue;
    ++read_well;
    std::string again;
    for (const auto& [key, value] : *read) {
      ASSERT_TRUE(IsUtf8(key) && IsUtf8(value));
      AppendProperty(key, value, again);
    }
    ASSERT_EQ(Read(again), *read);
  }
  EXPECT_GT(read_well, 0);
}

}  // namespace
}  // namespace fairlead::internal
