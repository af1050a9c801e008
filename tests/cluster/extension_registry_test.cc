#include "fairlead/cluster/extension_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/registry/memory/memory_registry.h"
#include "fairlead/tests/support/fake_protocol.h"

namespace fairlead {
namespace {

using ::testing::HasSubstr;

class NoRouter final : public RouterFactory {
 public:
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url&, Compat) override {
    return absl::UnimplementedError("no");
  }
};

TEST(ExtensionRegistryTest, KnowsWhatWasAdded) {
  const auto factory = std::make_shared<NoRouter>();
  const auto built = ExtensionRegistry::Builder().AddRouter("mine", factory).Build();
  ASSERT_TRUE(built.ok());
  EXPECT_EQ(*built->Router("mine"), factory);
}

TEST(ExtensionRegistryTest, AnUnknownNameListsTheKnownOnes) {
  const auto policy = DefaultExtensions().Policy("nosuch");
  EXPECT_EQ(policy.status().code(), absl::StatusCode::kNotFound);
  for (const char* known : {"nosuch", "consistenthash", "leastactive", "random", "roundrobin"}) {
    EXPECT_THAT(policy.status().message(), HasSubstr(known));
  }
  EXPECT_THAT(ExtensionRegistry().Registry("zookeeper").status().message(), HasSubstr("known: none"));
}

// What registry/memory/memory_registry.h tells to write.
TEST(ExtensionRegistryTest, TheMemoryRegistryOfTheDefaultsCanBeFilled) {
  EXPECT_EQ(*DefaultExtensions().Registry("memory"), DefaultMemoryRegistry());
  const auto store = DefaultMemoryRegistry()->store("extension-registry-test");
  ASSERT_TRUE(store->Put("dubbo://10.0.0.1:20880/com.acme.Orders?application=orders&interface=com.acme.Orders").ok());
  ASSERT_TRUE(store->Put("dubbo://10.0.0.2:20880/com.acme.Orders?application=orders&interface=com.acme.Orders").ok());
  store->SetConfig("dubbo", "orders.tag-router", "tags: [{name: gray, addresses: [10.0.0.1]}]");
  auto runtime = *Runtime::Create({.extensions = DefaultExtensions()});
  const auto orders = runtime->Refer("memory://extension-registry-test", "consumer://10.0.0.9/com.acme.Orders?application=shop",
                                     std::make_shared<FakeProtocol>());
  ASSERT_TRUE(orders.ok()) << orders.status();
  const std::vector<Url> list = (*orders)->List({});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list.front().Address(), "10.0.0.2:20880");
}

TEST(ExtensionRegistryTest, AMemoryRegistryOfOnesOwnGoesIntoAnEmptyOne) {
  const auto memory = MakeMemoryRegistryFactory();
  EXPECT_EQ(DefaultExtensions().ToBuilder().AddRegistry(memory).Build().status().code(), absl::StatusCode::kAlreadyExists);
  const auto own = ExtensionRegistry::Builder().AddRegistry(memory).AddLoadBalance(*DefaultExtensions().Policy("random")).Build();
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_EQ(*own->Registry("memory"), memory);
}

TEST(ExtensionRegistryTest, EveryDuplicateIsNamed) {
  const auto factory = std::make_shared<NoRouter>();
  const auto built = DefaultExtensions().ToBuilder().AddRouter("condition", factory).AddRouter("route", factory).Build();
  EXPECT_EQ(built.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(built.status().message(), HasSubstr("condition"));
  EXPECT_THAT(built.status().message(), HasSubstr("route"));
}

TEST(ExtensionRegistryTest, ANullIsRefused) {
  EXPECT_EQ(ExtensionRegistry::Builder().AddRegistry(nullptr).Build().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ExtensionRegistry::Builder().AddLoadBalance(nullptr).Build().status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ExtensionRegistry::Builder().AddRouter("x", nullptr).Build().status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace fairlead
