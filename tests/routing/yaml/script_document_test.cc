#include "fairlead/routing/yaml/script_document.h"

#include <gmock/gmock.h>

namespace fairlead {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kScript[] =
    "key: shop\nenabled: true\nforce: true\nscript: |\n  (function route(invokers, invocation, context) { return invokers; }(invokers));\n";

TEST(ScriptDocumentTest, IsUnderstoodAndSaidNotToRun) {
  const absl::StatusOr<ScriptDocument> document = ParseScriptDocument(kScript);
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_TRUE(document->active());
  EXPECT_TRUE(document->head.force);
  EXPECT_EQ(document->type, "javascript");
  EXPECT_THAT(document->script, HasSubstr("return invokers"));
  ASSERT_EQ(document->remarks.size(), 1u);
  EXPECT_EQ(document->remarks[0].mark.line, 4);
  EXPECT_THAT(document->remarks[0].text, HasSubstr("not run here"));
}

TEST(ScriptDocumentTest, WithoutEffect) {
  const auto disabled = ParseScriptDocument(std::string(kScript) + "enabled: false\n");
  ASSERT_TRUE(disabled.ok());
  EXPECT_FALSE(disabled->active());
  const auto empty = ParseScriptDocument("type: groovy\nforce: true\n");
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->type, "groovy");
  EXPECT_FALSE(empty->active());
  ASSERT_EQ(empty->remarks.size(), 1u);
  EXPECT_THAT(empty->remarks[0].text, HasSubstr("no script"));
}

TEST(ScriptDocumentTest, Errors) {
  EXPECT_THAT(std::string(ParseScriptDocument("script: [1]\n").status().message()), HasSubstr("line 1, column 9"));
  EXPECT_THAT(std::string(ParseScriptDocument("text").status().message()), HasSubstr("expected a map"));
}

}  // namespace
}  // namespace fairlead
