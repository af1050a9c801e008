#include "fairlead/url/url_parts.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/url/percent.h"

namespace fairlead {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

UrlParts Parsed(std::string_view text) {
  absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
  EXPECT_TRUE(url.ok()) << url.status();
  return url.value_or(UrlParts());
}

TEST(UrlPartsTest, TakesAUrlApart) {
  const UrlParts url = Parsed("dubbo://user:secret@10.0.0.1:20880/a.b.C?version=1.0&group=g");
  EXPECT_EQ(url.protocol, "dubbo");
  EXPECT_EQ(url.username, "user");
  EXPECT_EQ(url.password, "secret");
  EXPECT_EQ(url.host, "10.0.0.1");
  EXPECT_EQ(url.port, 20880);
  EXPECT_EQ(url.path, "a.b.C");
  EXPECT_EQ(url.params, (UrlParams{{"version", "1.0"}, {"group", "g"}}));
  EXPECT_EQ(url.ServiceKey(), "g/a.b.C:1.0");
  EXPECT_EQ(url.ColonKey(), "a.b.C:1.0:g");
  EXPECT_EQ(url.Address(), "10.0.0.1:20880");
  EXPECT_EQ(url.ToString(), "dubbo://10.0.0.1:20880/a.b.C?group=g&version=1.0");
  EXPECT_EQ(url.ToFullString(), "dubbo://user:secret@10.0.0.1:20880/a.b.C?group=g&version=1.0");
  EXPECT_EQ(url.ToIdentityString(), "dubbo://user:secret@10.0.0.1:20880/a.b.C");
}

TEST(UrlPartsTest, AbsentDiffersFromEmpty) {
  EXPECT_EQ(Parsed("dubbo://h:1").path, std::nullopt);
  EXPECT_EQ(Parsed("dubbo://h:1/").path, "");
  EXPECT_FALSE(Parsed("dubbo://h:1") == Parsed("dubbo://h:1/"));
  EXPECT_EQ(Parsed("dubbo://h?a=").Find("a")->size(), 0u);
  EXPECT_EQ(Parsed("dubbo://h?a=").Find("b"), nullptr);
  EXPECT_EQ(Parsed("dubbo://h?a=").Param("a", "fallback"), "fallback");
}

TEST(UrlPartsTest, RefusesWhatDubboRefuses) {
  for (const char* text : {"://h/p", ":/p", "dubbo://h:/p", "dubbo://h:abc/p", "dubbo://h:1.5", "dubbo://h:2147483648",
                           "dubbo://[2001:db8::1]/a"}) {
    const absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
    EXPECT_EQ(url.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(url.status().message()), HasSubstr("expected"));
  }
}

TEST(UrlPartsTest, ErrorsHideThePassword) {
  for (const char* text : {"dubbo://u:s3cret@h:x/p", "u:s3cret@h:x", "dubbo://u:s3cret@h:x?password=s3cret&a=1",
                           "dubbo://u:s3/cret@h:x", "dubbo://u:s3?cret@h:x", "dubbo://u:s3cret@i@h:x/p"}) {
    const absl::StatusOr<UrlParts> decoded = UrlParts::Parse(text);
    ASSERT_FALSE(decoded.ok()) << text;
    EXPECT_THAT(std::string(decoded.status().message()), Not(HasSubstr("s3"))) << text;
    const absl::StatusOr<UrlParts> encoded = UrlParts::ParseEncoded(PercentEncode(text));
    ASSERT_FALSE(encoded.ok()) << text;
    EXPECT_THAT(std::string(encoded.status().message()), Not(HasSubstr("s3"))) << text;
  }
}

TEST(UrlPartsTest, DefaultKeysFillOnlyWhatIsAbsent) {
  EXPECT_EQ(Parsed("dubbo://h?default.timeout=5").Param("timeout"), "5");
  EXPECT_EQ(Parsed("dubbo://h?default.timeout=5&timeout=7").Param("timeout"), "7");
  EXPECT_EQ(Parsed("dubbo://h?timeout=7&default.timeout=5").Param("timeout"), "7");
  EXPECT_EQ(Parsed("dubbo://h?default.a=1&default.a=2").Param("a"), "1");
  EXPECT_EQ(Parsed("dubbo://h?default.default.a=1").Find("a"), nullptr);
  EXPECT_EQ(Parsed("dubbo://h?timeout=&default.timeout=5").Find("timeout")->size(), 0u);
}

TEST(UrlPartsTest, MethodParameterBeatsThePlainOneOfListedMethods) {
  const UrlParts url = Parsed("dubbo://h/p?timeout=1&find.timeout=2&save.timeout=");
  EXPECT_EQ(url.MethodParam("find", "timeout"), "2");
  EXPECT_EQ(url.MethodParam("get", "timeout"), "1");
  EXPECT_EQ(url.MethodParam("save", "timeout"), "1");
  EXPECT_EQ(url.MethodParam("find", "retries", "3"), "3");
  EXPECT_EQ(url.MethodParam("", "timeout"), "1");
  const UrlParts listed = Parsed("dubbo://h/p?timeout=1&find.timeout=2&get.timeout=3&methods=findAll");
  EXPECT_EQ(listed.MethodParam("find", "timeout"), "2") << "a substring of the list is enough, as in Dubbo 3.3";
  EXPECT_EQ(listed.MethodParam("get", "timeout"), "1");
  EXPECT_EQ(Parsed("dubbo://h/p?a.b.k=1").MethodParam("a.b", "k"), "") << "the method ends at the first dot";
}

TEST(UrlPartsTest, PrintsParametersInUtf16Order) {
  // U+FF5E sorts before U+1F600 in UTF-8, behind it in UTF-16.
  const UrlParts url = Parsed("d://h?\xEF\xBD\x9E=1&\xF0\x9F\x98\x80=2&a=3");
  EXPECT_EQ(url.ToString(), "d://h?a=3&\xF0\x9F\x98\x80=2&\xEF\xBD\x9E=1");
}

TEST(UrlPartsTest, PrintsOnlyWhatIsAskedFor) {
  const UrlParts url = Parsed("dubbo://u:p@h:1/p?z=1&a=3&interface=s.A&group=g");
  constexpr std::string_view kOnly[] = {"z", "a"};
  EXPECT_EQ(Print(url, {.only = kOnly}), "dubbo://h:1/p?a=3&z=1");
  EXPECT_EQ(Print(url, {.credentials = true, .service_key_as_path = true, .params = false}), "dubbo://u:p@h:1/g/s.A");
  EXPECT_EQ(url.QueryString(), "a=3&group=g&interface=s.A&z=1");
}

TEST(UrlPartsTest, EncodedTextIsDecodedOnce) {
  const absl::StatusOr<UrlParts> url =
      UrlParts::ParseEncoded("dubbo%3A%2F%2Fh%3A1%2Fp%3Fa%3Dx%2526y%26b%3D1+2%26c%3D%E4%B8%AD");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->params, (UrlParams{{"a", "x%26y"}, {"b", "1 2"}, {"c", "中"}}));
  EXPECT_FALSE(UrlParts::ParseEncoded("dubbo%3A%2F%2Fh%3Fa%3D%").ok());
  EXPECT_FALSE(UrlParts::ParseEncoded("dubbo%3A%2F%2Fh%3Fa%3D%4").ok());
  EXPECT_FALSE(UrlParts::ParseEncoded("dubbo%3A%2F%2Fh%3Fa%3D%zz").ok());
  EXPECT_FALSE(UrlParts::ParseEncoded("dubbo%3A%2F%2Fh%3Fa%3D%E4%B8").ok()) << "malformed UTF-8";
}

TEST(UrlPartsTest, AnyTellsEncodedTextFromDecoded) {
  EXPECT_EQ(UrlParts::ParseAny("dubbo%3A%2F%2Fh%3A1%2Fp%3Fa%3D1")->Param("a"), "1");
  EXPECT_EQ(UrlParts::ParseAny("dubbo%3a%2f%2fh%3a1%2fp%3fa%3d1")->Param("a"), "1");
  EXPECT_EQ(UrlParts::ParseAny("dubbo://h:1/p?a=%3A%2F%2F")->Param("a"), "%3A%2F%2F");
  EXPECT_EQ(UrlParts::ParseAny("h%3A1")->host, "h%3A1");
}

// The reports that the strict parser already meets (the others: url_address_test.cc).
TEST(UrlPartsTest, DubboIssue11767EmptyValueIsNotTheKeysName) {
  const UrlParts url = Parsed("a://h?username=&x");
  EXPECT_EQ(*url.Find("username"), "");
  EXPECT_EQ(*url.Find("x"), "");
}

TEST(UrlPartsTest, DubboPr14235QuestionMarkInsideAValue) {
  const UrlParts url = Parsed("d://h:1/p?check=a?b&c=1");
  EXPECT_EQ(url.Param("check"), "a?b");
  EXPECT_EQ(url.Param("c"), "1");
}

TEST(UrlPartsTest, DubboPr2077BackupWithoutProtocol) {
  const UrlParts url = Parsed("127.0.0.1:2181?backup=h2:2181,h3");
  EXPECT_EQ(url.Address(), "127.0.0.1:2181");
  EXPECT_EQ(url.Param("backup"), "h2:2181,h3");
}

}  // namespace
}  // namespace fairlead
