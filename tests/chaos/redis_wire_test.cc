#include "fairlead/tests/chaos/redis_wire.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairlead::chaos {
namespace {

using Way = FaultProxy::Way;

std::string Command(const std::vector<std::string>& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return bytes;
}

TEST(RedisWireTest, KnowsSubscribersAndCountsListReadsHoweverTheyCome) {
  RedisWire wire;
  const std::string bytes = Command({"HLEN", "/dubbo/a/providers"}) + Command({"HGETALL", "/dubbo/a/providers"}) +
                            Command({"HSET", "/dubbo/a/providers", "x\r\n$7\r\nHGETALL", "1"}) +
                            Command({"HGETALL", "/dubbo/b/providers"}) + Command({"HGETALL", "/dubbo/a/routers"}) +
                            Command({"PING"});
  for (const char byte : bytes) wire.Saw(1, Way::kToServer, std::string(1, byte));
  wire.Saw(1, Way::kToClient, Command({"HGETALL", "/dubbo/a/providers"}));
  EXPECT_EQ(wire.list_reads("/providers"), 2u);
  EXPECT_EQ(wire.list_reads("/a/providers"), 1u);
  EXPECT_EQ(wire.list_reads("/consumers"), 0u);
  EXPECT_FALSE(wire.subscribed(1));
  wire.Saw(2, Way::kToServer, Command({"PING"}) + Command({"SUBSCRIBE", "/dubbo/a/providers"}));
  EXPECT_TRUE(wire.subscribed(2));
  EXPECT_FALSE(wire.subscribed(1));
}

}  // namespace
}  // namespace fairlead::chaos
