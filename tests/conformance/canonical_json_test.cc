#include "canonical_json.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace fairlead::conformance {
namespace {

std::string Canonical(std::string_view text) { return CanonicalJson(ParseJson(text)); }

// The right sides are what Python 3.11 prints.
TEST(CanonicalJsonTest, ObjectsAreSortedByCodePoint) {
  EXPECT_EQ(Canonical(R"({"b" : [ ], "a":{ }, "Z":1, "\uffff":2, "\ud83d\ude00":3, "":null})"),
            "{\"\":null,\"Z\":1,\"a\":{},\"b\":[],\"\xEF\xBF\xBF\":2,\"\xF0\x9F\x98\x80\":3}");
  EXPECT_EQ(Canonical(R"({"a":1,"a":2})"), R"({"a":2})");
}

TEST(CanonicalJsonTest, OnlyQuotesBackslashesAndControlsAreEscaped) {
  EXPECT_EQ(Canonical(R"("\u0041\/\"\\\n\r\t\b\f\u0000\u001f\u007f\u4e2d\u2028")"),
            "\"A/\\\"\\\\\\n\\r\\t\\b\\f\\u0000\\u001f\x7F中\xE2\x80\xA8\"");
}

TEST(CanonicalJsonTest, NumbersPrintAsPythonPrintsThem) {
  EXPECT_EQ(Canonical("[0,-0,-1,18446744073709551615,18446744073709551616,-99999999999999999999999]"),
            "[0,0,-1,18446744073709551615,18446744073709551616,-99999999999999999999999]");
  EXPECT_EQ(Canonical("[1.0,-0.0,0.1,1e0,1E2,123456789.25,1e15,1e16,1e22,1.5e300,0.0001,0.00001,1.25e-7,5e-324]"),
            "[1.0,-0.0,0.1,1.0,100.0,123456789.25,1000000000000000.0,1e+16,1e+22,1.5e+300,0.0001,1e-05,1.25e-07,5e-324]");
  EXPECT_EQ(Canonical("[9007199254740993.0,0.30000000000000004,100,1e5]"),
            "[9007199254740992.0,0.30000000000000004,100,100000.0]");
}

TEST(CanonicalJsonTest, MistakesAreReported) {
  for (const char* text : {"", "{", "[1,]", "\"\\ud800\"", "\"\xFF\"", "{} {}", "01"}) {
    EXPECT_THROW(ParseJson(text), std::runtime_error) << text;
  }
}

TEST(CanonicalJsonTest, CaseIds) {
  EXPECT_EQ(CaseId(ParseJson(R"({"op":"glob","value":"中","pattern":"*"})")), "4cdea9ae9d67");
  EXPECT_EQ(CaseId(ParseJson("[1.50,null,true]")), "926cd444bbaa");
}

}  // namespace
}  // namespace fairlead::conformance
