// Documents that vanish together with all providers: a registry that lost its data.
#include <gmock/gmock.h>

#include "fairlead/tests/directory/directory_fixture.h"
#include "fairlead/tests/support/fake_rule_source.h"

namespace fairlead {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880";
constexpr char kConditions[] = "com.acme.Orders::.condition-router", kTags[] = "orders.tag-router";
constexpr char kOnlyB[] = "force: true\nconditions: ['=> host=10.0.0.2']\n";

class ProtectedDocumentsTest : public DirectoryFixture {
 protected:
  void SetUp() override {
    source_ = std::make_shared<FakeRuleSource>(executor_);
    documents_ = source_;
    DirectoryFixture::SetUp();
    Document(kConditions, kOnlyB);
    Open({"10.0.0.1", "10.0.0.2"});
    ASSERT_THAT(ListAddresses(), ElementsAre(kB));
  }
  void Document(const std::string& name, std::optional<std::string> text) {
    source_->Set(name, std::move(text));
    executor_.RunReady();
  }
  void LoseProviders() {
    Providers({});
    executor_.RunReady();
  }

  std::shared_ptr<FakeRuleSource> source_;
};

TEST_F(ProtectedDocumentsTest, GoneWithTheProvidersTheyStay) {
  for (const bool documents_first : {true, false}) {
    if (!documents_first) LoseProviders();
    executor_.Advance(seconds(4));
    Document(kConditions, std::nullopt);
    executor_.Advance(seconds(4));
    if (documents_first) LoseProviders();
    EXPECT_THAT(ListAddresses(), ElementsAre(kB)) << documents_first;
    EXPECT_THAT(handle_->Explain({}).skipped, Contains(AllOf(HasSubstr(kConditions), HasSubstr("stays in force"))));
    Document(kConditions, std::nullopt);
    executor_.Advance(minutes(5));
    EXPECT_THAT(ListAddresses(), ElementsAre(kB)) << "said again, it is the same loss";
    // The registry is itself again.
    Providers({"10.0.0.1", "10.0.0.2"});
    executor_.RunReady();
    EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB)) << "there is no such document";
    EXPECT_THAT(handle_->Explain({}).skipped, IsEmpty());
    Document(kConditions, kOnlyB);
    executor_.Advance(minutes(1));
  }
}

TEST_F(ProtectedDocumentsTest, BothInOneUpdate) {
  source_->Set(kTags, "tags: [{name: gray, addresses: ['10.0.0.2:20880']}]");
  executor_.RunReady();
  ASSERT_THAT(ListAddresses(), IsEmpty());
  source_->Set(kTags, std::nullopt);
  Providers({});
  executor_.RunReady();
  EXPECT_THAT(ListAddresses(), IsEmpty()) << "the only one of the rule is gray, and the call is not";
}

TEST_F(ProtectedDocumentsTest, ALongTimeApartTheyAreTwoThings) {
  Document(kConditions, std::nullopt);
  executor_.Advance(seconds(11));
  LoseProviders();
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  Document(kConditions, kOnlyB);
  EXPECT_THAT(ListAddresses(), ElementsAre(kB));
  Document(kConditions, std::nullopt);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB)) << "there was a word in between";
}

TEST_F(ProtectedDocumentsTest, GoneLateIsGone) {
  LoseProviders();
  executor_.Advance(seconds(11));
  Document(kConditions, std::nullopt);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
}

TEST_F(ProtectedDocumentsTest, ANewTextReplacesWhatIsHeld) {
  LoseProviders();
  Document(kConditions, std::nullopt);
  Document(kConditions, "force: true\nconditions: ['=> host=10.0.0.1']\n");
  EXPECT_THAT(ListAddresses(), ElementsAre(kA));
  Document(kConditions, "conditions: [");
  EXPECT_THAT(ListAddresses(), ElementsAre(kA)) << "the last good version";
}

TEST_F(ProtectedDocumentsTest, ABrokenOneIsHeldWithItsLastGoodVersion) {
  Document(kConditions, "conditions: [");
  Document(kConditions, std::nullopt);
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
  LoseProviders();
  EXPECT_THAT(ListAddresses(), ElementsAre(kB));
}

TEST_F(ProtectedDocumentsTest, TheEndOfTheProtectionEndsThem) {
  LoseProviders();
  Document(kConditions, std::nullopt);
  handle_->ClearProtection();
  executor_.RunReady();
  EXPECT_THAT(handle_->Explain({}).skipped, Not(Contains(HasSubstr("stays in force"))));
  Providers({"10.0.0.1", "10.0.0.2"});
  executor_.RunReady();
  EXPECT_THAT(ListAddresses(), ElementsAre(kA, kB));
}

}  // namespace
}  // namespace fairlead
