#include "fairlead/registry/multicast/multicast_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/base/random.h"
#include "fairlead/registry/multicast/heard_urls.h"
#include "fairlead/registry/multicast/multicast_options.h"
#include "fairlead/url/url_pool.h"

namespace fairlead::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Read(std::string_view datagram) {
  const std::optional<MulticastMessage> message = ReadMulticastMessage(datagram);
  if (!message) return "none";
  const std::string text = MulticastText(message->verb, message->url);
  return text.substr(0, text.size() - 1);
}

TEST(MulticastMessageTest, ReadsTheFirstLineAsDubboDoes) {
  EXPECT_EQ(Read("register dubbo://h:1/a\n"), "register dubbo://h:1/a");
  EXPECT_EQ(Read("register   dubbo://h:1/a  \nrest"), "register dubbo://h:1/a");
  EXPECT_EQ(Read("\n  unregister\tdubbo://h:1/a\r\nregister dubbo://h:2/a"), "unregister dubbo://h:1/a");
  EXPECT_EQ(Read("subscribe consumer://h/a"), "subscribe consumer://h/a");
  EXPECT_EQ(Read("unsubscribe consumer://h/a"), "unsubscribe consumer://h/a");
  // A Java receiver's buffer is filled up with zeros.
  EXPECT_EQ(Read(std::string("register dubbo://h:1/a\n") + std::string(100, '\0')), "register dubbo://h:1/a");
  EXPECT_EQ(Read("register"), "register ");
}

TEST(MulticastMessageTest, WhatIsNoMessage) {
  for (const std::string_view text :
       {"", "\n", "hello", "Register dubbo://h:1/a", "registered dubbo://h:1/a", "registerdubbo://h:1/a", "\xff\xfe", "reg"}) {
    EXPECT_EQ(Read(text), "none") << text;
  }
}

TEST(MulticastMessageTest, WritesOneLine) {
  EXPECT_EQ(MulticastText(MulticastVerb::kRegister, "dubbo://h:1/a"), "register dubbo://h:1/a\n");
  EXPECT_EQ(MulticastText(MulticastVerb::kUnregister, "dubbo://h:1/a"), "unregister dubbo://h:1/a\n");
}

TEST(MulticastMessageTest, AUrlThatWouldBeCutOrSpoiledIsRefused) {
  const std::string start = "dubbo://u:secret@h:1/a?x=";
  const std::string longest = start + std::string(2036 - start.size(), 'y');
  EXPECT_EQ(CheckMulticastUrl(longest), absl::OkStatus());
  EXPECT_EQ(MulticastText(MulticastVerb::kUnregister, longest).size(), kMostDatagramBytes);
  const absl::Status refused = CheckMulticastUrl(longest + "y");
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("2037 bytes; a multicast registry has 2036"));
  EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("secret")));
  EXPECT_FALSE(CheckMulticastUrl("dubbo://h:1/a?x=1\nregister dubbo://evil:1/a").ok());
  EXPECT_FALSE(CheckMulticastUrl("dubbo://h:1/a?x=\xff").ok());
  EXPECT_TRUE(CheckMulticastUrl("dubbo://h:1/a?x=\xc3\xa4").ok());
}

TEST(HeardUrlTest, TellsTwoLivesOfOneUrl) {
  const auto first = HeardUrl::Read("dubbo://h:1/a.B?pid=1&timestamp=100&weight=5");
  const auto second = HeardUrl::Read("dubbo://h:1/a.B?weight=5&pid=2&timestamp=200");
  const auto other = HeardUrl::Read("dubbo://h:1/a.B?weight=6&timestamp=200");
  ASSERT_TRUE(first.ok() && second.ok() && other.ok());
  EXPECT_EQ(first->identity, second->identity);
  EXPECT_NE(first->identity, other->identity);
  EXPECT_EQ(first->timestamp, 100);
  EXPECT_EQ(second->key, (RegistryKey{"a.B", Category::kProviders}));
  EXPECT_EQ(HeardUrl::Read("override://0.0.0.0/a.B?category=configurators")->key.category, Category::kConfigurators);
}

TEST(HeardUrlTest, RefusesWhatNoServiceHas) {
  for (const std::string_view text : {"", "h:1/a", "dubbo://h:1", "dubbo://h:x/a", "dubbo://h:1/a?category=nonsense",
                                      "empty://0.0.0.0/a.B?category=providers", "dubbo://h:1/a?x=\xfe", "://"}) {
    EXPECT_EQ(HeardUrl::Read(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

// A console hears of all services.
TEST(HeardUrlsTest, ServicesThatComeAndGoAreNotRememberedWithoutEnd) {
  HeardUrls heard;
  for (std::size_t n = 0; n < HeardUrls::kMost + 10; ++n) {
    const HeardUrl url = *HeardUrl::Read("dubbo://h:1/a.B" + std::to_string(n));
    EXPECT_EQ(heard.Add(url, {}), HeardUrls::Added::kNews);
    EXPECT_TRUE(heard.Remove(url));
  }
  EXPECT_EQ(heard.size(), 0u);
  EXPECT_EQ(heard.taken_back_count(), HeardUrls::kMost);
}

// Whatever comes, it is a message or none, and nothing else happens.
TEST(MulticastMessageTest, RandomDatagrams) {
  Random random(7);
  const std::string pieces[] = {"register ", "unregister ", "subscribe ", "dubbo://", "h:1", "/a.B", "?x=1", "&", "\n", "%",
                                "[", "]", "::", "\xff", std::string(1, '\0'), "category=providers", "=", " ", "😀"};
  int urls = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::uint64_t i = random.Below(12); i > 0; --i) text += pieces[random.Below(std::size(pieces))];
    const auto message = ReadMulticastMessage(text);
    if (message && HeardUrl::Read(message->url).ok()) ++urls;
  }
  EXPECT_GT(urls, 10);
}

TEST(IsProbedTest, WhoHasAPortAndMayVanish) {
  const auto probed = [](std::string_view text) { return IsProbed(*UrlParts::Parse(text)); };
  EXPECT_TRUE(probed("dubbo://h:1/a"));
  EXPECT_TRUE(probed("dubbo://h:1/a?dynamic=true"));
  for (const std::string_view text : {"dubbo://h:1/a?dynamic=false", "dubbo://h/a", "route://h:1/a", "override://h:1/a",
                                      "consumer://h:1/a", "dubbo://h:70000/a"}) {
    EXPECT_FALSE(probed(text)) << text;
  }
}

class MulticastOptionsTest : public ::testing::Test {
 protected:
  absl::StatusOr<MulticastOptions> Parse(std::string_view text) { return MulticastOptions::Parse(*Url::Parse(text, pool_)); }
  UrlPool pool_;
};

TEST_F(MulticastOptionsTest, Defaults) {
  const auto options = Parse("multicast://224.5.6.7");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->group, "224.5.6.7");
  EXPECT_EQ(options->port, 1234);
  EXPECT_TRUE(options->unicast);
  EXPECT_TRUE(options->clean);
  EXPECT_EQ(options->session, std::chrono::seconds(60));
  EXPECT_EQ(options->reply_wait, std::chrono::seconds(1));
  EXPECT_EQ(options->interface, "");
}

TEST_F(MulticastOptionsTest, EveryParameter) {
  const auto options = Parse(
      "multicast://[ff15::7]:4321?network.interface=lo&unicast=false&clean=false&session=2000&reply.wait=300");
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->group, "ff15::7");
  EXPECT_EQ(options->port, 4321);
  EXPECT_FALSE(options->unicast);
  EXPECT_FALSE(options->clean);
  EXPECT_EQ(options->session, std::chrono::seconds(2));
  EXPECT_EQ(options->reply_wait, std::chrono::milliseconds(300));
  EXPECT_EQ(options->interface, "lo");
  // Who waits must be told that there is none before its time is over.
  EXPECT_EQ(Parse("multicast://224.5.6.7?timeout=600")->reply_wait, std::chrono::milliseconds(300));
}

TEST_F(MulticastOptionsTest, RefusesWhatIsNoGroup) {
  for (const std::string_view text :
       {"multicast://10.0.0.1:1234", "multicast://223.255.255.255", "multicast://240.0.0.0", "multicast://[fe80::1]:1",
        "multicast://localhost:1234", "multicast:///x", "multicast://0.0.0.0", "multicast://224.5.6.7:70000",
        "multicast://224.5.6.7?backup=224.5.6.8", "multicast://224.5.6.7?reply.wait=0", "multicast://224.5.6.7?reply.wait=x"}) {
    EXPECT_EQ(Parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_THAT(std::string(Parse("multicast://10.0.0.1:1234").status().message()), HasSubstr("224.0.0.0 to 239.255.255.255"));
  EXPECT_TRUE(Parse("multicast://239.255.255.255").ok());
}

}  // namespace
}  // namespace fairlead::internal
