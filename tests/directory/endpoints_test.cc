#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/directory/directory_fixture.h"

namespace fairlead {
namespace {

using EndpointsTest = DirectoryFixture;

// Lists that grow and shrink by thousands, with weights that change: a connection that stays is found and kept, one
// that is new is made, one that left is closed, each once.
TEST_F(EndpointsTest, ConnectionsAreFoundAmongThousands) {
  Random random(5);
  std::map<std::string, int> weights;  // by address
  const auto texts = [&] {
    std::vector<std::string> list;
    for (const auto& [address, weight] : weights) list.push_back(address + "?weight=" + std::to_string(weight));
    return list;
  };
  Open({});
  int referred = 0, updated = 0, destroyed = 0;
  int next = 0;
  for (const std::size_t size : {1u, 3000u, 2900u, 20u, 1u, 500u, 4000u, 2u, 700u}) {
    while (weights.size() > size) {
      weights.erase(std::next(weights.begin(), static_cast<std::ptrdiff_t>(random.Below(weights.size()))));
      ++destroyed;
    }
    for (auto& [address, weight] : weights) {
      if (random.Below(3) != 0) continue;
      ++weight;
      ++updated;
    }
    for (; weights.size() < size; ++next) {
      weights["10." + std::to_string(next / 65536) + "." + std::to_string(next / 256 % 256) + "." + std::to_string(next % 256)] = 1;
      ++referred;
    }
    Providers(texts());
    executor_.RunReady();
    executor_.Advance(std::chrono::seconds(1));
    ASSERT_EQ(protocol_->referred, referred) << size;
    ASSERT_EQ(protocol_->updated, updated) << size;
    ASSERT_EQ(protocol_->destroyed, destroyed) << size;
    ASSERT_EQ(handle_->List({}).size(), size);
  }
}

// Only memory for names that are there is made, in blocks.
TEST_F(EndpointsTest, HundredsOfMethodsKeepTheirNumbersAndNames) {
  Open({"10.0.0.1", "10.0.0.2"});
  Rules({RuleUrl("method=m300 => host=10.0.0.2")});
  executor_.RunReady();
  std::vector<MethodId> ids;
  for (int i = 0; i < 600; ++i) ids.push_back(handle_->Method("m" + std::to_string(i)));
  executor_.Advance(std::chrono::seconds(1));
  for (int i = 0; i < 600; ++i) {
    const MethodId id = ids[static_cast<std::size_t>(i)];
    EXPECT_EQ(handle_->Method("m" + std::to_string(i)), id);
    EXPECT_EQ(handle_->List({.method = id}).size(), i == 300 ? 1u : 2u) << i;
  }
}

}  // namespace
}  // namespace fairlead
