#include "fairlead/tests/chaos/zk_wire.h"

#include <gtest/gtest.h>

#include <string>

namespace fairlead::chaos {
namespace {

using Way = FaultProxy::Way;

std::string Number(std::uint64_t value, int size) {
  std::string bytes;
  for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}
std::string Frame(const std::string& body) { return Number(body.size(), 4) + body; }
std::string Granted(std::uint64_t session, int timeout = 2000) {
  return Frame(Number(0, 4) + Number(static_cast<std::uint64_t>(timeout), 4) + Number(session, 8) + Number(16, 4) +
               "0123456789abcdef" + std::string(1, '\0'));
}
std::string ListRead(const std::string& path, int kind = 12) {
  return Frame(Number(7, 4) + Number(static_cast<std::uint64_t>(kind), 4) + Number(path.size(), 4) + path + "\1");
}

TEST(ZkWireTest, KnowsTheSessionFromTheFirstFrameHoweverItComes) {
  ZkWire wire;
  EXPECT_FALSE(wire.session().has_value());
  for (const char byte : Granted(0x1000a)) wire.Saw(1, Way::kToClient, std::string(1, byte));
  const auto session = wire.session();
  ASSERT_TRUE(session.has_value());
  EXPECT_EQ(session->session, 0x1000a);
  EXPECT_EQ(std::string(session->password.begin(), session->password.end()), "0123456789abcdef");
  wire.Saw(1, Way::kToClient, Granted(5));  // of a connection that has its session: something else
  EXPECT_EQ(wire.session()->session, 0x1000a);
  wire.Saw(2, Way::kToClient, Granted(6, 0));  // refused: expired
  EXPECT_EQ(wire.session()->session, 0x1000a);
  wire.Saw(3, Way::kToClient, Granted(0x1000b));
  EXPECT_EQ(wire.session()->session, 0x1000b);
}

TEST(ZkWireTest, CountsListReadsByPath) {
  ZkWire wire;
  const std::string connect = Frame(std::string(44, '\0')), ping = Frame(Number(0xfffffffe, 4) + Number(11, 4));
  const std::string bytes = connect + ListRead("/dubbo/a/providers") + ping + ListRead("/dubbo/b/providers", 8) +
                            ListRead("/dubbo/a/routers") + ListRead("/dubbo/a/providers", 3);
  wire.Saw(1, Way::kToServer, bytes.substr(0, 60));
  wire.Saw(1, Way::kToServer, bytes.substr(60));
  EXPECT_EQ(wire.list_reads("/providers"), 2u);
  EXPECT_EQ(wire.list_reads("/a/providers"), 1u);
  EXPECT_EQ(wire.list_reads("/consumers"), 0u);
}

}  // namespace
}  // namespace fairlead::chaos
