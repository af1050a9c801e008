#include "fairlead/directory/dry_run.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/tests/support/fed_directory.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/url_pool.h"

namespace fairlead {
namespace {

constexpr char kConditions[] = "com.acme.Orders::.condition-router";

class DryRunTest : public ::testing::Test {
 protected:
  DryRunTest() {
    input_.listing.consumer = Parse("consumer://10.0.0.9/com.acme.Orders?application=shop");
    Provider("10.0.0.1", "&region=hz&methods=find,pay");
    Provider("10.0.0.2", "&region=sh&methods=find,pay");
    Provider("10.0.0.3", "&region=sh&methods=find,pay");
  }

  Url Parse(const std::string& text) { return *Url::Parse(text, pool_); }
  void Provider(const std::string& host, const std::string& more) {
    input_.listing.providers.push_back(
        {Parse("dubbo://" + host + ":20880/com.acme.Orders?application=orders&side=provider" + more), true});
  }
  static std::string Rule(const std::string& rule, const std::string& more) {
    return "route://0.0.0.0/com.acme.Orders?category=routers&rule=" + PercentEncode(rule) + more;
  }
  DryRunReport Run() {
    const absl::StatusOr<DryRunReport> report = DryRun(input_);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : DryRunReport();
  }
  static const DryRunReport::Calls* Of(const DryRunReport& report, const std::string& method, const std::string& tag = "") {
    for (const auto& calls : report.calls) {
      if (calls.tag != tag || !calls.label.empty()) continue;
      for (const std::string& name : calls.methods) {
        if (name == method) return &calls;
      }
    }
    return nullptr;
  }

  UrlPool pool_;
  DryRunInput input_;
};

using Places = std::vector<std::size_t>;

TEST_F(DryRunTest, SaysWhoIsLostByMethod) {
  input_.after.documents[kConditions] = "conditions: [\"method=pay => region=hz\"]\n";
  const DryRunReport report = Run();
  EXPECT_TRUE(report.changes());
  EXPECT_FALSE(report.loses_all());
  ASSERT_NE(Of(report, "pay"), nullptr);
  EXPECT_EQ(Of(report, "pay")->lost, (Places{1, 2}));
  EXPECT_EQ(Of(report, "pay")->before.candidates, 3u);
  EXPECT_EQ(Of(report, "pay")->after.candidates, 1u);
  ASSERT_NE(Of(report, "find"), nullptr);
  EXPECT_FALSE(Of(report, "find")->changes());
  EXPECT_EQ(Of(report, "(any other)"), Of(report, "find"));
  // The other way round they are gained.
  std::swap(input_.before, input_.after);
  const DryRunReport back = Run();
  EXPECT_EQ(Of(back, "pay")->gained, (Places{1, 2}));
}

// DA #177: all providers disabled.
TEST_F(DryRunTest, FlagsThatNobodyIsLeft) {
  input_.after.overrides = {"override://0.0.0.0/com.acme.Orders?category=configurators&disabled=true"};
  const DryRunReport report = Run();
  EXPECT_TRUE(report.loses_all());
  EXPECT_EQ(report.taken_out, (Places{0, 1, 2}));
  ASSERT_NE(Of(report, "pay"), nullptr);
  EXPECT_EQ(Of(report, "pay")->after.fails, 1);
  EXPECT_EQ(Of(report, "pay")->lost, (Places{0, 1, 2}));
  EXPECT_NE(report.ToString().find("3 -> 0  !! 0 left"), std::string::npos) << report.ToString();
  EXPECT_NE(report.ToString().find("disabled"), std::string::npos) << report.ToString();
  std::swap(input_.before, input_.after);
  EXPECT_EQ(Run().brought_back, (Places{0, 1, 2}));
  EXPECT_FALSE(Run().loses_all());
}

TEST_F(DryRunTest, NamesTheRuleThatLeavesNobody) {
  input_.after.rules = {Rule("method=pay => region=bj", "&force=true")};
  const DryRunReport report = Run();
  EXPECT_TRUE(report.loses_all());
  EXPECT_NE(Of(report, "pay")->after.emptied_by.find("region=bj"), std::string::npos) << Of(report, "pay")->after.emptied_by;
}

TEST_F(DryRunTest, TriesTags) {
  Provider("10.0.0.4", "&dubbo.tag=gray");
  input_.after.documents["orders.tag-router"] = "force: true\ntags: [{name: blue, addresses: [10.0.0.2]}, {name: none, addresses: [10.0.0.9]}]\n";
  const DryRunReport report = Run();
  EXPECT_EQ(Of(report, "find")->lost, Places{1});                 // without a tag: not the tagged ones
  EXPECT_FALSE(Of(report, "find", "gray")->changes());
  EXPECT_EQ(Of(report, "find", "blue")->lost, (Places{0, 2}));
  EXPECT_TRUE(Of(report, "find", "none")->loses_all());
  EXPECT_TRUE(report.loses_all());
}

TEST_F(DryRunTest, SaysHowWeightedDestinationsDivideCalls) {
  const auto document = [](int hz, int sh) {
    return "configVersion: v3.1\nconditions: [{to: [{match: region=hz, weight: " + std::to_string(hz) +
           "}, {match: region=sh, weight: " + std::to_string(sh) + "}]}]\n";
  };
  input_.before.documents[kConditions] = document(80, 20);
  input_.after.documents[kConditions] = document(50, 50);
  // As the Java fleet draws, the first destination gets a unit of weight more than its own.
  for (const auto& [compat, more] : {std::pair(Compat::kStrict, 0.01), std::pair(Compat::kFixed, 0.0)}) {
    input_.compat = compat;
    const DryRunReport report = Run();
    const DryRunReport::Calls* find = Of(report, "find");
    ASSERT_NE(find, nullptr);
    EXPECT_TRUE(find->shares_change);
    ASSERT_EQ(find->before.sets.size(), 2u);
    EXPECT_DOUBLE_EQ(find->before.sets[0].first, 0.8 + more);
    EXPECT_DOUBLE_EQ(find->after.sets[0].first, 0.5 + more);
    EXPECT_EQ(find->before.candidates, 3u);
  }
}

TEST_F(DryRunTest, SaysWhichParametersChange) {
  input_.before.overrides = {"override://0.0.0.0/com.acme.Orders?category=configurators&timeout=100"};
  input_.after = input_.before;
  input_.after.overrides.push_back("override://10.0.0.2:20880/com.acme.Orders?category=configurators&weight=5");
  input_.after.documents["shop.configurators"] =
      "configVersion: v3.0\nscope: application\nkey: shop\nconfigs: [{side: consumer, parameters: {timeout: 200}}]\n";
  const DryRunReport report = Run();
  ASSERT_EQ(report.parameters.size(), 3u) << report.ToString();
  EXPECT_TRUE(report.parameters[0].providers.empty());  // the consumer's own
  EXPECT_EQ(report.parameters[1].name, "timeout");
  EXPECT_EQ(report.parameters[1].before, "100");
  EXPECT_EQ(report.parameters[1].after, "200");
  EXPECT_EQ(report.parameters[1].providers, (Places{0, 1, 2}));
  EXPECT_EQ(report.parameters[2].name, "weight");
  EXPECT_EQ(report.parameters[2].before, std::nullopt);
  EXPECT_EQ(report.parameters[2].providers, Places{1});
  EXPECT_FALSE(report.loses_all());
  EXPECT_TRUE(report.changes());
}

TEST_F(DryRunTest, NamesWhatCannotBeUsedAndWhatNobodyReads) {
  input_.after.documents[kConditions] = "conditions: [\"a==1 => b=2\"]\n";
  input_.after.documents["other.tag-router"] = "tags: []\n";
  input_.after.rules = {"no url", Rule("attachments[user]=vip => region=hz", "")};
  const DryRunReport report = Run();
  const std::string text = report.ToString();
  EXPECT_NE(text.find("conditions[0]"), std::string::npos) << text;
  EXPECT_NE(text.find("no url"), std::string::npos) << text;
  EXPECT_EQ(report.unread, std::vector<std::string>{"other.tag-router"});
  EXPECT_EQ(report.not_tried.size(), 1u) << text;
  EXPECT_FALSE(report.changes());
  input_.calls = {{"a vip", "find", {}, {{"user", "vip"}}}};
  const DryRunReport tried = Run();
  EXPECT_EQ(tried.calls.back().label, "a vip");
  EXPECT_EQ(tried.calls.back().lost, (Places{1, 2}));
}

// Live its last good version stays; so it does here, and whoever asks must see that the new one is no rule.
TEST_F(DryRunTest, KeepsTheLastGoodVersionOfWhatIsBroken) {
  const std::string good = "force: true\nconditions: [\"=> region=hz\"]\n";
  const std::string broken[] = {
      "force: true\nconditions: [\"=> region=hz\"\n",            // YAML
      "force: true\nconditions: [\"=> region==hz\"]\n",          // a condition
      "force: true\nkey: 123\nconditions: [\"=> region=sh\"]\n",  // a field
      "configVersion: v9.9\nconditions: [\"=> region=sh\"]\n",     // too new
  };
  for (const std::string& text : broken) {
    SCOPED_TRACE(text);
    input_.before.documents[kConditions] = good;
    input_.after.documents[kConditions] = text;
    const DryRunReport report = Run();
    EXPECT_FALSE(report.changes()) << report.ToString();
    ASSERT_EQ(report.broken.size(), 1u) << report.ToString();
    EXPECT_NE(report.broken.front().find("its last good version stays in force"), std::string::npos) << report.broken.front();
    EXPECT_NE(report.ToString().find("broken: "), std::string::npos) << report.ToString();
    EXPECT_TRUE(report.unusable.empty()) << report.ToString();
    // Without a good version before it says nothing; broken it is all the same.
    input_.before.documents.clear();
    const DryRunReport first = Run();
    EXPECT_FALSE(first.changes());
    EXPECT_EQ(first.broken.size(), 1u);
    // That it was broken before does not mend it.
    input_.before = input_.after;
    EXPECT_EQ(Run().broken.size(), 1u);
  }
  // An emptied document, and a deleted one, take the rules back, as live.
  input_.before.documents[kConditions] = good;
  input_.after.documents[kConditions] = "conditions: []\n";
  EXPECT_TRUE(Run().changes());
  EXPECT_TRUE(Run().broken.empty());
  input_.after.documents.clear();
  EXPECT_TRUE(Run().changes());
  EXPECT_TRUE(Run().broken.empty());
}

// Of each kind of document that there is, and of urls.
TEST_F(DryRunTest, NamesWhateverIsBroken) {
  input_.before.documents = {{"orders.tag-router", "tags: [{name: gray, addresses: [10.0.0.1]}]\n"},
                             {"com.acme.Orders::.affinity-router", "affinityAware: {key: region, ratio: 1}\n"},
                             {"com.acme.Orders::.configurators", "configVersion: v3.0\nconfigs: [{side: consumer, parameters: {weight: 5}}]\n"},
                             {"orders.MESHAPPRULE", "kind: VirtualService\nspec: {dubbo: []}\n"},
                             {"orders.script-router", "script: a\n"}};
  input_.before.overrides = {"override://0.0.0.0/com.acme.Orders?category=configurators&timeout=100"};
  input_.before.rules = {Rule("=> region=hz", "&name=a&force=true")};
  input_.after = input_.before;
  for (auto& [name, text] : input_.after.documents) text = "a: [";
  input_.after.documents["elsewhere.tag-router"] = "tags: {";
  input_.after.documents["elsewhere.of-nobody"] = "tags: {";
  input_.after.overrides = {"override://0.0.0.0/com.acme.Orders?category=configurators&timeout=200&priority=x", "http://%zz:x"};
  input_.after.rules = {Rule("=> region==hz", "&name=a&force=true"), "router://0.0.0.0/com.acme.Orders?category=routers&router=other"};
  const DryRunReport report = Run();
  EXPECT_FALSE(report.changes()) << report.ToString();
  EXPECT_EQ(report.broken.size(), 5u + 1u + 2u + 1u) << report.ToString();
  // A router that only the host knows is no mistake of the rule's.
  ASSERT_FALSE(report.unusable.empty());
  EXPECT_NE(report.ToString().find("router=other"), std::string::npos) << report.ToString();
}

TEST_F(DryRunTest, LeavesOutWhoIsDown) {
  input_.listing.providers[0].up = false;
  input_.after.documents[kConditions] = "force: true\nconditions: [\"=> region=hz\"]\n";
  const DryRunReport report = Run();
  EXPECT_EQ(Of(report, "find")->before.candidates, 2u);
  EXPECT_TRUE(report.loses_all());
}

TEST_F(DryRunTest, TriesAMethodThatAPatternHits) {
  input_.after.documents[kConditions] = "conditions: [\"method=list* => region=hz\"]\n";
  ASSERT_NE(Of(Run(), "list"), nullptr);
  EXPECT_EQ(Of(Run(), "list")->lost, (Places{1, 2}));
}

TEST_F(DryRunTest, RefusesAConsumerWithoutAService) {
  input_.listing.consumer = Parse("consumer://10.0.0.9?application=shop");
  EXPECT_EQ(DryRun(input_).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(DryRunTest, TakesNoProvidersAndNoRules) {
  input_.listing.providers.clear();
  const DryRunReport report = Run();
  EXPECT_FALSE(report.changes());
  EXPECT_EQ(report.calls.front().before.fails, 1);
}

// Draws behind each other are not as many paths as their product.
TEST_F(DryRunTest, ManyDrawsEnd) {
  std::string yaml = "configVersion: v3.1\nconditions:\n";
  for (int i = 0; i < 60; ++i) yaml += "- {to: [{match: region=hz, weight: 1}, {match: region!=hz, weight: 1}, {match: '', weight: 2}]}\n";
  input_.after.documents[kConditions] = yaml;
  EXPECT_TRUE(Run().changes());
}

// Methods and tags are asked once each; a rule that looks at both is asked for each pair, and the answer is the same.
TEST_F(DryRunTest, TellsApartWhatTheRulesTellApart) {
  Provider("10.0.0.4", "&region=hz&dubbo.tag=gray");
  Provider("10.0.0.5", "&region=sh&dubbo.tag=blue");
  input_.before.documents = {{kConditions, "conditions: ['method=pay => region=hz', 'attachments[user]=a => region=sh']\n"}};
  input_.after.documents = {{kConditions,
                             "conditions:\n"
                             "- \"method=find & attachments[user]!=a => region=sh\"\n"
                             "- \"method=pay & arguments[0]=1 => region=hz\"\n"
                             "- \"method=list*,get => host=10.0.0.2,10.0.0.4\"\n"
                             "- \"attachments[user]=* => region=hz\"\n"},
                            {"orders.tag-router", "force: true\ntags: [{name: gray, addresses: [10.0.0.2]}, {name: red, addresses: [10.0.0.3]}]\n"}};
  const DryRunReport found = Run();
  const char* const methods[] = {"find", "pay", "list", "get", "(any other)"};
  const char* const tags[] = {"", "gray", "blue", "red"};
  std::size_t pairs = 0;
  for (const DryRunReport::Calls& calls : found.calls) pairs += calls.methods.size();
  EXPECT_EQ(pairs, std::size(methods) * std::size(tags));
  for (const char* method : methods) {
    for (const char* tag : tags) {
      DryRunCall call{"a call", *method == '(' ? "somethingElse" : method, {}, {}};
      if (*tag != '\0') call.attachments.emplace_back("dubbo.tag", tag);
      input_.calls.push_back(call);
    }
  }
  const DryRunReport tried = Run();
  std::size_t at = tried.calls.size() - input_.calls.size();
  for (const char* method : methods) {
    for (const char* tag : tags) {
      SCOPED_TRACE(std::string(method) + " " + tag);
      const DryRunReport::Calls *calls = Of(found, method, tag), &call = tried.calls[at++];
      ASSERT_NE(calls, nullptr);
      EXPECT_EQ(calls->before.sets, call.before.sets);
      EXPECT_EQ(calls->after.sets, call.after.sets);
      EXPECT_EQ(calls->after.emptied_by, call.after.emptied_by);
      EXPECT_EQ(calls->lost, call.lost);
    }
  }
}

// A call that forces a tag is refused where there are none, live and here.
TEST_F(DryRunTest, KnowsCallsThatForceATag) {
  input_.calls = {{"forced", "find", {}, {{"dubbo.tag", "gray"}, {"dubbo.force.tag", "true"}}}};
  EXPECT_EQ(Run().calls.back().after.fails, 1);
}

// Method times tag would be four million kinds of call.
TEST_F(DryRunTest, LeavesOutPairsWhenThereAreTooMany) {
  std::string conditions = "force: true\nconditions:\n", tags = "tags:\n";
  for (int i = 0; i < 1900; ++i) {
    conditions += "- \"method=m" + std::to_string(i) + " => host=10.0.0." + std::to_string(i % 4) + "\"\n";
    tags += "- {name: t" + std::to_string(i) + ", addresses: [10.0.0." + std::to_string(i % 5) + "]}\n";
  }
  input_.after.documents = {{kConditions, conditions}, {"orders.tag-router", tags}};
  const DryRunReport report = Run();
  std::size_t tried = 0;
  for (const DryRunReport::Calls& calls : report.calls) tried += calls.methods.size();
  EXPECT_GT(tried, 100'000u);
  EXPECT_LT(tried, 1'000'000u);
  for (const char* each : {"0", "900", "1899"}) {
    ASSERT_NE(Of(report, std::string("m") + each), nullptr) << each;
    ASSERT_NE(Of(report, "(any other)", std::string("t") + each), nullptr) << each;
  }
  EXPECT_EQ(Of(report, "m1")->after.fails, 1) << "all are tagged";
  EXPECT_EQ(Of(report, "m1", "t1")->after.candidates, 1u);
  EXPECT_EQ(Of(report, "m2", "t1")->after.fails, 1);
  ASSERT_EQ(report.not_tried.size(), 1u) << report.not_tried.back();
  EXPECT_NE(report.not_tried.front().find("pairs of a tag and a method"), std::string::npos) << report.not_tried.front();
  EXPECT_LT(report.ToString().size(), 100'000u);
}

// Agrees with what a live directory makes of the same rules, and leaves that one as it was.
TEST(DryRunOfLiveTest, IsWhatTheRulesThenDo) {
  DirectoryWorld world;
  FedDirectory live(world);
  Feed feed;
  for (const char* one : {"10.0.0.1?region=hz", "10.0.0.2?region=sh", "10.0.0.3?region=sh&disabled=true"}) {
    feed.providers.push_back(world.ProviderAt(one));
  }
  live.Tell(feed);
  const MethodId pay = live.handle->Method("pay");
  world.executor_.RunReady();
  const std::uint64_t version = live.handle->Stats().version;
  const int referred = live.protocol->referred;

  DryRunInput input;
  input.listing = live.handle->Listing();
  ASSERT_EQ(input.listing.providers.size(), 3u);
  input.after.rules = {world.RuleUrl("method=pay => region=hz").ToFullString()};
  const absl::StatusOr<DryRunReport> report = DryRun(input);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(live.handle->Stats().version, version);
  EXPECT_EQ(live.protocol->referred, referred);
  const auto& calls = report->calls.front();
  EXPECT_EQ(calls.methods, std::vector<std::string>{"pay"});
  EXPECT_EQ(calls.lost, Places{1});

  feed.rules = {world.RuleUrl("method=pay => region=hz")};
  live.Tell(feed);
  const std::vector<Url> list = live.handle->List({.method = pay});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list.front().Address(), report->providers[0]);
}

TEST(RuleSetTest, ChangesByNameAndIdentity) {
  const RuleSet rules{{{"a.tag-router", "x"}, {"b.tag-router", "y"}},
                      {"route://0.0.0.0/s?name=one&rule=x", "route://0.0.0.0/s?rule=y"},
                      {"override://0.0.0.0/s?weight=1", "override://10.0.0.1/s?weight=2"}};
  RuleChange change;
  change.documents = {{"a.tag-router", std::nullopt}, {"c.tag-router", "z"}};
  change.set = {"route://0.0.0.0/s?name=one&rule=new", "override://0.0.0.0/s?weight=9", "route://0.0.0.0/s?rule=z"};
  change.removed = {"override://10.0.0.1/s?enabled=true"};
  const RuleSet expected{{{"b.tag-router", "y"}, {"c.tag-router", "z"}},
                         {"route://0.0.0.0/s?name=one&rule=new", "route://0.0.0.0/s?rule=y", "route://0.0.0.0/s?rule=z"},
                         {"override://0.0.0.0/s?weight=9"}};
  EXPECT_EQ(Changed(rules, change), expected);
}

}  // namespace
}  // namespace fairlead
