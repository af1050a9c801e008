// Script rules as urls: known, counted, said, and otherwise as if they were not there.
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "fairlead/tests/directory/directory_fixture.h"

namespace fairlead {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr char kA[] = "10.0.0.1:20880", kB[] = "10.0.0.2:20880";

class ScriptRulesTest : public DirectoryFixture {};

TEST_F(ScriptRulesTest, AreKnownInEachFormAndCounted) {
  const char* const forms[] = {"script://0.0.0.0/com.acme.Orders?category=routers&type=javascript&rule=x",
                               "route://0.0.0.0/com.acme.Orders?category=routers&router=script&rule=x",
                               "file:///etc/route.js?category=routers&router=script&interface=com.acme.Orders",
                               "file:///etc/route.js?category=routers&interface=com.acme.Orders"};
  Open({"10.0.0.1", "10.0.0.2"});
  for (const char* form : forms) {
    SCOPED_TRACE(form);
    lines_.clear();
    Rules({Parse(form)});
    executor_.RunReady();
    EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kA), Key(kB)));
    EXPECT_EQ(handle_->Stats().scripts, 1u);
    EXPECT_THAT(Skipped(), ElementsAre(HasSubstr("script rule: ")));
    EXPECT_THAT(Skipped(), Each(HasSubstr("scripts are not run here, so every provider passes")));
    EXPECT_EQ(lines_.count("FL-3-5"), 0u);
    EXPECT_EQ(lines_.count("FL-3-17"), 1u);
    EXPECT_THAT(directory_->BrokenRules(), IsEmpty());

  }
  std::vector<Url> all;
  for (const char* form : forms) all.push_back(Parse(form));
  all.push_back(RuleUrl("=> host=10.0.0.2"));
  all.push_back(Parse("script://0.0.0.0/com.acme.Orders?category=routers&rule=x&enabled=false"));
  Rules(all);
  executor_.RunReady();
  EXPECT_EQ(handle_->Stats().scripts, 4u) << "the one that is off is none";
  EXPECT_THAT(Skipped(), SizeIs(4));
  EXPECT_THAT(Shares(50), UnorderedElementsAre(Key(kB))) << "other rules apply";
  Rules({});
  executor_.RunReady();
  EXPECT_EQ(handle_->Stats().scripts, 0u);
  EXPECT_THAT(Skipped(), IsEmpty());
}

// It is a usable version of what had its name.
TEST_F(ScriptRulesTest, TakeThePlaceOfWhatTheyReplace) {
  Open({"10.0.0.1", "10.0.0.2"});
  Rules({RuleUrl("=> host=10.0.0.2", "force=true&name=a")});
  executor_.RunReady();
  Rules({Parse("script://0.0.0.0/com.acme.Orders?category=routers&name=a&rule=x")});
  executor_.RunReady();
  EXPECT_THAT(Shares(100), UnorderedElementsAre(Key(kA), Key(kB)));
  EXPECT_EQ(lines_.count("FL-3-12"), 0u);
}

TEST_F(ScriptRulesTest, AConsumerThatNamesThemIsTold) {
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop&router=script");
  Open({"10.0.0.1", "10.0.0.2"});
  EXPECT_THAT(Skipped(), ElementsAre(HasSubstr("scripts are not run here")));
  EXPECT_EQ(lines_.count("FL-3-5"), 0u);
  EXPECT_EQ(lines_.count("FL-3-17"), 1u);
}

// A host that brings a router of that name has its way.
class ScriptHost final : public RouterFactory {
 public:
  absl::StatusOr<std::shared_ptr<const Router>> Create(const Url&, Compat) override {
    ++made;
    return nullptr;
  }
  int made = 0;
};

TEST_F(ScriptRulesTest, AreTheHostsWhenItHasARouterForThem) {
  const auto host = std::make_shared<ScriptHost>();
  more_routers_["script"] = host;
  Start("consumer://10.0.0.9/com.acme.Orders?application=shop");
  Open({"10.0.0.1"});
  Rules({Parse("script://0.0.0.0/com.acme.Orders?category=routers&rule=x")});
  executor_.RunReady();
  EXPECT_EQ(host->made, 1);
  EXPECT_EQ(handle_->Stats().scripts, 0u);
  EXPECT_THAT(Skipped(), Not(testing::Contains(HasSubstr("not run"))));
}

}  // namespace
}  // namespace fairlead
