#include "fairlead/url/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/support/fake_clock.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using std::chrono::minutes;

std::string ProviderText(int i, int timestamp = 1700000000) {
  return "dubbo://10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250) +
         ":20880/"
         "org.demo.Service?application=demo-provider&dubbo=2.0.2&interface=org.demo.Service&methods=find,"
         "save&"
         "pid=" +
         std::to_string(i) + "&release=3.3.0&side=provider&timestamp=" + std::to_string(timestamp) + "000";
}

TEST(UrlTest, TheEmptyUrlAnswersEverything) {
  const Url url;
  EXPECT_TRUE(url.empty());
  EXPECT_EQ(url.protocol(), "");
  EXPECT_EQ(url.port(), 0);
  EXPECT_EQ(url.Param("a", "b"), "b");
  EXPECT_EQ(url.timestamp_ms(), 0);
  EXPECT_EQ(url.category(), Category::kProviders);
  EXPECT_EQ(url.ToString(), "");
  EXPECT_TRUE(url == Url());
}

TEST(UrlTest, Getters) {
  UrlPool pool;
  const Url url =
      *Url::Parse("dubbo://u:p@h:70000/s?b=TRUE&n=+5&bad=5.0&category=routers&timestamp=17&m.n=6", pool);
  EXPECT_EQ(url.port(), 0) << "no port of a socket";
  EXPECT_TRUE(url.BoolParam("b", false));
  EXPECT_EQ(url.IntParam("n", 1), 5);
  EXPECT_EQ(url.IntParam("bad", 1), 1);
  EXPECT_EQ(url.MethodParam("m", "n"), "6");
  EXPECT_EQ(url.category(), Category::kRouters);
  EXPECT_EQ(url.timestamp_ms(), 17);
  EXPECT_EQ(url.ToString(), "dubbo://h:70000/s?b=TRUE&bad=5.0&category=routers&m.n=6&n=+5&timestamp=17");
  EXPECT_EQ(url.ToFullString().substr(0, 14), "dubbo://u:p@h:");
  EXPECT_EQ(CategoryOf("consumers"), Category::kConsumers);
  EXPECT_EQ(CategoryOf("provider"), std::nullopt);
}

TEST(UrlTest, PidAndTimestampNeverCountAsWholeKeysOnly) {
  UrlPool pool;
  const auto parse = [&](const char* text) { return *Url::Parse(text, pool); };
  const Url url = parse("d://h:1/p?a=1&pid=1&timestamp=1");
  EXPECT_EQ(url, parse("d://h:1/p?a=1&pid=2&timestamp=2"));
  EXPECT_EQ(url, parse("d://h:1/p?a=1"));
  EXPECT_EQ(url.Hash(), parse("d://h:1/p?a=1").Hash());
  EXPECT_FALSE(url == parse("d://h:1/p?a=1&remote.timestamp=1"));
  EXPECT_FALSE(url == parse("d://h:1/p?a=1&mypid=1"));
  EXPECT_FALSE(parse("d://h:1/p?timestamp=1") == parse("d://h:1/p?x=2"));
  EXPECT_EQ(url.Param("pid"), "1") << "what does not count is kept";
  EXPECT_EQ(url.ToFullString(), "d://h:1/p?a=1&pid=1&timestamp=1");
}

TEST(UrlTest, ACacheFilesTextAndAZnodeNameAreOneUrl) {
  UrlPool pool;
  const std::string decoded = "dubbo://10.0.0.1:20880/s.A?application=中&x=a b&timestamp=1";
  const Url a = *Url::Parse(decoded, pool);
  const Url b = *Url::Parse(PercentEncode(decoded), pool);
  EXPECT_EQ(a, b);
  EXPECT_EQ(pool.sizes().common, 1u);
}

TEST(UrlTest, UrlsOfTwoPoolsCompareByContent) {
  UrlPool one, two;
  EXPECT_EQ(*Url::Parse("d://h:1/p?a=1&pid=1", one), *Url::Parse("d://h:1/p?pid=2&a=1", two));
  EXPECT_FALSE(*Url::Parse("d://h:1/p?a=1", one) == *Url::Parse("d://h:1/p?a=2", two));
  EXPECT_FALSE(*Url::Parse("d://h:1/p?a=1", one) == *Url::Parse("d://h:2/p?a=1", two));
}

TEST(UrlTest, EditedPartsComeBackAsTheUrlTheySay) {
  UrlPool pool;
  const Url original = *Url::Parse(ProviderText(1), pool);
  UrlParts edited = original.parts();
  edited.params.insert_or_assign("weight", "7");
  edited.path = "//org.demo.Service";
  edited.port = -1;
  const Url url = Url::Of(edited, pool);
  EXPECT_EQ(url.Param("weight"), "7");
  EXPECT_EQ(url.timestamp_ms(), original.timestamp_ms()) << "the base of warm-up survives editing";
  EXPECT_EQ(url.path(), "org.demo.Service");
  EXPECT_EQ(url.parts().port, 0);
  EXPECT_EQ(original.Param("weight"), "");
  EXPECT_EQ(Url::Of(original.parts(), pool), original);
}

TEST(UrlTest, TextsOfAnySizeComeBack) {
  UrlPool pool;
  for (const std::size_t size : {0u, 1u, 126u, 127u, 128u, 129u, 16382u, 16383u, 16384u, 100'000u}) {
    SCOPED_TRACE(size);
    UrlParts parts;
    parts.protocol = "d";
    parts.host = std::string(size, 'h');
    parts.port = 1;
    parts.params.insert_or_assign("timestamp", std::string(size, '7'));
    if (size % 2 == 0) parts.params.insert_or_assign("pid", std::string(size, 'p'));
    const Url url = Url::Of(parts, pool);
    EXPECT_EQ(url.parts(), parts);
    EXPECT_EQ(url.Param("timestamp"), std::string(size, '7'));
    EXPECT_EQ(url.Param("pid"), size % 2 == 0 ? std::string(size, 'p') : "");
    EXPECT_EQ(url.host(), std::string(size, 'h'));
  }
  UrlParts nothing;
  EXPECT_EQ(Url::Of(nothing, pool).parts(), nothing) << "absent is not empty";
}

TEST(UrlTest, OneAddressInTwoSpellingsIsOneUrl) {
  UrlPool pool;
  const auto parse = [&](const char* text) { return *Url::Parse(text, pool); };
  const Url url = parse("d://[2001:db8:0::1]:1/p");
  EXPECT_EQ(url, parse("d://[2001:DB8::1]:1/p"));
  EXPECT_EQ(url.Hash(), parse("d://[2001:DB8::1]:1/p").Hash());
  EXPECT_FALSE(url == parse("d://[2001:db8::2]:1/p"));
  EXPECT_FALSE(url == parse("d://[2001:db8::1]:2/p"));
}

TEST(UrlTest, AnEditedUrlSharesWhatItsEditorLeft) {
  UrlPool pool;
  const Url original = *Url::Parse(ProviderText(1), pool);
  UrlParts parts = original.parts();
  parts.params.insert_or_assign("weight", "7");
  const Url heavier = original.Edited(parts, pool);
  EXPECT_EQ(heavier.Param("weight"), "7");
  EXPECT_EQ(heavier.host().data(), original.host().data()) << "the very same text";
  parts.params.insert_or_assign("timestamp", "5");
  const Url later = original.Edited(parts, pool);
  EXPECT_EQ(later.timestamp_ms(), 5);
  EXPECT_EQ(later, heavier);
  EXPECT_FALSE(later.Is(heavier));
  EXPECT_EQ(later.host(), original.host());
}

TEST(UrlTest, ACompactUrlSaysWhatTheUrlSays) {
  UrlPool pool;
  const Url parsed = *pool.Parse(ProviderText(7));
  UrlParts parts = parsed.parts();
  parts.params.insert_or_assign("weight", "7");
  const Url edited = parsed.Edited(parts, pool);  // shares its own half with `parsed`
  parts.port = 1;
  const Url made = Url::Of(parts, pool);
  for (const Url& url : {parsed, edited, made}) {
    const CompactUrl compact = url;
    EXPECT_EQ(compact.ToFullString(), url.ToFullString());
    EXPECT_EQ(compact.timestamp_ms(), url.timestamp_ms());
    EXPECT_EQ(compact.Param("weight"), url.Param("weight"));
    EXPECT_EQ(compact.Hash(), url.Hash());
    EXPECT_TRUE(compact == url);
    EXPECT_TRUE(url == compact);
    EXPECT_TRUE(compact == CompactUrl(url));
    EXPECT_TRUE(CompactUrl(compact).Is(compact));
    const Url back = compact;
    EXPECT_TRUE(back == url);
    EXPECT_EQ(&back.common(), &url.common());
    for (const Url& other : {parsed, edited, made}) EXPECT_EQ(compact == other, &other == &url || url.Is(other));
  }
  EXPECT_TRUE(CompactUrl(parsed).Is(parsed));
  EXPECT_FALSE(CompactUrl(parsed).Is(edited));
  EXPECT_FALSE(CompactUrl(edited).Is(CompactUrl(parsed)));
}

TEST(UrlTest, AnEmptyCompactUrlIsTheEmptyUrl) {
  const CompactUrl compact{Url()};
  EXPECT_TRUE(compact.empty());
  EXPECT_TRUE(Url(compact).empty());
  EXPECT_TRUE(compact.Is(Url()));
  EXPECT_TRUE(compact == Url());
  EXPECT_EQ(compact.host(), "");
  UrlPool pool;
  EXPECT_FALSE(compact.Is(*pool.Parse(ProviderText(7))));
  EXPECT_FALSE(compact == *pool.Parse(ProviderText(7)));
}

TEST(UrlTest, ACompactUrlOutlivesTheUrlItWasMadeOf) {
  UrlPool pool;
  CompactUrl compact;
  {
    const Url parsed = *pool.Parse(ProviderText(7));
    UrlParts parts = parsed.parts();
    parts.params.insert_or_assign("weight", "7");
    compact = parsed.Edited(parts, pool);
  }
  pool.Sweep();
  EXPECT_EQ(compact.Param("weight"), "7");
  EXPECT_EQ(compact.host(), "10.0.0.7");
}

TEST(UrlPoolTest, ErrorsAreNotKept) {
  UrlPool pool;
  EXPECT_FALSE(pool.Parse("d://h:x").ok());
  EXPECT_EQ(pool.sizes().entries, 0u);
}

TEST(UrlPoolTest, ProvidersOfAServiceShareTheirParameters) {
  UrlPool pool;
  std::vector<Url> urls;
  for (int i = 0; i < 500; ++i) urls.push_back(*pool.Parse(ProviderText(i, i)));
  EXPECT_EQ(pool.sizes().entries, 500u);
  EXPECT_EQ(pool.sizes().common, 1u);
  EXPECT_EQ(pool.sizes().in_use, 500u);
  EXPECT_EQ(urls[7].parts().Find("interface"), urls[400].parts().Find("interface")) << "the very same text";
}

TEST(UrlPoolTest, AnUnusedEntryIsKeptForAWhile) {
  FakeClock clock;
  UrlPool pool(clock, minutes(5));
  Url url = *pool.Parse(ProviderText(1));
  clock.Advance(minutes(60));
  EXPECT_EQ(pool.Sweep(), 0u) << "somebody holds it";
  url = Url();
  EXPECT_EQ(pool.Sweep(), 0u);
  clock.Advance(minutes(4));
  EXPECT_EQ(pool.Sweep(), 0u);
  url = *pool.Parse(ProviderText(1));
  url = Url();
  clock.Advance(minutes(4));
  EXPECT_EQ(pool.Sweep(), 0u) << "it was used again in between";
  clock.Advance(minutes(5));
  EXPECT_EQ(pool.Sweep(), 1u);
  EXPECT_EQ(pool.sizes().entries, 0u);
  EXPECT_EQ(pool.sizes().common, 0u);
}

TEST(UrlPoolTest, AUrlOutlivesItsPool) {
  Url url;
  {
    UrlPool pool;
    url = *pool.Parse(ProviderText(1));
  }
  EXPECT_EQ(url.path(), "org.demo.Service");
}

// Report 38: apache/dubbo 7143, 7483.
TEST(UrlPoolTest, DubboIssue7143ThePoolReturnsToTheLiveCount) {
  FakeClock clock;
  UrlPool pool(clock, std::chrono::seconds(0));
  const Url stays = *pool.Parse(PercentEncode(ProviderText(0)));
  for (int i = 1; i <= 10'000; ++i) {
    const Url url = *pool.Parse(PercentEncode(ProviderText(i % 1000, i) + "&n=" + std::to_string(i)));
    if (i % 100 == 0) pool.Sweep();
  }
  pool.Sweep();
  EXPECT_EQ(pool.sizes().entries, 1u);
  EXPECT_EQ(pool.sizes().common, 1u);
  EXPECT_EQ(*pool.Parse(PercentEncode(ProviderText(0))), stays);
}

// Report 64: apache/dubbo-go 2031.
TEST(UrlPoolTest, DubboGoIssue2031TheSamePushAddsNothing) {
  UrlPool pool;
  std::vector<Url> held;
  for (int round = 0; round < 100; ++round) {
    held.clear();
    for (int i = 0; i < 100; ++i) held.push_back(*pool.Parse(ProviderText(i)));
  }
  EXPECT_EQ(pool.sizes().entries, 100u);
}

TEST(UrlPoolTest, ManyThreadsParseSweepAndCompare) {
  FakeClock clock;
  UrlPool pool(clock, std::chrono::seconds(0));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      Random random(static_cast<std::uint64_t>(t));
      std::vector<Url> held;
      for (int i = 0; i < 2000; ++i) {
        const int n = static_cast<int>(random.Below(50));
        const Url url = *pool.Parse(ProviderText(n, i));
        ASSERT_EQ(url, Url::Of(url.parts(), pool));
        ASSERT_EQ(url.Param("application"), "demo-provider");
        held.push_back(url);
        if (held.size() > 20) held.erase(held.begin());
        if (i % 64 == 0) pool.Sweep();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  pool.Sweep();
  EXPECT_EQ(pool.sizes().entries, 0u);
}

}  // namespace
}  // namespace fairlead
