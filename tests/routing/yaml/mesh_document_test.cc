#include "fairlead/routing/yaml/mesh_document.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr char kDestinations[] =
    "---\nkind: DestinationRule\nmetadata: {name: demo}\nspec:\n  host: demo\n  subsets:\n"
    "    - {name: v1, labels: {ver: 1}}\n    - {name: v2, labels: {ver: \"2\"}}\n";

std::string Service(const std::string& dubbo) {
  return absl::StrCat("apiVersion: service.dubbo.apache.org/v1alpha1\nkind: VirtualService\nmetadata: {name: demo}\nspec:\n"
                      "  hosts: [demo]\n  dubbo:\n", dubbo, kDestinations);
}
// With one detail.
std::string Detail(const std::string& fields) { return Service(absl::StrCat("    - routedetail:\n      - ", fields, "\n")); }

MeshDocument Read(const std::string& text) {
  absl::StatusOr<MeshDocument> document = ParseMeshDocument(text, Compat::kStrict);
  EXPECT_TRUE(document.ok()) << document.status() << "\n" << text;
  return document.ok() ? *std::move(document) : MeshDocument();
}
std::string ErrorOf(const std::string& text) {
  return std::string(ParseMeshDocument(text, Compat::kStrict).status().message());
}
std::vector<std::string> RemarksOf(const std::string& text) {
  std::vector<std::string> texts;
  for (const YamlRemark& remark : Read(text).remarks) texts.push_back(absl::StrCat(remark.mark.ToString(), ": ", remark.text));
  return texts;
}

TEST(MeshDocumentTest, TheUsualForm) {
  const MeshDocument document = Read(Service(R"(    - name: r
      services: [{exact: s.A}, {prefix: s.B}]
      routedetail:
        - name: gray
          match:
            - method:
                name_match: {exact: find}
                argc: 2
                args:
                  - {index: 1, type: int, num_value: {oneof: [{exact: 7}, {range: {start: 1, end: 5}}, {exact: 1, mod: 2}]}}
                  - {index: 0, str_value: {oneof: [{prefix: a}]}}
              sourceLabels: {env: gray, level: 3}
              attachments: {dubboContext: {user: {exact: vip}}}
          route:
            - {destination: {host: demo, subset: v1, fallback: {destination: {host: demo, subset: v2}}}, weight: 30}
            - {destination: {host: demo, subset: v2}, weight: 70}
        - name: base
          route: [{destination: {subset: v1}}]
)"));
  EXPECT_THAT(document.remarks, IsEmpty());
  EXPECT_FALSE(document.empty());
  ASSERT_EQ(document.rule.subsets.size(), 2u);
  EXPECT_THAT(document.rule.subsets[0].labels, ElementsAre(Pair("ver", "1"))) << "a number is its text";
  ASSERT_EQ(document.rule.routes.size(), 1u);
  const MeshRule::Route& route = document.rule.routes[0];
  EXPECT_EQ(document.rule.RouteOf("s.A"), &route);
  EXPECT_EQ(document.rule.RouteOf("s.B.More"), &route);
  EXPECT_EQ(document.rule.RouteOf("s.AA"), nullptr);
  ASSERT_EQ(route.details.size(), 2u);
  const MeshRule::Detail& gray = route.details[0];
  ASSERT_EQ(gray.to.size(), 2u);
  EXPECT_THAT(gray.to[0].subsets, ElementsAre("v1", "v2"));
  EXPECT_EQ(gray.to[0].weight, 30u);
  EXPECT_EQ(gray.to[1].weight, 70u);
  ASSERT_EQ(gray.match.size(), 1u);
  const MeshMatch& match = gray.match[0];
  EXPECT_TRUE(match.possible);
  EXPECT_THAT(match.source_labels, ElementsAre(Pair("env", "gray"), Pair("level", "3")));
  const auto fits = [&](std::string_view method, const std::vector<Argument>& arguments, std::string_view user) {
    const Attachment attachment{"user", user};
    return match.MatchesCall({method, {.arguments = arguments, .attachments = {&attachment, 1}}});
  };
  EXPECT_TRUE(fits("find", {{"ab"}, {"7"}}, "vip"));
  EXPECT_TRUE(fits("find", {{"ab"}, {"4.5"}}, "vip"));
  EXPECT_TRUE(fits("find", {{"ab"}, {"9"}}, "vip")) << "odd";
  EXPECT_FALSE(fits("find", {{"ab"}, {"8"}}, "vip"));
  EXPECT_FALSE(fits("find", {{"ab"}, {"0"}}, "vip"));
  EXPECT_FALSE(fits("find", {{"ab"}, {"x"}}, "vip"));
  EXPECT_FALSE(fits("find", {{"ab"}, {"", true}}, "vip"));
  EXPECT_FALSE(fits("find", {{"ab"}, {"7", false, false}}, "vip")) << "its text was not given";
  EXPECT_FALSE(fits("find", {{"b"}, {"7"}}, "vip"));
  EXPECT_FALSE(fits("find", {{"ab"}, {"7"}, {"more"}}, "vip"));
  EXPECT_FALSE(fits("find", {{"ab"}}, "vip"));
  EXPECT_FALSE(fits("found", {{"ab"}, {"7"}}, "vip"));
  EXPECT_FALSE(fits("find", {{"ab"}, {"7"}}, "vi"));
}

TEST(MeshDocumentTest, RangesAreHalfOpen) {
  const NumberMatch both{.start = 1, .end = 3}, from{.start = 1}, to{.end = 3}, none;
  EXPECT_TRUE(both.Matches(1));
  EXPECT_TRUE(both.Matches(2.99));
  EXPECT_FALSE(both.Matches(3));
  EXPECT_FALSE(both.Matches(0.99));
  EXPECT_TRUE(from.Matches(1e9));
  EXPECT_FALSE(to.Matches(3));
  EXPECT_TRUE(to.Matches(-5));
  EXPECT_FALSE(none.Matches(0));
  EXPECT_FALSE((NumberMatch{.exact = 0, .mod = 0}.Matches(4)));
}

TEST(MeshDocumentTest, FlagsAndOtherArguments) {
  const MeshMatch::Argument flag{.flag = false}, text{.texts = std::vector<StringMatch>(1, *StringMatch::Compile({.empty = "true"}))},
      nothing{};
  EXPECT_TRUE(flag.Matches({"false"}));
  EXPECT_FALSE(flag.Matches({"true"}));
  EXPECT_FALSE(flag.Matches({"0"}));
  EXPECT_TRUE(text.Matches({"", true})) << "null is empty";
  EXPECT_FALSE(text.Matches({"x"}));
  EXPECT_FALSE(nothing.Matches({"x"}));
}

TEST(MeshDocumentTest, OneKindAloneIsNoRule) {
  EXPECT_TRUE(Read(kDestinations).empty());
  EXPECT_THAT(RemarksOf(kDestinations), ElementsAre(HasSubstr("no VirtualService")));
  EXPECT_TRUE(Read("").empty());
  EXPECT_TRUE(Read("---\n---\n").empty());
}

TEST(MeshDocumentTest, OtherDocumentsAreLeftOut) {
  const std::string usual = Detail("route: [{destination: {subset: v1}}]");
  EXPECT_THAT(RemarksOf(usual), IsEmpty());
  EXPECT_THAT(RemarksOf(usual + "---\nkind: Gateway\nmetadata: {name: x}\n"), ElementsAre(HasSubstr("only VirtualService")));
  EXPECT_THAT(RemarksOf(usual + "---\nkind: VirtualService\nspec: {}\n"), ElementsAre(HasSubstr("without metadata")));
  const std::string other = usual + "---\nkind: VirtualService\nmetadata: {name: demo.special}\nspec: {dubbo: [{}]}\n";
  EXPECT_THAT(RemarksOf(other), ElementsAre(HasSubstr("\"special\"")));
  EXPECT_EQ(Read(other).rule.routes.size(), 1u);
}

TEST(MeshDocumentTest, WhatSaysNothingHereIsRemarked) {
  const std::string route = "route: [{destination: {subset: v1}}]";
  EXPECT_THAT(RemarksOf(Detail("{match: [{method: {argp: [{exact: int}]}}], " + route + "}")), ElementsAre(HasSubstr("argp")));
  EXPECT_FALSE(Read(Detail("{match: [{method: {argp: [{exact: int}]}}], " + route + "}")).rule.routes[0].details[0].match[0].possible);
  EXPECT_THAT(RemarksOf(Detail("{match: [{attachments: {tracingContext: {a: {exact: b}}}}], " + route + "}")),
              ElementsAre(HasSubstr("tracingContext")));
  EXPECT_THAT(RemarksOf(Detail("{match: [{headers: {a: {exact: b}}}], " + route + "}")), ElementsAre(HasSubstr("headers")));
  EXPECT_THAT(RemarksOf(Detail("{match: [{nonsense: 1}], " + route + "}")), ElementsAre(HasSubstr("nonsense")));
  EXPECT_THAT(RemarksOf(Detail("{route: [{destination: {subset: v9}}]}")), ElementsAre(HasSubstr("v9 is in no DestinationRule")));
  EXPECT_THAT(RemarksOf(Detail("{route: [{destination: {host: demo}}]}")), ElementsAre(HasSubstr("no subset")));
  EXPECT_THAT(RemarksOf(Detail("{route: [{destination: {subset: v1}, weight: 0}]}")), ElementsAre(HasSubstr("counts as 1")));
  EXPECT_THAT(RemarksOf(Detail("{name: none}")), ElementsAre(HasSubstr("no route")));
  EXPECT_THAT(RemarksOf(Detail(route + "\n      - " + route)), ElementsAre(HasSubstr("never asked")));
  EXPECT_THAT(RemarksOf(Detail("{match: [{method: {args: [{index: 0, num_value: {oneof: [{range: {start: 5, end: 5}}]}}]}}], " + route + "}")),
              ElementsAre(HasSubstr("no number is in the range")));
}

TEST(MeshDocumentTest, ErrorsSayWhere) {
  EXPECT_THAT(ErrorOf("kind: [\n"), HasSubstr("line"));
  EXPECT_THAT(ErrorOf("just a text"), HasSubstr("expected a map"));
  EXPECT_THAT(ErrorOf("kind: VirtualService\nmetadata: {}\n"), AllOf(HasSubstr("line 2, column 11"), HasSubstr("`name`")));
  EXPECT_THAT(ErrorOf("kind: VirtualService\nmetadata: {name: 5}\nspec: {}\n"), HasSubstr("in quotes"));
  EXPECT_THAT(ErrorOf("kind: VirtualService\nmetadata: {name: demo}\n"), HasSubstr("`spec`"));
  EXPECT_THAT(ErrorOf(Detail("{route: [{destination: {subset: v1}, weight: heavy}]}")),
              AllOf(HasSubstr("VirtualService demo.spec.dubbo[0].routedetail[0].route[0], line 8, column "), HasSubstr("expected a number")));
  EXPECT_THAT(ErrorOf(Detail("{route: [{weight: 1}]}")), HasSubstr("expected a `destination`"));
  EXPECT_THAT(ErrorOf(Detail("{route: {destination: {subset: v1}}}")), HasSubstr("route: expected a list"));
  EXPECT_THAT(ErrorOf(Detail("{match: [{sourceLabels: [a]}]}")), HasSubstr("sourceLabels: expected a map"));
  EXPECT_THAT(ErrorOf(Detail("{match: [{sourceLabels: {a: }}]}")), HasSubstr("sourceLabels.a: expected a text"));
  EXPECT_THAT(ErrorOf(Detail("{match: [{method: {args: [{index: -1}]}}]}")), HasSubstr("expected 0 or more"));
  EXPECT_THAT(ErrorOf(Detail("{match: [{method: {args: [{index: 0, num_value: {oneof: [{exact: x}]}}]}}]}")),
              HasSubstr("oneof[0], line 8, column "));
  EXPECT_THAT(ErrorOf(Detail("{match: [{method: {name_match: {regex: \"(\"}}}]}")), HasSubstr("name_match"));
  std::string many = "route: [";
  for (std::size_t i = 0; i <= MeshRule::kMostDestinations; ++i) many += "{destination: {subset: v1}}, ";
  EXPECT_THAT(ErrorOf(Detail(many + "]")), HasSubstr("at most 64 destinations"));
}

TEST(MeshDocumentTest, TheRegexesOfAllItsDocumentsHaveOneBudget) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "    - services: [{regex: '[\\x{80}-\\x{10ffff}]{600}'}]\n";
  EXPECT_THAT(ErrorOf(Service(text) + "---\n" + Service(text)), HasSubstr("and those before it need more than"));
}

}  // namespace
}  // namespace fairlead
