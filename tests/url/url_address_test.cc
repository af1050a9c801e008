#include "fairlead/url/url_address.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/url/host.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

using ::testing::ElementsAre;

UrlParts Lenient(std::string_view text) {
  absl::StatusOr<UrlParts> url = ParseLenient(text);
  EXPECT_TRUE(url.ok()) << url.status();
  return url.value_or(UrlParts());
}

// Reports 31: apache/dubbo 2064, 3592, 4597, PR 5880.
TEST(UrlAddressTest, DubboIssue2064Ipv6InEverySpelling) {
  struct Row {
    const char *text, *host, *connect;
    int port;
  };
  for (const Row& row : {Row{"dubbo://[2001:db8::1]:20880/a.B?x=1", "[2001:db8::1]", "2001:db8::1", 20880},
                         Row{"dubbo://[2001:DB8:0::1]/a.B?x=1", "[2001:DB8:0::1]", "2001:db8::1", 0},
                         Row{"dubbo://2001:db8::1:20880/a.B?x=1", "[2001:db8::1]", "2001:db8::1", 20880},
                         Row{"dubbo://2001:db8::1/a.B?x=1", "[2001:db8::1]", "2001:db8::1", 0},
                         Row{"dubbo://::1/a.B?x=1", "[::1]", "::1", 0},
                         Row{"dubbo://fe80::1%25eth0/a.B?x=1", "[fe80::1%25eth0]", "fe80::1%eth0", 0},
                         Row{"dubbo://[fe80::1%eth0]:7/a.B?x=1", "[fe80::1%eth0]", "fe80::1%eth0", 7},
                         Row{"dubbo://u:p@[::1]:7/a.B?x=1", "[::1]", "::1", 7}}) {
    SCOPED_TRACE(row.text);
    const UrlParts url = Lenient(row.text);
    EXPECT_EQ(url.host, row.host);
    EXPECT_EQ(CanonicalHost(*url.host), row.connect);
    EXPECT_EQ(url.port, row.port);
    EXPECT_EQ(url.path, "a.B");
    EXPECT_EQ(url.Param("x"), "1");
    EXPECT_EQ(Lenient(url.ToFullString()), url) << "what is printed reads back";
  }
  EXPECT_EQ(Lenient("2001:db8::1").host, "[2001:db8::1]");
  EXPECT_EQ(Lenient("2001:db8::1").port, 0);
  EXPECT_EQ(Lenient("[::1]:2181").port, 2181);
  EXPECT_EQ(Lenient("10.0.0.1:2181").Address(), "10.0.0.1:2181");
  EXPECT_FALSE(ParseLenient("dubbo://[::1]:x/a").ok());
  EXPECT_FALSE(ParseLenient("dubbo://[::1/a").ok());
}

TEST(UrlAddressTest, DubboIssue2064EqualityIsOfTheCanonicalForm) {
  UrlPool pool;
  const auto parse = [&](const char* text) { return *Url::Parse(text, pool); };
  const Url short_form = parse("dubbo://[2001:db8::1]:20880/a.B");
  EXPECT_EQ(short_form, parse("dubbo://[2001:DB8:0:0:0:0:0:1]:20880/a.B"));
  EXPECT_EQ(short_form, parse("dubbo://2001:db8::1:20880/a.B"));
  EXPECT_FALSE(short_form == parse("dubbo://[2001:db8::2]:20880/a.B"));
  EXPECT_EQ(short_form.host(), "[2001:db8::1]") << "each url keeps the host as it was written";
  EXPECT_FALSE(parse("dubbo://[fe80::1%25a]:1/x") == parse("dubbo://[fe80::1%25b]:1/x"));
  EXPECT_FALSE(parse("dubbo://H:1/p") == parse("dubbo://h:1/p")) << "names are not folded";
}

// Report 32: apache/dubbo 11422, 14361.
TEST(UrlAddressTest, DubboIssue11422HashInThePassword) {
  for (const char* text : {"zookeeper://test:te#st@10.0.0.1:2181", "zookeeper://test:te%23st@10.0.0.1:2181",
                           "zookeeper://test:te#st@10.0.0.1:2181/path#fragment"}) {
    const UrlParts url = Lenient(text);
    EXPECT_EQ(url.username, "test") << text;
    EXPECT_EQ(url.password, "te#st") << text;
    EXPECT_EQ(url.Address(), "10.0.0.1:2181") << text;
  }
  EXPECT_EQ(Lenient("zookeeper://u:p@h:1/path#fragment@x").path, "path");
  EXPECT_EQ(Lenient("zookeeper://h:1#fragment").Address(), "h:1");
}

TEST(UrlAddressTest, OddPasswords) {
  EXPECT_EQ(Lenient("zookeeper://u:a@b@h:1").password, "a@b");
  EXPECT_EQ(Lenient("zookeeper://u:a/b@h:1/p").password, "a/b");
  EXPECT_EQ(Lenient("zookeeper://u:100%@h:1").password, "100%");
  EXPECT_EQ(Lenient("zookeeper://u:a%40b+c@h:1").password, "a@b+c");
  EXPECT_EQ(Lenient("zookeeper://h:1/user@x").username, std::nullopt) << "an '@' of the path";
  EXPECT_EQ(Lenient("zookeeper://h/user@x").username, std::nullopt);
  EXPECT_EQ(Lenient("zookeeper://[::1]/user@x").username, std::nullopt);
  EXPECT_EQ(Lenient(" zookeeper://h:1 ").Address(), "h:1");
}

// Report 37: apache/dubbo PR 2077.
TEST(UrlAddressTest, DubboPr2077BackupIsNotAppendedTwice) {
  UrlParts defaults;
  defaults.protocol = "zookeeper";
  defaults.port = 2181;
  const absl::StatusOr<UrlParts> url = ParseAddress("127.0.0.1:2181?backup=h2:2181,h3", defaults);
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_THAT(BackupAddresses(*url, 2181), ElementsAre("127.0.0.1:2181", "h2:2181", "h3:2181"));
  EXPECT_EQ(url->ToFullString(), "zookeeper://127.0.0.1:2181?backup=h2:2181,h3");
}

TEST(UrlAddressTest, CommaListsBecomeBackups) {
  UrlParts defaults;
  defaults.protocol = "zookeeper";
  defaults.port = 2181;
  defaults.params = {{"check", "false"}, {"backup", "never used"}, {"empty", ""}};
  const absl::StatusOr<UrlParts> url = ParseAddress("10.0.0.1 , 10.0.0.2:7,[::1]", defaults);
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->ToFullString(), "zookeeper://10.0.0.1:2181?backup=10.0.0.2:7,[::1]&check=false");
  EXPECT_THAT(BackupAddresses(*url, 2181), ElementsAre("10.0.0.1:2181", "10.0.0.2:7", "[::1]:2181"));
  const absl::StatusOr<std::vector<UrlParts>> urls = BackupUrls(*url);
  ASSERT_TRUE(urls.ok());
  EXPECT_EQ((*urls)[2].Address(), "[::1]:2181") << "an address without a port keeps the url's";
}

TEST(UrlAddressTest, SeveralRegistries) {
  const absl::StatusOr<std::vector<UrlParts>> urls = ParseAddresses("zookeeper://a:1 | 10.0.0.1:1,10.0.0.2:2;");
  ASSERT_TRUE(urls.ok()) << urls.status();
  ASSERT_EQ(urls->size(), 2u);
  EXPECT_EQ((*urls)[0].ToFullString(), "zookeeper://a:1");
  EXPECT_EQ((*urls)[1].ToFullString(), "dubbo://10.0.0.1:1?backup=10.0.0.2:2");
  for (const char* text : {"", " ", "|", ";|"}) EXPECT_FALSE(ParseAddresses(text).ok()) << text;
  for (const char* text : {"", " ", ",", "zookeeper://h:x"}) EXPECT_FALSE(ParseAddress(text).ok()) << text;
}

TEST(UrlAddressTest, HostsAndPorts) {
  const auto split = [](std::string_view text) {
    const absl::StatusOr<HostPort> parts = SplitHostPort(text);
    return parts.ok() ? std::string(parts->host) + " " + std::to_string(parts->port) : "error";
  };
  EXPECT_EQ(split("h:7"), "h 7");
  EXPECT_EQ(split("h"), "h 0");
  EXPECT_EQ(split("::1"), "::1 0");
  EXPECT_EQ(split("[::1]:7"), "[::1] 7");
  EXPECT_EQ(split("h:"), "error");
  EXPECT_EQ(split("h:-3"), "h 0");
}

TEST(HostTest, AnyAndLocal) {
  const auto url = [](const char* text) { return *UrlParts::Parse(text); };
  EXPECT_TRUE(IsAnyHost(url("d://0.0.0.0:1")));
  EXPECT_TRUE(IsAnyHost(url("d://h:1?anyhost=TRUE")));
  EXPECT_FALSE(IsAnyHost(url("d://[::]:1")));
  EXPECT_TRUE(IsLocalHost(url("d://127.999.0.1:1"))) << "digits are not range-checked";
  EXPECT_TRUE(IsLocalHost(url("d://LocalHost:1")));
  EXPECT_TRUE(IsLocalHost(url("d://h?localhost=true")));
  for (const char* text : {"d://127.0.0:1", "d://127.0.0.1.2:1", "d://127.0.0.1234", "d://1127.0.0.1", "d://"}) {
    EXPECT_FALSE(IsLocalHost(url(text))) << text;
  }
}

}  // namespace
}  // namespace fairlead
