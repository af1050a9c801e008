#include "fairlead/routing/tag/address_pattern.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairlead {
namespace {

using ::testing::HasSubstr;
using Answer = AddressPattern::Answer;

Answer Match(std::string_view pattern, std::string_view host, int port = 20880, Compat compat = Compat::kStrict) {
  return AddressPattern(pattern, compat).Match(host, port);
}
std::string Wrong(std::string_view pattern) { return std::string(AddressPattern(pattern, Compat::kStrict).status().message()); }

TEST(IpAddressTest, ReadsLiteralsAsJavaDoes) {
  EXPECT_EQ(IpAddress::Parse("10.1"), IpAddress::Parse("10.0.0.1"));
  EXPECT_EQ(IpAddress::Parse("010.000.00.1"), IpAddress::Parse("10.0.0.1"));
  EXPECT_EQ(IpAddress::Parse("::ffff:10.0.0.1"), IpAddress::Parse("10.0.0.1"));
  EXPECT_EQ(IpAddress::Parse("[fe80::1]"), IpAddress::Parse("FE80:0:0:0:0:0:0:01"));
  EXPECT_EQ(IpAddress::Parse("fe80::1%eth0"), IpAddress::Parse("fe80::1"));
  EXPECT_EQ(IpAddress::Parse("LocalHost"), IpAddress::Parse("127.0.0.1"));
  EXPECT_NE(IpAddress::Parse("::10.0.0.1"), IpAddress::Parse("10.0.0.1"));
  for (const char* name : {"provider-1", "10.0.0.256", "1.2.3.4.5", "10.0.0.", ".1", "10.0.0.1:20880", "a.b.c.d", "1234567890123456",
                           ":", ":1", "1:", "::1:", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8",
                           "12345::", "g::", "[::1", "[]", "::1.2.3", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "::1%"}) {
    EXPECT_EQ(IpAddress::Parse(name), std::nullopt) << name;
  }
}

// The system's own parser is the twin, for texts of which both speak.
TEST(IpAddressTest, AgreesWithTheSystemOnIpv6) {
  std::uint64_t state = 11;
  int valid = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (int i = 0; i < 9; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const char* const parts[] = {"0", "1:", "ab:", "F0d:", ":", "::", "", "1.2.3.4"};
      text += parts[(state >> 40) % 8];
    }
    // Java takes any number of leading zeros.
    if (text.find("00") != text.npos || text.find("01") != text.npos || text.find("0F0") != text.npos) continue;
    in6_addr twin;
    const bool read = inet_pton(AF_INET6, text.c_str(), &twin) == 1;
    const std::optional<IpAddress> address = IpAddress::Parse(text);
    ASSERT_EQ(address.has_value(), read) << text;
    if (!read) continue;
    ++valid;
    for (std::size_t i = 0; i < address->parts() && !address->v4(); ++i) {
      ASSERT_EQ(address->part(i), twin.s6_addr[2 * i] << 8 | twin.s6_addr[2 * i + 1]) << text;
    }
  }
  EXPECT_GT(valid, 100);
}

TEST(AddressPatternTest, OnePartMayBeAnyOrARange) {
  EXPECT_EQ(Match("10.0.*.1-20", "10.0.7.20"), Answer::kYes);
  EXPECT_EQ(Match("10.0.*.1-20", "10.0.7.21"), Answer::kNo);
  EXPECT_EQ(Match("fe80:0:0:0:0:0:0:a-ff", "fe80::1f"), Answer::kYes);
  EXPECT_EQ(Match("fe80:0:0:0:0:0:0:*", "fe80::1"), Answer::kYes);
  EXPECT_EQ(Match("fe80::*", "fe80::1"), Answer::kCannot);
  EXPECT_EQ(Match("*", "name", 1), Answer::kYes);
  EXPECT_EQ(Match(" *.*.*.* ", "::1", 1), Answer::kYes);
}

TEST(AddressPatternTest, TextsOfPartsAreThoseJavaWrites) {
  EXPECT_EQ(Match("192.168.001.1", "192.168.1.1"), Answer::kYes) << "a whole address is a number";
  EXPECT_EQ(Match("192.168.001.*", "192.168.1.1"), Answer::kNo);
  EXPECT_EQ(Match("10.000.*.1", "10.0.0.1"), Answer::kYes);
  EXPECT_EQ(Match("10.0.1.*.", "10.0.1.9"), Answer::kYes) << "what is empty at the end does not count";
}

TEST(AddressPatternTest, PortsAreComparedAsWritten) {
  EXPECT_EQ(Match("10.0.0.1:20880", "10.0.0.1"), Answer::kYes);
  EXPECT_EQ(Match("10.0.0.1:20881", "10.0.0.1"), Answer::kNo);
  EXPECT_EQ(Match("10.0.0.1:", "10.0.0.1"), Answer::kNo);
  EXPECT_EQ(Match("10.0.0.1: 20880", "10.0.0.1"), Answer::kNo);
  EXPECT_EQ(Match("10.0.0.1:020880", "10.0.0.1"), Answer::kNo);
  EXPECT_EQ(Match("[fe80::1]:20880", "fe80::1"), Answer::kYes);
  EXPECT_EQ(Match("[fe80::1]:1", "fe80::1"), Answer::kNo);
  EXPECT_EQ(Match("[fe80::1]", "fe80::1"), Answer::kYes);
  EXPECT_EQ(Match("*:20880", "10.0.0.1"), Answer::kCannot) << "one part is not four";
}

TEST(AddressPatternTest, ANetworkTakesItsWholePrefix) {
  EXPECT_EQ(Match("10.0.0.7/8", "10.255.0.1"), Answer::kYes);
  EXPECT_EQ(Match("10.0.0.7/8", "11.0.0.0"), Answer::kNo);
  EXPECT_EQ(Match("10.0.0.128/25", "10.0.0.127"), Answer::kNo);
  EXPECT_EQ(Match("10.0.0.1/32", "10.0.0.1"), Answer::kYes);
  EXPECT_EQ(Match("10.0.0.1/33", "10.0.0.1"), Answer::kYes);
  EXPECT_EQ(Match("10.0.0.1/-1", "9.0.0.0"), Answer::kYes);
  EXPECT_EQ(Match("fe80::/10", "febf::1"), Answer::kYes);
  EXPECT_EQ(Match("fe80::/10", "fec0::1"), Answer::kNo);
  EXPECT_EQ(Match("10.0.0.0/8:20880", "10.0.0.1"), Answer::kCannot);
}

TEST(AddressPatternTest, NamesAreNeverLookedUp) {
  EXPECT_EQ(Match("10.0.0.1", "provider.example"), Answer::kCannot);
  EXPECT_EQ(Match("a.b.c.d", "10.0.0.1"), Answer::kCannot);
  EXPECT_EQ(Match("name/8", "10.0.0.1"), Answer::kCannot);
}

TEST(AddressPatternTest, LoopbackIsIpv4OnlyWhenFixed) {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    EXPECT_EQ(Match("127.0.0.1", host), Answer::kCannot);
    EXPECT_EQ(Match("127.0.0.0/8", host), Answer::kYes);
    EXPECT_EQ(Match("127.0.0.1", host, 20880, Compat::kFixed), Answer::kYes);
    EXPECT_EQ(Match("127.0.0.*:20880", host, 20880, Compat::kFixed), Answer::kYes);
  }
}

TEST(AddressPatternTest, SaysWhyNothingCanFit) {
  for (const char* good : {"*", "10.0.0.1", "10.0.*.1-20:9", "::1", "[fe80::1]:20880", "10.0.0.0/8", "1:2:3:4:5:6:7:*"}) {
    EXPECT_EQ(Wrong(good), "") << good;
  }
  EXPECT_THAT(Wrong("10.0.0"), HasSubstr("\"10.0.0\": expected four parts"));
  EXPECT_THAT(Wrong("10.0.0.5-1"), HasSubstr("no address has"));
  EXPECT_THAT(Wrong("10.0.0.1:"), HasSubstr("port"));
  EXPECT_THAT(Wrong("a.b.c.d"), HasSubstr("not looked up"));
  EXPECT_THAT(Wrong("10.0.0.0/x"), HasSubstr("prefix"));
  EXPECT_THAT(Wrong("*:20880"), HasSubstr("expected four parts"));
  EXPECT_THAT(Wrong("bad host"), HasSubstr("bad host"));
}

}  // namespace
}  // namespace fairlead
