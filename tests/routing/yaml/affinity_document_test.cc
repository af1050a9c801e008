#include "fairlead/routing/yaml/affinity_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fairlead {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

AffinityDocument Document(std::string_view yaml) {
  absl::StatusOr<AffinityDocument> document = ParseAffinityDocument(yaml);
  EXPECT_TRUE(document.ok()) << document.status() << "\n" << yaml;
  return document.ok() ? *std::move(document) : AffinityDocument();
}

TEST(AffinityDocumentTest, ReadsKeyAndRatio) {
  const AffinityDocument document =
      Document("configVersion: v3.1\nscope: service\nkey: s.A\naffinityAware:\n  key: region\n  ratio: '20'\n");
  EXPECT_THAT(document.remarks, IsEmpty());
  EXPECT_FALSE(document.empty());
  EXPECT_EQ(document.key, "region");
  EXPECT_EQ(document.ratio, 20);
  const auto router = MakeRouter(document, router_order::kAffinityProviderApplication, "affinity-provider-application");
  ASSERT_NE(router, nullptr);
  EXPECT_EQ(router->order(), 135);
  EXPECT_EQ(router->name(), "affinity-provider-application");
}

TEST(AffinityDocumentTest, WithoutAKeyOrWithAnotherRatioItIsNotThere) {
  for (const char* yaml : {"key: s.A\n", "affinityAware: {key: ' '}\n", "affinityAware: {key: region, ratio: 101}\n",
                           "affinityAware: {key: region, ratio: -1}\n"}) {
    const AffinityDocument document = Document(yaml);
    EXPECT_TRUE(document.empty()) << yaml;
    EXPECT_THAT(document.remarks, SizeIs(1)) << yaml;
    EXPECT_EQ(MakeRouter(document, 0, "affinity"), nullptr);
  }
  EXPECT_TRUE(Document("valid: false\naffinityAware: {key: region}\n").empty());
  EXPECT_THAT(Document("affinityAware: {key: region, rate: 5}\nmore: 1\n").remarks, SizeIs(2));
}

TEST(AffinityDocumentTest, ErrorsSayWhere) {
  EXPECT_THAT(ParseAffinityDocument("affinityAware: region\n").status().message(), HasSubstr("expected a map"));
  EXPECT_THAT(ParseAffinityDocument("affinityAware:\n  key: region\n  ratio: x\n").status().message(),
              AllOf(HasSubstr("line 3"), HasSubstr("expected a number")));
}

}  // namespace
}  // namespace fairlead
