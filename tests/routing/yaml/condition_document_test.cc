#include "fairlead/routing/yaml/condition_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "fairlead/tests/routing/routing_fixture.h"

namespace fairlead {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ConditionDocument Parsed(std::string_view yaml) {
  absl::StatusOr<ConditionDocument> document = ParseConditionDocument(yaml, Compat::kStrict);
  EXPECT_TRUE(document.ok()) << document.status() << "\n" << yaml;
  return document.ok() ? *std::move(document) : ConditionDocument();
}
std::string Error(std::string_view yaml) {
  const auto document = ParseConditionDocument(yaml, Compat::kStrict);
  return document.ok() ? "no error" : std::string(document.status().message());
}
std::vector<std::string> Remarks(const ConditionDocument& document) {
  std::vector<std::string> texts;
  for (const YamlRemark& remark : document.remarks) texts.push_back(remark.mark.ToString() + ": " + remark.text);
  return texts;
}

TEST(ConditionDocumentTest, WhatIsAbsentHasDubbosDefaults) {
  const ConditionDocument document = Parsed("conditions: ['method=get => host=10.0.0.1']");
  EXPECT_FALSE(document.head.force);
  EXPECT_TRUE(document.head.enabled);
  EXPECT_TRUE(document.head.runtime);
  EXPECT_EQ(document.head.version, std::nullopt);
  EXPECT_THAT(document.texts, ElementsAre("method=get => host=10.0.0.1"));
  EXPECT_THAT(MakeRouters(document, 140, "condition"), SizeIs(1));
  EXPECT_EQ(MakeRouters(document, 140, "condition")[0]->order(), 140);
}

TEST(ConditionDocumentTest, TheVersionSaysTheForm) {
  using Form = ConditionDocument::Form;
  for (const auto& [version, form] : std::map<std::string, Form>{{"v2.7", Form::kTexts},
                                                                 {"v3.0", Form::kTexts},
                                                                 {"v10", Form::kTexts},
                                                                 {"", Form::kTexts},
                                                                 {"v3.1", Form::kDestinations},
                                                                 {"V3.1.9", Form::kDestinations},
                                                                 {"v3.2", Form::kTooNew},
                                                                 {"w", Form::kTooNew}}) {
    EXPECT_EQ(Parsed("configVersion: '" + version + "'").form, form) << version;
  }
  const ConditionDocument newer = Parsed("configVersion: v4\nconditions: [not a rule]");
  EXPECT_TRUE(newer.empty());
  EXPECT_THAT(Remarks(newer), ElementsAre(HasSubstr("v4 is newer")));
}

TEST(ConditionDocumentTest, ErrorsNameTheirPlaceAndWhatWasExpected) {
  EXPECT_THAT(Error("- a"), HasSubstr("expected a map, found a list"));
  EXPECT_THAT(Error("null"), HasSubstr("expected a map"));
  EXPECT_THAT(Error("a: 1\nconfigVersion: 3.1"), AllOf(HasSubstr("line 2"), HasSubstr("expected a text, found the number 3.1")));
  EXPECT_THAT(Error("priority: high"), HasSubstr("expected a number, found the text \"high\""));
  EXPECT_THAT(Error("conditions:\n  - 'a=b => c=d'\n  - 'a==b => c'"),
              AllOf(HasSubstr("conditions[1]"), HasSubstr("line 3"), HasSubstr("at byte")));
  EXPECT_THAT(Error("configVersion: v3.1\nconditions:\n  - a=b => c=d"), AllOf(HasSubstr("line 3"), HasSubstr("expected a map")));
  EXPECT_THAT(Error("configVersion: v3.1\nconditions:\n  - to: [{match: 'a=1', weight: x}]"),
              AllOf(HasSubstr("conditions[0].to[0]"), HasSubstr("weight: expected a number")));
  EXPECT_THAT(Error("configVersion: v3.1\nconditions:\n  - to: {match: a}"), HasSubstr("to: expected a list, found a map"));
}

TEST(ConditionDocumentTest, ConditionsThatAreNoListAreSaidSo) {
  for (const char* version : {"v3.0", "v3.1"}) {
    for (const char* conditions : {"'=> host=1.1.1.1'", "{from: {match: a}}", "{}", "5"}) {
      const ConditionDocument document = Parsed(std::string("configVersion: ") + version + "\nconditions: " + conditions + "\n");
      EXPECT_THAT(MakeRouters(document, 0, "condition"), IsEmpty()) << "as Dubbo has it";
      EXPECT_THAT(document.unusable.message(), HasSubstr("line 2, column 13: conditions: expected a list, found")) << conditions;
      EXPECT_THAT(Remarks(document), ElementsAre(HasSubstr("expected a list")));
    }
  }
  for (const char* none : {"conditions: []", "conditions:", "force: true"}) EXPECT_TRUE(Parsed(none).unusable.ok()) << none;
}

TEST(ConditionDocumentTest, OfAVersionThatIsTooNewNothingElseIsRead) {
  EXPECT_EQ(Parsed("configVersion: v3.2\nkey: 123\npriority: x\n").form, ConditionDocument::Form::kTooNew);
}

TEST(ConditionDocumentTest, WhatHasNoEffectIsRemarked) {
  EXPECT_THAT(Remarks(Parsed("forc: true\nconditions: ['=> host=a']")),
              ElementsAre(AllOf(HasSubstr("line 1"), HasSubstr("forc of the document is unknown"))));
  EXPECT_THAT(Remarks(Parsed("force: true\nforce: false\nconditions: ['=> host=a']")), ElementsAre(HasSubstr("again")));
  EXPECT_THAT(Remarks(Parsed("conditions: []")), ElementsAre(HasSubstr("no conditions")));
  EXPECT_THAT(Remarks(Parsed("configVersion: v3.1\nconditions:\n  - from: {match: a=1}\n    ratio: 20\n  - to: [{weight: -1}]")),
              ElementsAre(HasSubstr("conditions[0] has no destination"), HasSubstr("ratio of conditions[0]"),
                          HasSubstr("a weight of -1 counts as 100")));
}

TEST(ConditionDocumentTest, InvalidAndEmptyDocumentsHaveNoRouters) {
  EXPECT_THAT(MakeRouters(Parsed("valid: false\nconditions: ['=> host=a']"), 0, "condition"), IsEmpty());
  EXPECT_THAT(MakeRouters(Parsed("key: a"), 0, "condition"), IsEmpty());
  EXPECT_THAT(MakeRouters(Parsed("enabled: false\nconditions: ['a rule == that => is none']"), 0, "condition"), SizeIs(1))
      << "the text of a disabled rule is not looked at";
}

// What a v3.1 document leaves of three providers, with the weights of the draw.
class DestinationsTest : public RoutingFixture {
 protected:
  using Sets = std::vector<std::pair<std::uint32_t, std::vector<Slot>>>;

  DestinationsTest() {
    Provide({"dubbo://10.0.0.1/s.A?env=gray", "dubbo://10.0.0.2/s.A?env=gray&zone=hz", "dubbo://10.0.0.3/s.A"});
  }
  Sets Ends(const std::string& condition, bool force = false) {
    const ConditionDocument document = Parsed("configVersion: v3.1\nforce: " + std::string(force ? "true" : "false") +
                                              "\nconditions: [" + condition + "]");
    const auto table = Compile(*MakeRouters(document, 0, "condition").at(0));
    const Invocation invocation;
    Outcomes outcomes(all_);
    table->Route(table->Classify({"get", invocation}), all_, outcomes);
    Sets sets;
    for (const auto& split : outcomes.splits()) {
      sets.emplace_back(split.weight, std::vector<Slot>());
      split.set.ForEach([&](Slot slot) { sets.back().second.push_back(slot); });
    }
    why_ = outcomes.why();
    return sets;
  }
};

TEST_F(DestinationsTest, ThoseThatSelectNobodyAreLeftOutOfTheDraw) {
  EXPECT_EQ(Ends("{to: [{match: env=gray, weight: 80}, {match: env!=gray, weight: 20}, {match: env=none, weight: 5}]}"),
            (Sets{{80, {0, 1}}}))
      << "a mismatch needs the key";
  EXPECT_EQ(Ends("{to: [{match: zone=$region, weight: 1}, {match: '', weight: 3}]}"), (Sets{{2, {1}}, {2, {0, 1, 2}}}))
      << "as Dubbo draws: one more for the first, one less for the last";
  EXPECT_EQ(Ends("{to: [{match: zone=hz, weight: 1}, {match: '', weight: 1}, {match: env=none}]}"), (Sets{{2, {1}}}))
      << "the last that has anybody";
}

TEST_F(DestinationsTest, NobodyInAnyDestination) {
  EXPECT_EQ(Ends("{to: [{match: env=none}]}"), (Sets{{1, {0, 1, 2}}}));
  EXPECT_THAT(why_, HasSubstr("all stay"));
  EXPECT_EQ(Ends("{to: [{match: env=none}]}", true), Sets());
  EXPECT_THAT(why_, HasSubstr("none of 3 providers"));
  EXPECT_EQ(Ends("{to: []}"), Sets()) << "whatever force says";
  EXPECT_EQ(Ends("{from: {match: method=other}, to: []}"), (Sets{{1, {0, 1, 2}}}));
}

}  // namespace
}  // namespace fairlead
