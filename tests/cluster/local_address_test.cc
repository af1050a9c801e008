#include "fairlead/cluster/local_address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

namespace fairlead::internal {
namespace {

TEST(LocalAddressTest, LoopbackIsReachedFromLoopback) {
  EXPECT_EQ(LocalAddressTowards("127.0.0.1", 2181), "127.0.0.1");
  EXPECT_EQ(LocalAddressTowards("localhost", 2181), "127.0.0.1");
  EXPECT_EQ(LocalAddressTowards("127.0.0.1:2181,127.0.0.2", 2181), "127.0.0.1") << "the first of a list, without its port";
}

TEST(LocalAddressTest, ANameOrNothingStillGivesANumericAddress) {
  for (const char* host : {"no.such.name.invalid", "", "%%%"}) {
    in_addr v4;
    in6_addr v6;
    const std::string address = LocalAddressTowards(host, 0);
    EXPECT_TRUE(inet_pton(AF_INET, address.c_str(), &v4) == 1 || inet_pton(AF_INET6, address.c_str(), &v6) == 1) << address;
  }
}

}  // namespace
}  // namespace fairlead::internal
