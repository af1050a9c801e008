// Documents of the config center, from their text to the pick.
#include <gmock/gmock.h>

#include "fairlead/tests/directory/directory_fixture.h"
#include "fairlead/tests/support/fake_rule_source.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880", kC[] = "10.0.0.3:20880";
constexpr char kServiceConditions[] = "com.acme.Orders::.condition-router";
constexpr char kServiceConfigurators[] = "com.acme.Orders::.configurators";
constexpr char kOnlyA[] = "force: true\nconditions: ['=> host=10.0.0.1']\n";
constexpr char kOnlyB[] = "force: true\nconditions: ['=> host=10.0.0.2']\n";

class RuleDocumentsTest : public DirectoryFixture {
 protected:
  void SetUp() override {
    source_ = std::make_shared<FakeRuleSource>(executor_);
    documents_ = source_;
    DirectoryFixture::SetUp();
  }
  void Document(const std::string& name, std::optional<std::string> text) {
    source_->Set(name, std::move(text));
    executor_.RunReady();
  }
  bool ready() { return handle_->Select({}).status().code() != absl::StatusCode::kFailedPrecondition; }
  std::vector<std::string> Skipped() { return handle_->Explain({}).skipped; }
  static std::string Weight(const std::string& scope, const std::string& key, int weight) {
    return "configVersion: v2.7\nscope: " + scope + "\nkey: " + key +
           "\nenabled: true\nconfigs:\n- side: consumer\n  parameters: {weight: " + std::to_string(weight) + "}\n";
  }
  std::string WeightOfA() { return std::string(handle_->List({}).at(0).Param("weight")); }

  std::shared_ptr<FakeRuleSource> source_;
};

TEST_F(RuleDocumentsTest, ServiceConditionsAreObeyedByTheFirstPick) {
  source_->Set(kServiceConditions, kOnlyB);
  Open({"10.0.0.1", "10.0.0.2"});
  EXPECT_THAT(ListAddresses(), ElementsAre(kB));
}

TEST_F(RuleDocumentsTest, ADocumentChangesAndGoes) {
  Open({"10.0.0.1", "10.0.0.2"});
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  Document(kServiceConditions, kOnlyB);
  EXPECT_THAT(ListAddresses(), ElementsAre(kB));
  Document(kServiceConditions, kOnlyA);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
  Document(kServiceConditions, std::nullopt);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
}

TEST_F(RuleDocumentsTest, ABrokenDocumentKeepsItsLastGoodVersionAndSaysWhere) {
  Document(kServiceConditions, kOnlyB);
  Open({"10.0.0.1", "10.0.0.2"});
  EXPECT_THAT(Skipped(), IsEmpty());
  Document(kServiceConditions, "force: true\nconditions: [\n");
  EXPECT_THAT(ListAddresses(), ElementsAre(kB));
  EXPECT_EQ(lines_.count("FL-3-16"), 1u);
  EXPECT_THAT(Skipped(), ElementsAre(AllOf(HasSubstr(kServiceConditions), HasSubstr("line "), HasSubstr("column "),
                                           HasSubstr("last good version"))));
  Document(kServiceConditions, "force: true\nconditions: []\n");
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB)) << "no conditions are no rule";
}

TEST_F(RuleDocumentsTest, WhatWasCutShortKeepsTheLastGoodVersion) {
  Document(kServiceConditions, kOnlyB);
  Document("orders.tag-router", "tags:\n- name: gray\n  addresses: ['10.0.0.1:20880']\n");
  Open({"10.0.0.1", "10.0.0.2"});
  const Attachment gray[] = {{"dubbo.tag", "gray"}};
  for (const char* cut : {"key: 's.A\nconditions: ['=> host=10.0.0.1']\n", "force: true\nconditi\n", "conditions: '=> host=10.0.0.1'\n",
                          "conditions: {from: a}\n"}) {
    Document(kServiceConditions, cut);
    EXPECT_THAT(ListAddresses(), ElementsAre(kB)) << cut;
    EXPECT_THAT(Skipped(), ElementsAre(AllOf(HasSubstr("line "), HasSubstr("expected"), HasSubstr("last good version")))) << cut;
  }
  Document(kServiceConditions, std::nullopt);
  for (const char* cut : {"key: \"app\ntags: []\n", "key: app\ntags\n", "tags: {name: gray}\n"}) {
    Document("orders.tag-router", cut);
    EXPECT_THAT(ListAddresses({.attachments = gray}), ElementsAre(kA)) << cut;
    EXPECT_THAT(Skipped(), ElementsAre(AllOf(HasSubstr("line "), HasSubstr("expected"), HasSubstr("last good version")))) << cut;
  }
  Document("orders.tag-router", "tags: []\n");
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB)) << "no tags are no rule";
}

TEST_F(RuleDocumentsTest, ATextWithoutAByteIsNoDocument) {
  Document(kServiceConditions, kOnlyB);
  Open({"10.0.0.1", "10.0.0.2"});
  Document(kServiceConditions, "");
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  EXPECT_THAT(Skipped(), IsEmpty());
}

TEST_F(RuleDocumentsTest, TheSameTextAgainIsNoNews) {
  Document(kServiceConditions, kOnlyB);
  Open({"10.0.0.1", "10.0.0.2"});
  const std::uint64_t snapshot = handle_->Explain({}).snapshot;
  Document(kServiceConditions, kOnlyB);
  Document("shop.condition-router", std::nullopt);
  EXPECT_EQ(handle_->Explain({}).snapshot, snapshot);
}

TEST_F(RuleDocumentsTest, ABrokenDocumentThatIsDeletedLeavesNothing) {
  Document(kServiceConditions, kOnlyB);
  Open({"10.0.0.1", "10.0.0.2"});
  Document(kServiceConditions, "conditions: [");
  Document(kServiceConditions, std::nullopt);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  EXPECT_THAT(Skipped(), IsEmpty());
}

TEST_F(RuleDocumentsTest, ADocumentThatWasNeverGoodSaysNothing) {
  Document(kServiceConditions, "conditions: [");
  Open({"10.0.0.1"});
  EXPECT_EQ(PickAddress(), kA);
  EXPECT_THAT(Skipped(), ElementsAre(HasSubstr("it says nothing")));
}

TEST_F(RuleDocumentsTest, WhatCannotBeHadNowStays) {
  Document(kServiceConditions, kOnlyB);
  Open({"10.0.0.1", "10.0.0.2"});
  source_->Fail(kServiceConditions, absl::UnavailableError("link down"));
  executor_.RunReady();
  EXPECT_THAT(ListAddresses(), ElementsAre(kB));
  EXPECT_THAT(Skipped(), ElementsAre(HasSubstr("link down")));
}

TEST_F(RuleDocumentsTest, ServiceThenProviderApplicationThenConsumerApplicationThenUrls) {
  Document("shop.condition-router", "conditions: ['=> host!=10.0.0.1']");
  Document(kServiceConditions, "conditions: ['=> host!=10.0.0.2']");
  Document("orders.condition-router", "conditions: ['=> host!=10.0.0.3']");
  Open({"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"});
  Rules({RuleUrl("=> host=10.0.0.*")});
  executor_.RunReady();
  EXPECT_THAT(ListAddresses(), ElementsAre("10.0.0.4:20880"));
  std::vector<std::string> order;
  for (const auto& step : handle_->Explain({}).routers) order.push_back(step.router);
  EXPECT_THAT(order, ElementsAre(kServiceConditions, "orders.condition-router", "shop.condition-router", "condition"));
}

TEST_F(RuleDocumentsTest, ConfiguratorsOfTheServiceOverrideThoseOfTheApplicationAndBothTheRegistrys) {
  Open({"10.0.0.1?weight=100"});
  const int referred = protocol_->referred;
  Overrides({"override://0.0.0.0/com.acme.Orders?category=configurators&dynamic=false&weight=10"});
  executor_.RunReady();
  EXPECT_EQ(WeightOfA(), "10");
  Document("shop.configurators", Weight("application", "shop", 20));
  EXPECT_EQ(WeightOfA(), "20");
  Document(kServiceConfigurators, Weight("service", "com.acme.Orders", 30));
  EXPECT_EQ(WeightOfA(), "30");
  Document(kServiceConfigurators, "enabled: [");
  EXPECT_EQ(WeightOfA(), "30") << "the last good version";
  Document(kServiceConfigurators, std::nullopt);
  EXPECT_EQ(WeightOfA(), "20");
  Document("shop.configurators", std::nullopt);
  EXPECT_EQ(WeightOfA(), "10");
  Overrides({});
  executor_.RunReady();
  EXPECT_EQ(WeightOfA(), "100");
  EXPECT_EQ(protocol_->referred, referred) << "connections survive a change of weight";
}

TEST_F(RuleDocumentsTest, TagsOfADocument) {
  Open({"10.0.0.1", "10.0.0.2"});
  Document("orders.tag-router", "force: true\ntags:\n- name: gray\n  addresses: ['10.0.0.2:20880']\n");
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
  const Attachment gray[] = {{"dubbo.tag", "gray"}};
  EXPECT_THAT(ListAddresses({.attachments = gray}), ElementsAre(kB));
  Document("orders.tag-router", std::nullopt);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
}

TEST_F(RuleDocumentsTest, TagsOfProvidersNeedNoDocument) {
  Open({"10.0.0.1", "10.0.0.2?dubbo.tag=gray"});
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
  Providers({"10.0.0.1", "10.0.0.2"});
  executor_.RunReady();
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  EXPECT_THAT(handle_->Explain({}).routers, IsEmpty()) << "nobody has a tag: calls are not asked for one";
}

// Who wants a tag or nobody must not reach those without one when the last that had it is gone.
TEST_F(RuleDocumentsTest, AForcedTagReachesNobodyWhereThereAreNoTags) {
  Open({"10.0.0.1", "10.0.0.2"});
  const Attachment forced[] = {{"dubbo.tag", "gray"}, {"dubbo.force.tag", "true"}};
  const Attachment unforced[] = {{"dubbo.tag", "gray"}, {"dubbo.force.tag", "false"}};
  const Attachment no_tag[] = {{"dubbo.tag", ""}, {"dubbo.force.tag", "true"}};
  EXPECT_THAT(ListAddresses({.attachments = forced}), IsEmpty());
  EXPECT_THAT(PickAddress({.attachments = forced}), HasSubstr("none left by tag"));
  EXPECT_THAT(handle_->Explain({.attachments = forced}).status.message(), HasSubstr("dubbo.force.tag"));
  EXPECT_EQ(handle_->WithSelected({.attachments = forced}, [](const Invoker&) noexcept {}).code(),
            absl::StatusCode::kUnavailable);
  for (const auto& attachments : {unforced, no_tag}) {
    EXPECT_THAT(ListAddresses({.attachments = {attachments, 2}}), ElementsAre(kA, kB));
    EXPECT_THAT(PickAddress({.attachments = {attachments, 2}}), HasSubstr(":20880"));
  }
  Providers({"10.0.0.1", "10.0.0.2?dubbo.tag=gray"});
  executor_.RunReady();
  EXPECT_EQ(PickAddress({.attachments = forced}), kB);
  Providers({"10.0.0.1"});
  executor_.RunReady();
  EXPECT_THAT(ListAddresses({.attachments = forced}), IsEmpty());
}

constexpr char kMesh[] =
    "kind: VirtualService\nmetadata: {name: demo}\nspec:\n  dubbo:\n  - routedetail:\n"
    "    - {match: [{attachments: {dubboContext: {user: {exact: vip}}}}], route: [{destination: {subset: v2}}]}\n"
    "    - {route: [{destination: {subset: v1}}]}\n"
    "---\nkind: DestinationRule\nmetadata: {name: demo}\nspec:\n  subsets:\n"
    "  - {name: v1, labels: {ver: '1'}}\n  - {name: v2, labels: {ver: '2'}}\n";

TEST_F(RuleDocumentsTest, MeshRulesOfProviderApplications) {
  Document("orders.MESHAPPRULE", kMesh);
  Open({"10.0.0.1?ver=1", "10.0.0.2?ver=2", "10.0.0.3?ver=1&application=other"});
  EXPECT_THAT(ListAddresses(), ElementsAre(kA)) << "an application without a rule is dropped where another has one";
  const Attachment vip[] = {{"user", "vip"}};
  EXPECT_THAT(ListAddresses({.attachments = vip}), ElementsAre(kB));
  Document("other.MESHAPPRULE", kMesh);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kC));
  EXPECT_EQ(handle_->Explain({}).routers.at(0).router, "mesh");
  Document("orders.MESHAPPRULE", "kind: VirtualService\nmetadata: {}\n");
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kC)) << "the last good version";
  EXPECT_THAT(Skipped(), ElementsAre(AllOf(HasSubstr("orders.MESHAPPRULE"), HasSubstr("line 2, column 11"), HasSubstr("last good"))));
  EXPECT_EQ(lines_.count("FL-3-16"), 1u);
  Document("orders.MESHAPPRULE", std::nullopt);
  Document("other.MESHAPPRULE", std::nullopt);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB, kC));
  EXPECT_THAT(handle_->Explain({}).routers, IsEmpty());
}

TEST_F(RuleDocumentsTest, ScriptRulesPassAreCountedAndSaid) {
  Document("orders.script-router", "force: true\nscript: 'invokers.clear()'\n");
  Open({"10.0.0.1", "10.0.0.2"});
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  EXPECT_EQ(handle_->Stats().scripts, 1u);
  EXPECT_THAT(Skipped(), ElementsAre(AllOf(HasSubstr("orders.script-router"), HasSubstr("line 2, column 9"), HasSubstr("not run"))));
  EXPECT_EQ(lines_.count("FL-3-17"), 1u);
  Document("orders.script-router", "enabled: false\nscript: x\n");
  EXPECT_EQ(handle_->Stats().scripts, 0u);
  EXPECT_THAT(Skipped(), IsEmpty());
}

TEST_F(RuleDocumentsTest, AVersionThatIsNotKnownKeepsWhatWasThere) {
  Document(kServiceConditions, kOnlyB);
  Open({"10.0.0.1", "10.0.0.2"});
  Document(kServiceConditions, "configVersion: v9.9\nconditions: ['=> host=10.0.0.1']\n");
  EXPECT_THAT(ListAddresses(), ElementsAre(kB));
  EXPECT_THAT(Skipped(), ElementsAre(AllOf(HasSubstr("v9.9"), HasSubstr("last good version"))));
}

TEST_F(RuleDocumentsTest, AffinityOfTheService) {
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop&region=hz");
  Document("com.acme.Orders::.affinity-router", "affinityAware: {key: region, ratio: 20}\n");
  Open({"10.0.0.1?region=hz", "10.0.0.2?region=sh"});
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
}

TEST_F(RuleDocumentsTest, RulesOfOneApplicationLeaveTheProvidersOfOthersAlone) {
  Document("orders.condition-router", kOnlyA);
  Open({"10.0.0.1", "10.0.0.2", "10.0.0.3?application=other"});
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kC));
  Document("orders.condition-router", "force: true\nconditions: ['=> host=1.1.1.1']");
  EXPECT_THAT(ListAddresses(), ElementsAre(kC)) << "all of theirs are gone, none of the others";
  Document("other.condition-router", "force: true\nconditions: ['=> host=1.1.1.1']");
  EXPECT_THAT(ListAddresses(), IsEmpty());
}

TEST_F(RuleDocumentsTest, TheFirstListWaitsForTheDocuments) {
  source_->silent = {"com.acme.Orders::.affinity-router"};
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
  Open({"10.0.0.1"});
  EXPECT_FALSE(ready());
  source_->Answer("com.acme.Orders::.affinity-router");
  executor_.RunReady();
  EXPECT_TRUE(ready());
}

TEST_F(RuleDocumentsTest, TheFirstListWaitsForThoseOfEachProviderApplication) {
  source_->silent = {"other.tag-router"};
  Open({"10.0.0.1", "10.0.0.2?application=other"});
  EXPECT_FALSE(ready());
  executor_.Advance(milliseconds(2000));
  source_->Answer("other.tag-router");
  executor_.RunReady();
  EXPECT_TRUE(ready());
  EXPECT_EQ(lines_.count("FL-3-7"), 0u);
}

TEST_F(RuleDocumentsTest, ASourceThatNeverAnswersIsWaitedForRulesWaitOnly) {
  source_->silent = {kServiceConditions, "orders.tag-router"};
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
  Open({"10.0.0.1"});
  executor_.Advance(milliseconds(2999));
  EXPECT_FALSE(ready());
  executor_.Advance(milliseconds(2));
  EXPECT_EQ(PickAddress(), kA);
  EXPECT_EQ(lines_.count("FL-3-7"), 1u);
  EXPECT_THAT(Skipped(), Contains(AllOf(HasSubstr(kServiceConditions), HasSubstr("not answered yet"))));
}

TEST_F(RuleDocumentsTest, ARefusalIsAnAnswer) {
  source_->silent = {kServiceConditions};
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
  Open({"10.0.0.1"});
  source_->Fail(kServiceConditions, absl::UnavailableError("not now"));
  executor_.RunReady();
  EXPECT_FALSE(ready());
  source_->Fail(kServiceConditions, absl::PermissionDeniedError("not for you"));
  executor_.RunReady();
  EXPECT_TRUE(ready());
}

TEST_F(RuleDocumentsTest, ProvidersOfANewApplicationWaitForItsDocumentsAndNobodyElse) {
  Open({"10.0.0.1"});
  source_->silent = {"new.condition-router"};
  Providers({"10.0.0.2?application=new", "10.0.0.3"});
  executor_.RunReady();
  EXPECT_THAT(ListAddresses(), ElementsAre(kC)) << "known applications follow at once";
  source_->Answer("new.condition-router");
  executor_.RunReady();
  EXPECT_THAT(ListAddresses(), ElementsAre(kB, kC));
}

TEST_F(RuleDocumentsTest, WhileOnlyWaitingOnesAreListedTheListBeforeStays) {
  Open({"10.0.0.1"});
  source_->silent = {"new.condition-router"};
  Providers({"10.0.0.2?application=new"});
  executor_.Advance(milliseconds(2900));
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
  executor_.Advance(milliseconds(200));
  EXPECT_THAT(ListAddresses(), ElementsAre(kB)) << "rules.wait is over";
  EXPECT_EQ(lines_.count("FL-3-7"), 1u);
}

TEST_F(RuleDocumentsTest, DocumentsOfApplicationsThatWentAreNotFollowed) {
  Document("other.condition-router", "force: true\nconditions: ['=> host=1.1.1.1']");
  Open({"10.0.0.1", "10.0.0.2?application=other"});
  EXPECT_TRUE(source_->followed().contains("other.tag-router"));
  Providers({"10.0.0.1"});
  executor_.RunReady();
  EXPECT_FALSE(source_->followed().contains("other.tag-router"));
  EXPECT_FALSE(source_->followed().contains("other.condition-router"));
  EXPECT_TRUE(source_->followed().contains("orders.tag-router"));
  directory_->Close(seconds(0), nullptr);
  EXPECT_THAT(source_->followed(), IsEmpty());
}

TEST_F(RuleDocumentsTest, AnEmptyListIsNotHeldBack) {
  Start(kUnprotected);
  Open({"10.0.0.1"});
  source_->silent = {"new.condition-router"};
  Providers({"10.0.0.2?application=new"});
  Providers({});
  source_->Answer("new.condition-router");
  executor_.Advance(seconds(5));
  EXPECT_THAT(ListAddresses(), IsEmpty());
}

TEST_F(RuleDocumentsTest, WhatHasNoEffectIsSaid) {
  Document(kServiceConditions, "force: true\nforced: true\nconditions: ['=> host=10.0.0.1']\n");
  Open({"10.0.0.1"});
  EXPECT_THAT(Skipped(), ElementsAre(AllOf(HasSubstr("line 2"), HasSubstr("forced"))));
  EXPECT_EQ(lines_.count("FL-3-16"), 0u);
}

TEST_F(RuleDocumentsTest, AnUnusableSettingIsLeftOutAlone) {
  Document(kServiceConfigurators,
           "configVersion: v2.7\nscope: service\nkey: com.acme.Orders\nconfigs:\n- side: consumer\n  parameters: {weight: heavy, timeout: 5}\n");
  Open({"10.0.0.1?weight=7"});
  EXPECT_EQ(WeightOfA(), "7");
  EXPECT_EQ(handle_->List({}).at(0).Param("timeout"), "5");
  EXPECT_THAT(Skipped(), Contains(AllOf(HasSubstr(kServiceConfigurators), HasSubstr("heavy"))));
}

}  // namespace
}  // namespace fairlead
