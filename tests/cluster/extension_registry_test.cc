#include "fairlead/cluster/extension_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fairlead/cluster/default_extensions.h"

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
