#include <string>

#include <gtest/gtest.h>

#include "fairlead/base/random.h"
#include "fairlead/url/match.h"
#include "fairlead/url/merge.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/service_view.h"
#include "fairlead/url/url_address.h"
#include "fairlead/url/url_pool.h"

// Whoever can write to the registry can write any text. It must give an error or a value, in time that grows with the
// text and not with its square (the test's time limit would be hit many times over), and never reach memory that is not its own (the sanitized builds look at that).
namespace fairlead {
namespace {

// Everything that is done with a text from outside.
void TakeIn(const std::string& text) {
  UrlPool pool;
  const UrlParts consumer = *UrlParts::Parse("consumer://h/s.A?group=a,b&category=providers,-routers&find.k=1");
  const absl::StatusOr<UrlParts> readings[] = {UrlParts::Parse(text), UrlParts::ParseEncoded(text),
                                               ParseLenient(text), ParseAddress(text)};
  for (const absl::StatusOr<UrlParts>& url : readings) {
    if (!url.ok()) {
      EXPECT_EQ(url.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_LT(url.status().message().size(), 600u) << "an error shows an excerpt";
      continue;
    }
    const UrlParts merged = MergeConsumer(*url, consumer.params);
    EXPECT_EQ(Url::Of(merged, pool).ToFullString(), merged.ToFullString());
    Matches(consumer, *url);
    MatchesPushed(*url, consumer);
    EXPECT_LE(url->ServiceKey().size(), 3 * text.size() + 16);
    EXPECT_EQ(ServiceView(*url, consumer).MethodParam("find", "k"), "1");
    BackupAddresses(*url, 2181);
    BackupUrls(*url).IgnoreError();
  }
  ParseAddresses(text).IgnoreError();
  pool.Parse(text).IgnoreError();
  EXPECT_LT(Redacted(text).size(), 400u);
  PercentDecode(text).IgnoreError();
  EXPECT_EQ(PercentDecode(PercentEncode(text), MalformedUtf8::kReplace).ok(), true);
}

std::string Repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (text.size() < bytes) text += piece;
  return text;
}

TEST(HostileTest, OneMegabyteOfAnything) {
  constexpr std::size_t kMegabyte = 1 << 20;
  for (const char* piece :
       {"a", ":", "/", "@", "#", "?", "&", "=", ";", ",", "%", " ", "[", "]", "-", "*", "|", ".", "%3F", "%26", "%3D",
        "%25", "%E4", "&a=", "&default.a=b", "a=b&", "://", "%3A%2F%2F", ",,", " , ", "::", "1:", "\xE4", "中",
        "password=", "default."}) {
    SCOPED_TRACE(piece);
    const std::string body = Repeated(piece, kMegabyte);
    TakeIn(body);
    TakeIn("dubbo://h:1/p?backup=" + body);
    TakeIn("dubbo%3A%2F%2Fh%3A1%2Fp%3F" + body);
    TakeIn("dubbo://u:" + body + "@h:x");
  }
}

TEST(HostileTest, AHundredThousandParameters) {
  std::string text = "dubbo://h:1/p?";
  for (int i = 0; i < 100'000; ++i) {
    text += (i % 3 == 0 ? "default.k" : "k") + std::to_string((i * 7919) % 100'000) + "=" + std::to_string(i) + "&";
  }
  const absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
  ASSERT_TRUE(url.ok());
  EXPECT_GT(url->params.size(), 100'000u);
  TakeIn(text);
  TakeIn(PercentEncode(text));
  const UrlParts merged = MergeConsumer(*url, url->params);
  EXPECT_EQ(merged.params.size(), url->params.size());
  EXPECT_EQ(UrlParts::Parse(url->ToFullString())->params, url->params);
}

TEST(HostileTest, NulBytes) {
  const std::string text("dubbo://u\0x:p@h\0:1/p\0?a\0=\0b&timestamp=1\0", 41);
  const absl::StatusOr<UrlParts> url = UrlParts::Parse(text);
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->host, std::string("h\0", 2));
  EXPECT_EQ(url->Param(std::string("a\0", 2)), std::string("\0b", 2));
  EXPECT_EQ(UrlParts::ParseEncoded(PercentEncode(text))->host, url->host);
  TakeIn(text);
  TakeIn(std::string(1, '\0'));
}

TEST(HostileTest, EveryTruncationOfAnEncodedUrl) {
  const std::string text = PercentEncode("dubbo://u:p@[fe80::1%25eth0]:20880/a.B?x=中&default.y=%&z=a=b&timestamp=1");
  for (std::size_t length = 0; length <= text.size(); ++length) TakeIn(text.substr(0, length));
}

TEST(HostileTest, RandomTextsOfTheGrammarsPieces) {
  Random random(11);
  constexpr std::string_view kPieces[] = {"dubbo", ":", "//", "/", "@", "#", "?", "&", "=", ";", ",", "%", "%2", "%3F",
                                          "%3f", "%26", "%3D", "%3A%2F%2F", "[", "]", "::1", "fe80::1", "h", "20880",
                                          " ", "\t", "default.", "a", "b.c", "中", "\xE4", std::string_view("\0", 1), "timestamp=", "pid="};
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (auto left = random.Below(14); left > 0; --left) text += kPieces[random.Below(std::size(kPieces))];
    TakeIn(text);
  }
}

}  // namespace
}  // namespace fairlead
